/* Refinements on a device beside the processor: stills, evaluations of shoeboxes, many shots. */
#ifndef DB_BENCH_FIT_DEVICES_H
#define DB_BENCH_FIT_DEVICES_H

#include <dualbragg/fit.h>
#include <stdio.h>

/* What is measured. Of repeated runs the fastest counts. */
typedef struct db_bench_work {
    const char *device; /* "cuda"; "cpu" compares the processor with itself */
    int repeats;
    int pixels, boxes; /* of the stills: along each side; at most */
    int shots;
} db_bench_work;

/* Writes three tables. Returns the exit status: 4 where there is no such device. */
int db_bench_devices(const db_bench_work *work, FILE *out);

#endif
