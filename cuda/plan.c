/* A plan's part on a GPU: memory, launches, results. */
#include "cuda/plan.h"

#include "cuda/backend.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SUM_BYTES = 16 << 20, /* of the slots of normal equations ... */
    MOST_SLOTS = 4096,         /* ... which are enough to keep any GPU busy */
    WIDE = 256                 /* pixels of a row, from which on kernels along rows pay */
};

static db_status launch(db_context *context, const db_device_plan *plan, const void *kernel,
                        uint32_t blocks, uint32_t threads, size_t bytes, db_cuda_arguments *a) {
    void *arguments[] = { a };
    const dim3 grid = { blocks, 1, 1 }, block = { threads, 1, 1 };
    return db_cuda_status(context, plan->number,
                          cudaLaunchKernel(kernel, grid, block, arguments, bytes, plan->stream),
                          "starting a kernel");
}

static uint32_t blocks_for(uint32_t pixels, uint32_t block) {
    return (uint32_t)(((uint64_t)pixels + block - 1) / block);
}

static int shape_number(const db_device_work *work) {
    if (work->kind == DB_KERNEL_GENERAL_FORWARD || work->kind == DB_KERNEL_GENERAL_GRADIENT)
        return DB_CUDA_SHAPE_ANY;
    if (work->job.shape != DB_SHAPE_SQUARE) return DB_CUDA_SHAPE_COMPACT;
    return work->job.few_cells && work->kind != DB_KERNEL_GRADIENT_CELLS ? DB_CUDA_SHAPE_FEW_CELLS
                                                                         : DB_CUDA_SHAPE_SQUARE;
}

static int is_mixed(const db_device_work *work) { return work->precision == DB_PRECISION_MIXED; }

static int along_rows(const db_device_plan *plan, const db_device_work *work) {
    const db_kernel_job *job = &work->job;
    return work->kind == DB_KERNEL_FORWARD && plan->wide &&
           job->oversample <= DB_CUDA_MOST_SUB_ROWS &&
           db_cuda_term_bytes(job, is_mixed(work)) <= DB_CUDA_MOST_TERM_BYTES &&
           (!is_mixed(work) || db_offsets_suffice(job));
}

static db_cuda_arguments arguments_of(const db_device_plan *plan, const db_device_work *work,
                                      db_cuda_layout layout) {
    db_cuda_arguments a = { .job = work->job,
                            .region_start = plan->region_start,
                            .row_start = plan->row_start,
                            .region_count = (uint32_t)plan->region_count,
                            .pixels = plan->pixels,
                            .row_chunk = plan->row_chunk };
    a.job.region = layout == DB_CUDA_PACKED ? plan->packed_region : plan->region;
    return a;
}

/* Creating */

/* Merges neighbours: a whole detector is one span. */
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

static db_status count_pixels(db_context *context, db_device_plan *plan,
                              const db_device_work *work) {
    const size_t terms = work->job.source_count * work->job.sample_count;
    size_t pixels = 0, rows = 0, blocks = 0;
    plan->row_chunk = terms < DB_CUDA_MANY_TERMS ? DB_CUDA_LONG_CHUNK : DB_CUDA_SHORT_CHUNK;
    for (size_t i = 0; i < work->region_count; i++) {
        const db_region *r = &work->job.region[i];
        const size_t chunks = ((size_t)r->fast_count + plan->row_chunk - 1) / plan->row_chunk;
        pixels += (size_t)r->fast_count * (size_t)r->slow_count;
        rows += (size_t)r->slow_count;
        blocks += chunks * (size_t)r->slow_count;
    }
    if (pixels > INT32_MAX)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "cuda:%d: a plan of %zu pixels; expected at most %d", plan->number, pixels,
                       INT32_MAX);
    plan->region_count = work->region_count;
    plan->pixels = (uint32_t)pixels;
    plan->row_blocks = (uint32_t)blocks;
    plan->wide = pixels / rows >= WIDE;
    plan->span = malloc(rows * sizeof *plan->span);
    if (!plan->span) return db_fail_memory(context, "the pixels of a plan");
    list_spans(plan, work);
    return DB_OK;
}

