/* Creates and destroys a plan's part on a GPU. */
#include "cuda/plan.h"

#include "cuda/operations.h"

#include <stdlib.h>

enum {
    WIDE = 256,       /* pixels in a row from which on kernels along rows are faster */
    FEW_BLOCKS = 2048 /* with fewer, a large GPU waits for its last ones */
};

/* Merges neighbours. */
static void list_spans(db_device_plan *plan, const db_device_work *work) {
    size_t packed = 0;
    plan->span_count = 0;
    for (size_t i = 0; i < work->region_count; i++) {
        const db_region *r = &work->job.region[i];
        for (int slow = 0; slow < r->slow_count; slow++) {
            const size_t element = r->offset + (size_t)slow * r->stride,
                         count = (size_t)r->fast_count;
            db_cuda_span *last = plan->span_count ? &plan->span[plan->span_count - 1] : NULL;
            if (last && last->element + last->count == element)
                last->count += count;
            else
                plan->span[plan->span_count++] = (db_cuda_span){ packed, element, count };
            packed += count;
        }
    }
}

static int by_element(const void *a, const void *b) {
    const size_t one = ((const db_cuda_span *)a)->element,
                 other = ((const db_cuda_span *)b)->element;
    return (one > other) - (one < other);
}

/* 1: spans that have as many pixels as the caller has elements leave out none, for they have none twice.
 * Sorts them. */
static int covers_all(db_device_plan *plan) {
    qsort(plan->span, plan->span_count, sizeof *plan->span, by_element);
    for (size_t i = 1; i < plan->span_count; i++)
        if (plan->span[i - 1].element + plan->span[i - 1].count > plan->span[i].element) return 0;
    return 1;
}

/* A whole detector is one span. */
static void choose_spans(db_device_plan *plan, const db_device_work *work) {
    const int as_many = plan->pixels == work->pixels;
    list_spans(plan, work);
    plan->dense = as_many && covers_all(plan);
    if (plan->dense) {
        plan->span[0] = (db_cuda_span){ 0, 0, plan->pixels };
        plan->span_count = 1;
    } else if (as_many) {
        list_spans(plan, work); /* in their order */
    }
}

static size_t chunks_of(const db_region *r, uint32_t chunk) {
    return ((size_t)r->fast_count + chunk - 1) / chunk * (size_t)r->slow_count;
}

static db_status count_pixels(db_context *context, db_device_plan *plan,
                              const db_device_work *work) {
    const size_t terms = work->job.source_count * work->job.sample_count;
    size_t pixels = 0, rows = 0, blocks = 0;
    for (size_t i = 0; i < work->region_count; i++) {
        const db_region *r = &work->job.region[i];
        pixels += (size_t)r->fast_count * (size_t)r->slow_count;
        rows += (size_t)r->slow_count;
    }
    plan->row_chunk = terms < DB_CUDA_MANY_TERMS ? DB_CUDA_LONG_CHUNK : DB_CUDA_SHORT_CHUNK;
    while (plan->row_chunk > DB_CUDA_BLOCK && pixels / plan->row_chunk < FEW_BLOCKS)
        plan->row_chunk /= 2;
    for (size_t i = 0; i < work->region_count; i++)
        blocks += chunks_of(&work->job.region[i], plan->row_chunk);
    if (pixels > INT32_MAX)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "cuda:%d: a plan of %zu pixels; expected at most %d", plan->number, pixels,
                       INT32_MAX);
    plan->region_count = work->region_count;
    plan->pixels = (uint32_t)pixels;
    plan->row_blocks = (uint32_t)blocks;
    plan->wide = pixels >= WIDE * rows;
    plan->span = malloc(rows * sizeof *plan->span);
    if (!plan->span) return db_fail_memory(context, "the pixels of a plan");
    choose_spans(plan, work);
    return DB_OK;
}

/* Fills plan->regions: regions, packed regions, and the pixels and blocks before each. */
static void fill_regions(const db_device_plan *plan, const db_device_work *work, char *memory) {
    const size_t count = work->region_count;
    db_region *given = (db_region *)(void *)memory;
    db_region *packed = given + count;
    uint32_t *start = (uint32_t *)(packed + count);
    uint32_t *row_start = start + count + 1;
    size_t pixels = 0, blocks = 0;
    for (size_t i = 0; i < count; i++) {
        const db_region *r = &work->job.region[i];
        given[i] = packed[i] = *r;
        if (!plan->dense) {
            packed[i].offset = pixels;
            packed[i].stride = (size_t)r->fast_count;
        }
        start[i] = (uint32_t)pixels;
        row_start[i] = (uint32_t)blocks;
        pixels += (size_t)r->fast_count * (size_t)r->slow_count;
        blocks += chunks_of(r, plan->row_chunk);
    }
    start[count] = plan->pixels;
    row_start[count] = plan->row_blocks;
}

