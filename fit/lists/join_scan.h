/* Refined frames of one scan, put together as one experiment. Built with jansson only. */
#ifndef DB_FIT_LISTS_JOIN_SCAN_H
#define DB_FIT_LISTS_JOIN_SCAN_H

#include <jansson.h>
#include <stddef.h>

/* Frames that follow one another: the list of the first, as db_write_expt writes it, and the crystals of
 * all. Zeroed: none. */
typedef struct db_scan_run {
    json_t *part; /* owned */
    size_t count, room;
    double (*a_star)[9]; /* row-major, columns a*, b*, c*; owned */
    double start, width; /* of the first frame (degree) */
    long number;         /* of the first frame */
} db_scan_run;

/* Takes a list of one experiment into the run if it is the next frame of the same crystal, or the run is
 * empty; then 1, and the list is owned. 0: it is none. -1: out of memory. */
int db_scan_run_take(db_scan_run *run, json_t *part);

/* The list of all frames taken, to be given back by json_decref: one experiment, whose crystal varies
 * along the scan if the frames' do. The run is empty then. NULL: out of memory. */
json_t *db_scan_run_join(db_scan_run *run);

void db_scan_run_clear(db_scan_run *run);

#endif