/* Fills what plan->regions holds: regions, packed regions, and what lies before each. */
static void fill_regions(const db_device_plan *plan, const db_device_work *work, char *memory) {
    const size_t count = work->region_count;
    db_region *given = (db_region *)(void *)memory, *packed = given + count;
    uint32_t *start = (uint32_t *)(packed + count), *row_start = start + count + 1;
    size_t pixels = 0, blocks = 0;
    for (size_t i = 0; i < count; i++) {
        const db_region *r = &work->job.region[i];
        given[i] = packed[i] = *r;
        packed[i].offset = pixels;
        packed[i].stride = (size_t)r->fast_count;
        start[i] = (uint32_t)pixels;
        row_start[i] = (uint32_t)blocks;
        pixels += (size_t)r->fast_count * (size_t)r->slow_count;
        blocks +=
            ((size_t)r->fast_count + plan->row_chunk - 1) / plan->row_chunk * (size_t)r->slow_count;
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
        db_cuda_need(context, plan->number, &plan->regions, bytes, "the regions of a plan");
    if (status == DB_OK)
        status =
            db_cuda_status(context, plan->number,
                           cudaMemcpy(plan->regions.memory, memory, bytes, cudaMemcpyHostToDevice),
                           "copying regions");
    free(memory);
    plan->region = plan->regions.memory;
    plan->packed_region = plan->region + count;
    plan->region_start = (const uint32_t *)(plan->packed_region + count);
    plan->row_start = plan->region_start + count + 1;
    return status;
}

/* Memory that the first image needs is asked for at once, so that too large a plan is found out
 * when it is made. */
static db_status prepare(db_context *context, db_device_plan *plan, const db_device_work *work) {
    db_cuda_arguments unused = { .job = work->job };
    const size_t size = work->job.pixel_type == DB_FLOAT32 ? sizeof(float) : sizeof(double);
    DB_CUDA_TRY(context, plan->number,
                cudaStreamCreateWithFlags(&plan->stream, cudaStreamNonBlocking),
                "creating a stream");
    for (int i = 0; i < 2; i++)
        DB_CUDA_TRY(context, plan->number,
                    cudaEventCreateWithFlags(&plan->copied[i], cudaEventDisableTiming),
                    "creating an event");
    DB_TRY(count_pixels(context, plan, work));
    DB_TRY(send_regions(context, plan, work));
    DB_TRY(db_cuda_need(context, plan->number, &plan->results, plan->pixels * size, "an image"));
    DB_TRY(db_cuda_values_bring(context, plan, work, 0, &unused));
    return db_cuda_status(context, plan->number, cudaStreamSynchronize(plan->stream),
                          "copying parameters");
}

static void release(db_device_plan *plan) {
    if (plan->stream) (void)cudaStreamSynchronize(plan->stream);
    db_cuda_values_release(&plan->values);
    db_cuda_release(&plan->regions);
    db_cuda_release(&plan->results);
    db_cuda_release(&plan->data);
    db_cuda_release(&plan->sums);
    db_cuda_release_locked(&plan->staging);
    db_cuda_release_locked(&plan->host_sums);
    for (int i = 0; i < 2; i++)
        if (plan->copied[i]) (void)cudaEventDestroy(plan->copied[i]);
    if (plan->stream) (void)cudaStreamDestroy(plan->stream);
    (void)cudaGetLastError();
    free(plan->span);
    free(plan);
}

db_status db_cuda_plan_create(db_context *context, int number, const db_device_work *work,
                              db_device_plan **plan) {
    db_cuda_scope scope;
    db_device_plan *made = calloc(1, sizeof *made);
    *plan = NULL;
    if (!made) return db_fail_memory(context, "a plan");
    made->number = number;
    db_status status = db_cuda_enter(context, number, &scope);
    if (status == DB_OK) {
        status = prepare(context, made, work);
        if (status == DB_OK)
            *plan = made;
        else
            release(made);
        db_cuda_leave(&scope);
    } else {
        free(made);
    }
    return status;
}

void db_cuda_plan_destroy(db_device_plan *plan) {
    db_cuda_scope scope;
    if (!plan) return;
    const db_status status = db_cuda_enter(NULL, plan->number, &scope);
    release(plan);
    if (status == DB_OK) db_cuda_leave(&scope);
}

/* Images */

static int is_gradient(const db_device_work *work) {
    return work->kind != DB_KERNEL_FORWARD && work->kind != DB_KERNEL_GENERAL_FORWARD;
}

/* Image number i of a work: the image itself, then the derivatives. */
static void *image_of(const db_device_work *work, size_t i) {
    return i == 0 ? work->job.image : work->job.derivative[i - 1];
}

static db_cuda_layout layout_of_images(const db_device_work *work, size_t images) {
    for (size_t i = 0; i < images; i++)
        if (db_cuda_place_of(image_of(work, i)) == DB_CUDA_ON_DEVICE) return DB_CUDA_AS_GIVEN;
    return DB_CUDA_PACKED;
}

static db_status start_images(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_arguments *a) {
    const int mixed = is_mixed(work), shape = shape_number(work);
    const db_cuda_kernels *kernels = db_cuda_kernels_of((int)work->kind, mixed);
    if (along_rows(plan, work))
        return launch(context, plan, kernels->rows[shape], plan->row_blocks, DB_CUDA_BLOCK,
                      db_cuda_term_bytes(&work->job, mixed), a);
    const uint32_t block = db_cuda_block(mixed);
    return launch(context, plan, kernels->image[shape], blocks_for(plan->pixels, block), block, 0,
                  a);
}

static db_status render(db_context *context, db_device_plan *plan, const db_device_work *work) {
    const size_t images = 1 + (is_gradient(work) ? work->job.parameter_count : 0),
                 size = work->job.pixel_type == DB_FLOAT32 ? sizeof(float) : sizeof(double);
    const db_cuda_layout layout = layout_of_images(work, images);
    const size_t image_bytes =
        (layout == DB_CUDA_PACKED ? (size_t)plan->pixels : work->pixels) * size;
    char *own[DB_CUDA_MOST_IMAGES + 1] = { 0 };
    size_t own_count = 0;
    db_cuda_arguments a = arguments_of(plan, work, layout);
    if (images > DB_CUDA_MOST_IMAGES)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "cuda:%d: %zu derivative images; expected at most %d", plan->number,
                       images - 1, DB_CUDA_MOST_IMAGES - 1);
    for (size_t i = 0; i < images; i++)
        own_count += db_cuda_place_of(image_of(work, i)) != DB_CUDA_ON_DEVICE;
    DB_TRY(db_cuda_need(context, plan->number, &plan->results, own_count * image_bytes,
                        images > 1 ? "image and derivative images" : "an image"));
    DB_TRY(db_cuda_values_bring(context, plan, work, 0, &a));
    own_count = 0;
    for (size_t i = 0; i < images; i++) {
        void *there = image_of(work, i);
        if (db_cuda_place_of(there) != DB_CUDA_ON_DEVICE)
            there = own[i] = (char *)plan->results.memory + own_count++ * image_bytes;
        if (i == 0)
            a.job.image = there;
        else
            a.derivative[i - 1] = there;
    }
    DB_TRY(start_images(context, plan, work, &a));
    for (size_t i = 0; i < images; i++)
        if (own[i]) DB_TRY(db_cuda_to_host(context, plan, layout, own[i], image_of(work, i), size));
    return db_cuda_status(context, plan->number, cudaStreamSynchronize(plan->stream), "rendering");
}

