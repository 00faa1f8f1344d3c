/* Calls of plans on a device, apart from what the host does for them. */
#ifndef DB_BENCH_DEVICE_CALLS_H
#define DB_BENCH_DEVICE_CALLS_H

#include "bench/library_calls.h"
#include "bench/statistics.h"

typedef enum db_bench_device_timing {
    DB_BENCH_DEVICE_IMAGE, /* results stay on the device, nothing has changed: the kernels and */
    DB_BENCH_DEVICE_DERIVATIVES, /* their start alone */
    DB_BENCH_DEVICE_NORMAL,
    DB_BENCH_DEVICE_TO_LOCKED, /* an image of a changed plan, into locked memory of the host */
    DB_BENCH_DEVICE_TIMINGS
} db_bench_device_timing;

extern const char *const db_bench_device_timing_names[DB_BENCH_DEVICE_TIMINGS]; /* JSON */

/* Memory for the results of any caller. */
typedef struct db_bench_device_memory {
    db_plan *plan; /* which it was made with; NULL: there is no device */
    db_bench_images images;
    void *locked;
} db_bench_device_memory;

/* Makes it with a plan that outlives it, for images of so many pixels; nothing on the processor. */
db_status db_bench_device_memory_create(db_plan *plan, size_t pixels,
                                        db_bench_device_memory *memory);
void db_bench_device_memory_destroy(db_bench_device_memory *memory);

/* Adds to the series the median of some calls. */
db_status db_bench_device_visit(db_bench_caller *caller, db_bench_device_timing timing,
                                const db_bench_device_memory *memory, db_bench_series *series);

#endif
