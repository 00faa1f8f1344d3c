/* The library's calls as they are timed. */
#ifndef DB_BENCH_LIBRARY_CALLS_H
#define DB_BENCH_LIBRARY_CALLS_H

#include "bench/allocations.h"
#include "bench/image_buffers.h"

typedef enum db_bench_output {
    DB_BENCH_IMAGE,       /* db_plan_forward */
    DB_BENCH_DERIVATIVES, /* db_plan_gradient: the image and 16 derivative images */
    DB_BENCH_NORMAL /* db_plan_normal: sums over an image beside data of 0, derivatives not stored
                     */
} db_bench_output;

typedef struct db_bench_caller {
    db_context *context; /* with threads and instruction set as wanted */
    db_precision precision;
    db_experiment experiment;
    db_region *regions; /* NULL: the whole detector */
    size_t region_count;
    int parameters; /* number of parameters of the plan: the first of db_bench_parameters */
    db_plan *plan;
    unsigned calls;
} db_bench_caller;

/* Prepares the plan of warm calls. Close it whatever the status. */
db_status db_bench_caller_open(db_context *context, const db_bench_workload *workload,
                               db_precision precision, int parameters, db_bench_caller *caller);
void db_bench_caller_close(db_bench_caller *caller);

/* The call alone, with the plan as it is. */
db_status db_bench_execute(db_bench_caller *caller, db_bench_output output,
                           const db_bench_images *images);

/* A warm call: the plan takes over a changed experiment and renders it into memory that is there.
 * The image is the data of DB_BENCH_NORMAL. */
db_status db_bench_call_warm(db_bench_caller *caller, db_bench_output output,
                             const db_bench_images *images);

/* A cold call: memory, context, plan, and the first rendering into that memory. */
db_status db_bench_call_cold(const db_bench_caller *caller, db_bench_output output,
                             double *seconds);

/* What a warm image and warm derivatives take from the heap together; nothing is expected. */
db_status db_bench_call_heap(db_bench_caller *caller, const db_bench_images *images,
                             db_bench_heap *taken);

/* The workload's own image, without the small change that warm calls make. */
db_status db_bench_render(db_bench_caller *caller, float *image);

#endif