/* After a failure nothing of a call may still be on its way. */
static db_status finish(db_device_plan *plan, db_status status, const db_cuda_scope *scope) {
    if (status != DB_OK) {
        (void)cudaStreamSynchronize(plan->stream);
        (void)cudaGetLastError();
    }
    db_cuda_leave(scope);
    return status;
}

db_status db_cuda_plan_render(db_context *context, db_device_plan *plan,
                              const db_device_work *work) {
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    return finish(plan, render(context, plan, work), &scope);
}

/* Normal equations */

/* Data and weights on the device: those given there as they are, those of the host copied. */
static db_status bring_data(db_context *context, db_device_plan *plan, const db_device_work *work,
                            db_cuda_layout layout, db_cuda_arguments *a) {
    const float *const given[] = { work->job.data, work->job.weight };
    const float *there[2] = { given[0], given[1] };
    const size_t bytes =
        (layout == DB_CUDA_PACKED ? (size_t)plan->pixels : work->pixels) * sizeof(float);
    size_t own = 0;
    int wanted[2];
    for (int i = 0; i < 2; i++) {
        wanted[i] = given[i] && db_cuda_place_of(given[i]) != DB_CUDA_ON_DEVICE;
        own += (size_t)wanted[i];
    }
    DB_TRY(db_cuda_need(context, plan->number, &plan->data, own * bytes, "data and weights"));
    own = 0;
    for (int i = 0; i < 2; i++) {
        if (!wanted[i]) continue;
        char *const to = (char *)plan->data.memory + own++ * bytes;
        DB_TRY(db_cuda_to_device(context, plan, layout, to, given[i], sizeof(float)));
        there[i] = (const float *)(void *)to;
    }
    a->job.data = there[0];
    a->job.weight = there[1];
    return DB_OK;
}

