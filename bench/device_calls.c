#include "bench/device_calls.h"

#include "bench/timing.h"
#include "base/context_internal.h"

#include <dualbragg/device.h>
#include <string.h>

enum { CALLS = 15 };

const char *const db_bench_device_timing_names[DB_BENCH_DEVICE_TIMINGS] = {
    "forward_kernel", "gradient_kernel", "normal_kernel", "forward_to_locked_memory"
};

db_status db_bench_device_memory_create(db_plan *plan, size_t pixels,
                                        db_bench_device_memory *memory) {
    const size_t bytes = pixels * sizeof(float);
    void *image = NULL;
    memset(memory, 0, sizeof *memory);
    if (strcmp(db_plan_device(plan), "cpu") == 0) return DB_OK;
    memory->plan = plan;
    DB_TRY(db_plan_memory_create(plan, DB_MEMORY_DEVICE, bytes, &image));
    memory->images.image = image;
    DB_TRY(db_plan_memory_create(plan, DB_MEMORY_HOST, bytes, &memory->locked));
    memset(memory->locked, 0, bytes);
    DB_TRY(db_plan_memory_write(plan, image, memory->locked, bytes));
    for (int k = 0; k < DB_BENCH_PARAMETERS; k++)
        DB_TRY(db_plan_memory_create(plan, DB_MEMORY_DEVICE, bytes, &memory->images.derivative[k]));
    return DB_OK;
}

void db_bench_device_memory_destroy(db_bench_device_memory *memory) {
    void *image = memory->images.image;
    if (!memory->plan) return;
    db_plan_memory_destroy(memory->plan, &image);
    db_plan_memory_destroy(memory->plan, &memory->locked);
    for (int k = 0; k < DB_BENCH_PARAMETERS; k++)
        db_plan_memory_destroy(memory->plan, &memory->images.derivative[k]);
    memory->plan = NULL;
}

static db_status call(db_bench_caller *caller, db_bench_device_timing timing,
                      const db_bench_device_memory *memory) {
    db_bench_images locked = { .image = memory->locked };
    switch (timing) {
    case DB_BENCH_DEVICE_IMAGE: return db_bench_execute(caller, DB_BENCH_IMAGE, &memory->images);
    case DB_BENCH_DEVICE_DERIVATIVES:
        return db_bench_execute(caller, DB_BENCH_DERIVATIVES, &memory->images);
    case DB_BENCH_DEVICE_NORMAL: return db_bench_execute(caller, DB_BENCH_NORMAL, &memory->images);
    default: return db_bench_call_warm(caller, DB_BENCH_IMAGE, &locked);
    }
}

db_status db_bench_device_visit(db_bench_caller *caller, db_bench_device_timing timing,
                                const db_bench_device_memory *memory, db_bench_series *series) {
    double seconds[CALLS];
    DB_TRY(call(caller, timing, memory));
    for (int i = 0; i < CALLS; i++) {
        const double start = db_bench_seconds();
        DB_TRY(call(caller, timing, memory));
        seconds[i] = db_bench_seconds() - start;
    }
    series->calls = CALLS;
    series->seconds[series->count++] = db_bench_median(seconds, CALLS);
    return DB_OK;
}
