#include "bench/library_calls.h"
#include "bench/statistics.h"
#include "base/context_internal.h"

#include <dualbragg/device.h>
#include <dualbragg/normal.h>
#include <dualbragg/expert/instruction_set.h>

#include <malloc.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The linker sends calls of malloc here (--wrap), so that a block that is freed at once counts,
 * too. Allocations of shared libraries are seen in the statistics of the C library. */
static atomic_size_t calls;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_posix_memalign(block, alignment, size);
}

db_bench_heap db_bench_heap_now(void) {
    const struct mallinfo2 books = mallinfo2();
    return (db_bench_heap){ atomic_load(&calls), books.uordblks + books.hblkhd };
}

db_status db_bench_images_create(db_context *context, size_t pixels, int derivative_count,
                                 db_bench_pages pages, db_bench_images *images) {
    const size_t bytes = (size_t)(1 + derivative_count) * pixels * sizeof(float);
    /* Not malloc, which hands out again what was freed: cold calls are to meet fresh pages every
     * time. */
    float *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *images = (db_bench_images){ 0 };
    if (memory == MAP_FAILED) return db_fail_memory(context, "images and derivative images");
    if (pages == DB_BENCH_TOUCHED_PAGES) memset(memory, 0, bytes);
    images->image = memory;
    images->bytes = bytes;
    images->derivative_count = derivative_count;
    for (int k = 0; k < derivative_count; k++)
        images->derivative[k] = memory + (size_t)(k + 1) * pixels;
    return DB_OK;
}

void db_bench_images_destroy(db_bench_images *images) {
    if (images->image) munmap(images->image, images->bytes);
    *images = (db_bench_images){ 0 };
}

/* Degree; by which a warm call turns the crystal, to and fro, so that nothing of the call before
 * still holds. */
static const double NUDGE = 1e-6;

static db_plan_options plan_options(const db_bench_caller *caller, db_bench_output output) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = caller->precision;
    options.regions = caller->regions;
    options.region_count = caller->region_count;
    options.tolerance = caller->tolerance;
    if (output != DB_BENCH_IMAGE) {
        options.parameters = caller->parameter;
        options.parameter_count = (size_t)caller->parameters;
    }
    return options;
}

db_status db_bench_caller_open(db_context *context, const db_bench_workload *workload,
                               db_precision precision, int parameters, db_bench_caller *caller) {
    memset(caller, 0, sizeof *caller);
    caller->context = context;
    caller->precision = precision;
    caller->parameter = db_bench_parameters;
    caller->parameters = parameters;
    DB_TRY(db_bench_experiment(context, workload, &caller->experiment));
    DB_TRY(db_bench_regions(context, workload, &caller->regions));
    caller->region_count = caller->regions ? (size_t)workload->load->boxes : 0;
    return db_bench_caller_start(caller);
}

db_status db_bench_caller_start(db_bench_caller *caller) {
    const db_plan_options options = plan_options(caller, DB_BENCH_DERIVATIVES);
    return db_plan_create(caller->context, &caller->experiment, &options, &caller->plan);
}

void db_bench_caller_close(db_bench_caller *caller) {
    db_plan_destroy(&caller->plan);
    db_experiment_clear(&caller->experiment);
    free(caller->regions);
    caller->regions = NULL;
}

static db_status render(db_plan *plan, db_bench_output output, const db_bench_images *images) {
    double chi2, gradient[DB_BENCH_MOST_PARAMETERS],
        curvature[DB_BENCH_MOST_PARAMETERS * DB_BENCH_MOST_PARAMETERS];
    if (output == DB_BENCH_IMAGE) return db_plan_forward(plan, images->image);
    if (output == DB_BENCH_DERIVATIVES)
        return db_plan_gradient(plan, images->image, images->derivative);
    return db_plan_normal(plan, DB_FLOAT32, images->image, NULL, &chi2, gradient, curvature);
}

db_status db_bench_execute(db_bench_caller *caller, db_bench_output output,
                           const db_bench_images *images) {
    return render(caller->plan, output, images);
}

