/* Spots in closed form, timed beside the same scenes as sums over samples. */
#ifndef DB_BENCH_CLOSED_SPOTS_H
#define DB_BENCH_CLOSED_SPOTS_H

#include "bench/library_calls.h"
#include "bench/options.h"
#include "bench/programs.h"
#include "bench/statistics.h"

typedef enum db_bench_scene {
    DB_BENCH_PUBLISHED, /* a small crystal with mosaic rotations */
    DB_BENCH_THAUMATIN, /* a large detector, all that beamlines have */
    DB_BENCH_SHOT,      /* shoeboxes of the same, more spreads */
    DB_BENCH_SCENES
} db_bench_scene;

extern const char *const db_bench_scene_names[DB_BENCH_SCENES];

/* One call; a table of them, the closed image of each scene first. */
typedef struct db_bench_spots_call {
    db_bench_scene scene;
    const char *key;  /* in the JSON report */
    const char *name; /* in the table */
    db_bench_output output;
    int parameters;
    int exact;         /* 1: tolerance 0 */
    int domains, rays; /* samples; 0: closed form */
} db_bench_spots_call;

enum { DB_BENCH_SPOTS_CALLS = 16 };
extern const db_bench_spots_call db_bench_spots_calls[DB_BENCH_SPOTS_CALLS];

typedef struct db_bench_spots_row {
    const db_bench_spots_call *call;
    db_precision precision;
    double pixels;
    db_bench_series time;  /* update included */
    db_bench_series there; /* the same of plans on a device, whose results stay there */
    db_bench_heap heap;    /* of a warm call */
    /* of the closed form: spots, and pixels of the regions that they reach, summed over spots */
    double spots, reached;
    /* of images in closed form from the one in double precision with tolerance 0: largest, in parts
     * of the maximum; NAN of all else */
    double difference;
} db_bench_spots_row;

enum { DB_BENCH_SPOTS_ROWS = DB_BENCH_SPOTS_CALLS * DB_BENCH_PRECISIONS, DB_BENCH_SPOTS_RUNS = 2 };

/* Whole programs with the first scene, sampled. */
typedef struct db_bench_spots_run {
    int domains;
    db_bench_series reference, program; /* program: mixed */
} db_bench_spots_run;

typedef struct db_bench_spots_results {
    int measured; /* 0: all else is empty */
    db_bench_spots_row row[DB_BENCH_SPOTS_ROWS];
    /* writing as much memory as images and derivative images of DB_BENCH_THAUMATIN take */
    db_bench_series fill[2]; /* of an image; of 17 */
    int boxes, box_size;     /* of DB_BENCH_SHOT; pixels along each side */
    db_bench_spots_run run[DB_BENCH_SPOTS_RUNS];
} db_bench_spots_results;

/* The plans of the rows. */
typedef struct db_bench_spots {
    db_context *context;
    const db_bench_options *options;
    const db_bench_programs *programs;
    const db_bench_images *images;        /* as many pixels as db_bench_spots_size, squared */
    const db_bench_device_memory *device; /* memory on the device for such images */
    db_bench_spots_results *results;
    db_bench_caller caller[DB_BENCH_SPOTS_ROWS];
} db_bench_spots;

/* Pixels along each side of the largest detector; 0 if nothing is to be measured. */
int db_bench_spots_size(const db_bench_options *options);

/* Fills caller from the members before it. Close it after a failure, too. */
db_status db_bench_spots_open(db_bench_spots *spots);
db_status db_bench_spots_visit(db_bench_spots *spots);
void db_bench_spots_close(db_bench_spots *spots);

/* The row of a call; NULL without measurements. */
const db_bench_spots_row *db_bench_spots_find(const db_bench_spots_results *results,
                                              db_bench_scene scene, const char *key,
                                              db_precision precision);

#endif
