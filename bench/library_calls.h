/* The library's calls, timed: memory for their images, warm and cold calls, calls on a device. */
#ifndef DB_BENCH_LIBRARY_CALLS_H
#define DB_BENCH_LIBRARY_CALLS_H

#include "bench/statistics.h"
#include "bench/workloads.h"

#include <stddef.h>

typedef struct db_bench_heap {
    /* of malloc, calloc ... since the start, by this program and the library linked into it */
    size_t calls;
    size_t bytes; /* allocated by all of the process, the thread runtime included */
} db_bench_heap;

db_bench_heap db_bench_heap_now(void);

/* Memory for an image and its derivative images. */

typedef struct db_bench_images {
    float *image;
    void *derivative[DB_BENCH_PARAMETERS]; /* the first derivative_count are there */
    int derivative_count;
    size_t bytes;
} db_bench_images;

typedef enum db_bench_pages {
    DB_BENCH_FRESH_PAGES,  /* as malloc gives large blocks: never written before */
    DB_BENCH_TOUCHED_PAGES /* the same, written once */
} db_bench_pages;

db_status db_bench_images_create(db_context *context, size_t pixels, int derivative_count,
                                 db_bench_pages pages, db_bench_images *images);
void db_bench_images_destroy(db_bench_images *images);

/* The library's calls as they are timed. */

typedef enum db_bench_output {
    DB_BENCH_IMAGE,       /* db_plan_forward */
    DB_BENCH_DERIVATIVES, /* db_plan_gradient: the image and 16 derivative images */
    DB_BENCH_NORMAL       /* db_plan_normal: normal equations with data of 0 */
} db_bench_output;

typedef struct db_bench_caller {
    db_context *context; /* with threads and instruction set as wanted */
    db_precision precision;
    db_experiment experiment;
    db_region *regions; /* NULL: the whole detector */
    size_t region_count;
    const db_parameter *parameter; /* of the plan; their number: */
    int parameters;
    double tolerance; /* db_plan_options */
    db_plan *plan;
    unsigned calls;
} db_bench_caller;

/* Prepares the plan of warm calls of a workload, with the first of db_bench_parameters. Close it
 * after a failure, too. */
db_status db_bench_caller_open(db_context *context, const db_bench_workload *workload,
                               db_precision precision, int parameters, db_bench_caller *caller);
/* Makes the plan of a caller that has an experiment and its other members. */
db_status db_bench_caller_start(db_bench_caller *caller);
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

/* What a warm image and warm derivatives together allocate on the heap: nothing, if all is well. */
db_status db_bench_call_heap(db_bench_caller *caller, const db_bench_images *images,
                             db_bench_heap *taken);

/* The workload's own image, without the small change that warm calls make. */
db_status db_bench_render(db_bench_caller *caller, float *image);

/* Warm calls, timed. */

/* Finds how many calls make a visit; the first creates threads and is thrown away. */
db_status db_bench_choose_calls(db_bench_caller *caller, db_bench_output output,
                                const db_bench_images *images, db_bench_series *series);

/* Adds a time to the series: the median over a visit's calls, on which a single interrupted call
 * has no influence. */
db_status db_bench_visit(db_bench_caller *caller, db_bench_output output,
                         const db_bench_images *images, db_bench_series *series);

/* Calls of plans on a device, without the work of the host for them. */

typedef enum db_bench_device_timing {
    /* the kernels and their launch alone: results stay on the device, and nothing has changed */
    DB_BENCH_DEVICE_IMAGE,
    DB_BENCH_DEVICE_DERIVATIVES,
    DB_BENCH_DEVICE_NORMAL,
    /* an image of a changed plan, into page-locked (pinned) host memory */
    DB_BENCH_DEVICE_TO_LOCKED,
    DB_BENCH_DEVICE_TIMINGS
} db_bench_device_timing;

extern const char *const db_bench_device_timing_names[DB_BENCH_DEVICE_TIMINGS]; /* JSON */

/* Memory for the results of any caller. */
typedef struct db_bench_device_memory {
    db_plan *plan; /* which it was made with; NULL: there is no device */
    db_bench_images images;
    void *locked;
} db_bench_device_memory;

/* Allocates it with a plan that outlives it, for images of this number of pixels; allocates nothing for
 * plans on the processor. */
db_status db_bench_device_memory_create(db_plan *plan, size_t pixels,
                                        db_bench_device_memory *memory);
void db_bench_device_memory_destroy(db_bench_device_memory *memory);

/* Adds to the series the median of some calls. */
db_status db_bench_device_visit(db_bench_caller *caller, db_bench_device_timing timing,
                                const db_bench_device_memory *memory, db_bench_series *series);

#endif