static db_status send_regions(db_context *context, db_device_plan *plan,
                              const db_device_work *work) {
    const size_t count = work->region_count,
                 bytes = 2 * count * sizeof(db_region) + 2 * (count + 1) * sizeof(uint32_t);
    char *const memory = malloc(bytes);
    if (!memory) return db_fail_memory(context, "the regions of a plan");
    fill_regions(plan, work, memory);
    db_status status =
        db_cuda_need_more(context, plan, &plan->regions, bytes, "the regions of a plan");
    if (status == DB_OK)
        status = db_cuda_copy_there(context, plan, plan->regions.memory, memory, bytes,
                                    "copying regions");
    free(memory); /* pageable memory has been read when the call returns */
    plan->region = plan->regions.memory;
    plan->packed_region = plan->region + count;
    plan->region_start = (const uint32_t *)(plan->packed_region + count);
    plan->row_start = plan->region_start + count + 1;
    return status;
}

/* Makes the stream, events and memory that an earlier plan has not left. */
static db_status make_stream(db_context *context, db_device_plan *plan) {
    if (!plan->own_stream)
        DB_CUDA_TRY(context, plan->number,
                    cudaStreamCreateWithFlags(&plan->own_stream, cudaStreamNonBlocking),
                    "creating a stream");
    plan->stream = plan->own_stream;
    if (!plan->turned)
        DB_CUDA_TRY(context, plan->number,
                    cudaEventCreateWithFlags(&plan->turned, cudaEventDisableTiming),
                    "creating an event");
    for (int i = 0; i < 2; i++)
        if (!plan->copied[i])
            DB_CUDA_TRY(context, plan->number,
                        cudaEventCreateWithFlags(&plan->copied[i], cudaEventDisableTiming),
                        "creating an event");
    return DB_OK;
}

/* Allocates at once the memory that the first image needs, so that creating a plan that is too
 * large fails. Waits for nothing. */
static db_status prepare_plan(db_context *context, db_device_plan *plan,
                              const db_device_work *work) {
    const size_t size = work->job.pixel_type == DB_FLOAT32 ? sizeof(float) : sizeof(double);
    DB_TRY(make_stream(context, plan));
    DB_TRY(count_pixels(context, plan, work));
    DB_TRY(send_regions(context, plan, work));
    DB_TRY(db_cuda_need_more(context, plan, &plan->results, plan->pixels * size, "an image"));
    return db_cuda_values_reserve(context, plan, work);
}

/* A plan with what earlier plans have left, if there is any. */
static db_device_plan *make_plan(db_context *context, int number) {
    db_device_plan *made = db_cuda_pool_take(context, number);
    if (!made) made = calloc(1, sizeof *made);
    if (made)
        made->number = number;
    else
        (void)db_fail_memory(context, "a plan");
    return made;
}

db_status db_cuda_plan_create(db_context *context, int number, const db_device_work *work,
                              db_device_plan **plan) {
    db_cuda_scope scope;
    db_device_plan *const made = make_plan(context, number);
    *plan = NULL;
    if (!made) return DB_ERROR_MEMORY;
    db_status status = db_cuda_enter(context, number, &scope);
    if (status == DB_OK) {
        status = prepare_plan(context, made, work);
        db_cuda_leave(&scope);
    }
    if (status == DB_OK)
        *plan = made;
    else
        db_cuda_plan_release(made);
    return status;
}

db_status db_cuda_plan_of_image(db_context *context, int number, size_t pixels,
                                db_device_plan **plan) {
    db_device_plan *const made = *plan = make_plan(context, number);
    if (!made) return DB_ERROR_MEMORY;
    made->pixels = (uint32_t)pixels;
    made->dense = 1;
    made->span_count = 1;
    made->span = malloc(sizeof *made->span);
    if (!made->span) return db_fail_memory(context, "an image");
    made->span[0] = (db_cuda_span){ 0, 0, pixels };
    return make_stream(context, made);
}

/* Makes the own stream, which reuses or frees the plan's memory, wait for the work on the caller's stream. */
static void leave_callers_stream(db_device_plan *plan) {
    const int elsewhere = plan->stream != plan->own_stream;
    if (elsewhere && db_cuda_plan_set_stream(NULL, plan, DB_STREAM_OWN, NULL) != DB_OK)
        (void)db_cuda_plan_wait(NULL, plan);
    plan->stream = plan->own_stream;
    plan->asynchronous = 0;
}

void db_cuda_plan_destroy(db_context *context, db_device_plan *plan) {
    if (!plan) return;
    free(plan->span);
    plan->span = NULL;
    db_cuda_values_forget(&plan->values);
    plan->box_version = plan->made.version = 0;
    plan->slopes_version = 0;
    leave_callers_stream(plan);
    if (!db_cuda_pool_give(context, plan)) db_cuda_plan_release(plan);
}