static int on_device(const void *memory) {
    return memory && db_cuda_place_of(memory) == DB_CUDA_ON_DEVICE;
}

/* The numbers of slots and groups, and of threads, which is returned, depend on the work alone, so
 * that sums have the same bits on every GPU. */
static uint32_t choose_slots(const db_device_plan *plan, const db_device_work *work,
                             db_cuda_arguments *a) {
    const size_t images = work->job.parameter_count + 1;
    const int mixed = is_mixed(work);
    const uint32_t squares = db_cuda_products(images);
    uint32_t threads = db_cuda_block(mixed);
    while (db_cuda_normal_bytes(images, 1, threads, mixed) > DB_CUDA_MOST_BLOCK_BYTES) threads /= 2;
    const uint32_t rounds = blocks_for(plan->pixels, threads);
    a->size = (uint32_t)db_normal_size(images);
    a->slots = (uint32_t)(MOST_SUM_BYTES / (a->size * sizeof(double)));
    if (a->slots > MOST_SLOTS) a->slots = MOST_SLOTS;
    if (a->slots > rounds) a->slots = rounds;
    a->groups = 1;
    while (2 * a->groups * squares <= threads) a->groups *= 2;
    a->row_length = db_cuda_row_length(images);
    return threads;
}

static int lattice_is_first(const db_device_work *work, size_t panels) {
    const size_t images = work->job.parameter_count, columns = DB_COLUMN_ORIGIN;
    if (images < columns) return 0;
    for (size_t panel = 0; panel < panels; panel++)
        for (size_t k = 0; k < columns; k++) {
            const db_kernel_contraction *c = &work->job.contraction[panel * images + k];
            if (c->columns != 1 || c->first_column != DB_COLUMN_LATTICE + (int)k) return 0;
        }
    return 1;
}

static size_t panel_count(const db_device_work *work) {
    for (size_t i = 0; i < work->array_count; i++)
        if (work->array[i].member == offsetof(db_kernel_job, panel))
            return work->array[i].bytes / sizeof *work->job.panel;
    return 0;
}

static db_status normal(db_context *context, db_device_plan *plan, const db_device_work *work,
                        double *sums) {
    const db_cuda_layout layout = on_device(work->job.data) || on_device(work->job.weight)
                                      ? DB_CUDA_AS_GIVEN
                                      : DB_CUDA_PACKED;
    const int mixed = is_mixed(work);
    const size_t images = work->job.parameter_count + 1;
    db_cuda_arguments a = arguments_of(plan, work, layout);
    const uint32_t threads = choose_slots(plan, work, &a);
    const size_t sum_bytes = a.size * sizeof(double);
    DB_TRY(db_cuda_need(context, plan->number, &plan->sums, a.slots * sum_bytes,
                        "the sums of normal equations"));
    DB_TRY(db_cuda_need_locked(context, plan->number, &plan->host_sums, sum_bytes));
    DB_TRY(db_cuda_values_bring(context, plan, work, 1, &a));
    DB_TRY(bring_data(context, plan, work, layout, &a));
    a.sums = plan->sums.memory;
    a.lattice_first = lattice_is_first(work, panel_count(work));
    DB_TRY(launch(context, plan,
                  db_cuda_kernels_of((int)work->kind, mixed)->normal[shape_number(work)], a.slots,
                  threads, db_cuda_normal_bytes(images, a.groups, threads, mixed), &a));
    DB_TRY(launch(context, plan, db_cuda_add_slots, blocks_for(a.size, DB_CUDA_ADD_SUMS),
                  DB_CUDA_ADD_LANES * DB_CUDA_ADD_SUMS,
                  DB_CUDA_ADD_LANES * DB_CUDA_ADD_SUMS * sizeof(double), &a));
    DB_CUDA_TRY(context, plan->number,
                cudaMemcpyAsync(plan->host_sums.memory, a.sums, sum_bytes, cudaMemcpyDeviceToHost,
                                plan->stream),
                "copying sums");
    DB_CUDA_TRY(context, plan->number, cudaStreamSynchronize(plan->stream), "normal equations");
    memcpy(sums, plan->host_sums.memory, sum_bytes);
    return DB_OK;
}

db_status db_cuda_plan_normal(db_context *context, db_device_plan *plan, const db_device_work *work,
                              double *sums) {
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    return finish(plan, normal(context, plan, work, sums), &scope);
}
