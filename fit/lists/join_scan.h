/* Joins refined frames of one scan to one experiment. Built only with jansson. */
#ifndef DB_FIT_LISTS_JOIN_SCAN_H
#define DB_FIT_LISTS_JOIN_SCAN_H

#include <jansson.h>
#include <stddef.h>

/* Consecutive frames: the list of the first one, as db_write_expt writes it, and the crystals of all. Zeroed:
 * none. */
typedef struct db_scan_run {
    json_t *part; /* owned */
    size_t count, room;
    double (*a_star)[9]; /* row-major, columns a*, b*, c*; owned */
    double start, width; /* of the first frame (degree) */
    long number;         /* of the first frame */
} db_scan_run;

/* Takes a list with one experiment into the run, if it is the next frame of the same crystal, or the run is empty;
 * then returns 1 and owns the list. 0: not taken. -1: out of memory. */
int db_scan_run_take(db_scan_run *run, json_t *part);

/* List of all frames in the run, to be freed by json_decref: one experiment, whose crystal varies along the scan
 * if the frames' crystals do. Empties the run. NULL: out of memory. */
json_t *db_scan_run_join(db_scan_run *run);

void db_scan_run_clear(db_scan_run *run);

#endif