db_status db_bench_call_warm(db_bench_caller *caller, db_bench_output output,
                             const db_bench_images *images) {
    caller->experiment.crystal.misset[0] = caller->calls++ % 2 ? NUDGE : -NUDGE;
    DB_TRY(db_plan_update(caller->plan, &caller->experiment));
    return render(caller->plan, output, images);
}

static db_status cold_context(const db_bench_caller *caller, db_context **context) {
    DB_TRY(db_context_create(context));
    DB_TRY(db_context_set_isa(*context, db_context_isa(caller->context)));
    DB_TRY(db_context_set_device(*context, db_context_device(caller->context)));
    return db_context_set_threads(*context, db_context_threads(caller->context));
}

db_status db_bench_call_cold(const db_bench_caller *caller, db_bench_output output,
                             double *seconds) {
    const db_plan_options options = plan_options(caller, output);
    const size_t pixels = db_plan_pixels(caller->plan);
    db_bench_images images;
    db_context *context = NULL;
    db_plan *plan = NULL;
    const double start = db_bench_seconds();
    db_status status = db_bench_images_create(caller->context, pixels, (int)options.parameter_count,
                                              DB_BENCH_FRESH_PAGES, &images);
    if (status == DB_OK) status = cold_context(caller, &context);
    if (status == DB_OK) status = db_plan_create(context, &caller->experiment, &options, &plan);
    if (status == DB_OK) status = render(plan, output, &images);
    *seconds = db_bench_seconds() - start;
    if (status != DB_OK && context)
        db_fail(caller->context, status, "%s", db_context_message(context));
    db_plan_destroy(&plan);
    db_context_destroy(&context);
    db_bench_images_destroy(&images);
    return status;
}

db_status db_bench_call_heap(db_bench_caller *caller, const db_bench_images *images,
                             db_bench_heap *taken) {
    const db_bench_heap before = db_bench_heap_now();
    DB_TRY(db_bench_call_warm(caller, DB_BENCH_IMAGE, images));
    DB_TRY(db_bench_call_warm(caller, DB_BENCH_DERIVATIVES, images));
    const db_bench_heap after = db_bench_heap_now();
    taken->calls = after.calls - before.calls;
    taken->bytes = after.bytes > before.bytes ? after.bytes - before.bytes : 0;
    return DB_OK;
}

db_status db_bench_render(db_bench_caller *caller, float *image) {
    caller->experiment.crystal.misset[0] = 0;
    DB_TRY(db_plan_update(caller->plan, &caller->experiment));
    return db_plan_forward(caller->plan, image);
}

/* A visit repeats a short call for this time (seconds), but at most this number of times. */
static const double VISIT = 2e-3;
enum { MOST_CALLS = 64 };

/* Visits of several calls are for short ones. One more call comes first: it brings back into the
 * caches what the visits in between have displaced. */
db_status db_bench_visit(db_bench_caller *caller, db_bench_output output,
                         const db_bench_images *images, db_bench_series *series) {
    double seconds[MOST_CALLS];
    if (series->calls > 1) DB_TRY(db_bench_call_warm(caller, output, images));
    for (int i = 0; i < series->calls; i++) {
        const double start = db_bench_seconds();
        DB_TRY(db_bench_call_warm(caller, output, images));
        seconds[i] = db_bench_seconds() - start;
    }
    series->seconds[series->count++] = db_bench_median(seconds, series->calls);
    return DB_OK;
}

db_status db_bench_choose_calls(db_bench_caller *caller, db_bench_output output,
                                const db_bench_images *images, db_bench_series *series) {
    series->calls = 1;
    DB_TRY(db_bench_call_warm(caller, output, images));
    do DB_TRY(db_bench_visit(caller, output, images, series));
    while (series->count < 3 && series->seconds[series->count - 1] < 10 * VISIT);
    series->calls = (int)fmin(MOST_CALLS, ceil(VISIT / db_bench_summarize(series).minimum));
    series->count = 0;
    return DB_OK;
}

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
