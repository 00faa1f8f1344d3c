/* Normal equations of a plan on a GPU. */
#include "cuda/plan.h"

#include "cuda/operations.h"

#include <string.h>

enum {
    MOST_SUM_BYTES = 16 << 20, /* of the slots ... */
    MOST_SLOTS = 4096          /* ... which are enough to keep any GPU busy */
};

/* Data and weights on the device: used in place if they are there already, else copied. */
static db_status bring_data_and_weights(db_context *context, db_device_plan *plan,
                                        const db_device_work *work, db_cuda_layout layout,
                                        const int is_there[2], db_cuda_arguments *a) {
    const void *const given[] = { work->job.data, work->job.weight };
    const void *there[2] = { given[0], given[1] };
    const size_t size = work->job.data_type == DB_FLOAT32 ? sizeof(float) : sizeof(double),
                 bytes = (layout == DB_CUDA_PACKED ? (size_t)plan->pixels : work->pixels) * size;
    size_t own = 0;
    int wanted[2];
    for (int i = 0; i < 2; i++) {
        wanted[i] = given[i] && !is_there[i];
        own += (size_t)wanted[i];
    }
    DB_TRY(db_cuda_need_more(context, plan, &plan->data, own * bytes, "data and weights"));
    own = 0;
    for (int i = 0; i < 2; i++) {
        if (!wanted[i]) continue;
        char *const to = (char *)plan->data.memory + own++ * bytes;
        DB_TRY(db_cuda_to_device(context, plan, layout, to, given[i], size));
        there[i] = to;
    }
    a->job.data = there[0];
    a->job.weight = there[1];
    return DB_OK;
}

/* Spots in closed form: blocks of one warp, with as many rows and groups as fit into its memory. */
static uint32_t choose_slots_of_spots(const db_device_plan *plan, const db_device_work *work,
                                      db_cuda_arguments *a) {
    const size_t images = work->job.parameter_count + 1,
                 room = DB_CUDA_MOST_BLOCK_BYTES - db_cuda_list_bytes(1);
    const int mixed = db_cuda_is_mixed(work);
    const uint32_t squares = db_cuda_products(images);
    a->size = (uint32_t)db_normal_size(images);
    a->sums_outside = a->size * sizeof(double) > DB_CUDA_MOST_INNER_SUMS;
    a->residual_sum = (uint32_t)db_normal_index(images - 1, images - 1);
    const uint32_t inner = !a->sums_outside;
    a->rows = DB_CUDA_WARP;
    while (db_cuda_normal_bytes(images, inner, a->rows, mixed) > room) a->rows /= 2;
    a->groups = 1;
    while (inner && 2 * a->groups * squares <= DB_CUDA_WARP &&
           db_cuda_normal_bytes(images, 2 * a->groups, a->rows, mixed) <= room)
        a->groups *= 2;
    a->slots = (uint32_t)(MOST_SUM_BYTES / (a->size * sizeof(double)));
    if (a->slots > MOST_SLOTS) a->slots = MOST_SLOTS;
    if (a->slots > plan->region_count * DB_CUDA_TILE_PARTS)
        a->slots = (uint32_t)plan->region_count * DB_CUDA_TILE_PARTS;
    a->row_length = db_cuda_row_length(images);
    return DB_CUDA_WARP;
}

/* Bytes of a block's own memory. */
static size_t sum_block_bytes(const db_device_work *work, const db_cuda_arguments *a) {
    return db_cuda_normal_bytes(work->job.parameter_count + 1, a->sums_outside ? 0 : a->groups,
                                a->rows, db_cuda_is_mixed(work)) +
           (db_device_has_spots(work->kind) ? db_cuda_list_bytes(1) : 0);
}

/* Finds the cells that have products, for the kernel that sums them. */
static db_status start_cells(db_context *context, db_device_plan *plan, const db_device_work *work,
                             db_cuda_arguments *a) {
    const int mixed = db_cuda_is_mixed(work);
    const uint32_t threads = db_cuda_block(mixed);
    a->squares = a->sums + (size_t)a->slots * a->size;
    a->cells = (uint32_t *)(void *)(a->squares + plan->region_count);
    DB_TRY(db_cuda_make_slopes(context, plan, work, a));
    return db_cuda_launch(context, plan, db_cuda_kernels_of((int)work->kind, mixed)->cells,
                          (uint32_t)plan->region_count, threads,
                          threads * sizeof(double) + threads / DB_CUDA_WARP * sizeof(uint32_t), a);
}

/* Chooses the numbers of slots, groups and threads (returned). They depend on the work only, so that sums have the
 * same bits on every GPU. */
static uint32_t choose_slots(const db_device_plan *plan, const db_device_work *work,
                             db_cuda_arguments *a) {
    const size_t images = work->job.parameter_count + 1;
    const int mixed = db_cuda_is_mixed(work);
    const uint32_t squares = db_cuda_products(images);
    uint32_t threads = db_cuda_block(mixed);
    while (db_cuda_normal_bytes(images, 1, threads, mixed) > DB_CUDA_MOST_BLOCK_BYTES) threads /= 2;
    const uint32_t rounds = db_cuda_blocks(plan->pixels, threads);
    a->size = (uint32_t)db_normal_size(images);
    a->slots = (uint32_t)(MOST_SUM_BYTES / (a->size * sizeof(double)));
    if (a->slots > MOST_SLOTS) a->slots = MOST_SLOTS;
    if (a->slots > rounds) a->slots = rounds;
    a->groups = 1;
    while (2 * a->groups * squares <= threads) a->groups *= 2;
    a->row_length = db_cuda_row_length(images);
    a->rows = threads;
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

static db_status sum_normal(db_context *context, db_device_plan *plan, const db_device_work *work,
                            double *sums) {
    int there[2];
    DB_TRY(db_cuda_refuse_captured(context, plan));
    DB_TRY(db_cuda_check_place(context, plan->number, work->job.data, "data", &there[0]));
    DB_TRY(db_cuda_check_place(context, plan->number, work->job.weight, "weights", &there[1]));
    const db_cuda_layout layout =
        there[0] || there[1] || work->job.background ? DB_CUDA_AS_GIVEN : DB_CUDA_PACKED;
    db_cuda_arguments a = db_cuda_arguments_of(plan, work, layout);
    const uint32_t threads = db_device_has_spots(work->kind) ? choose_slots_of_spots(plan, work, &a)
                                                             : choose_slots(plan, work, &a);
    const size_t sum_bytes = a.size * sizeof(double);
    const size_t cell_bytes = db_device_has_spots(work->kind)
                                  ? plan->region_count * (sizeof *a.squares + sizeof *a.cells)
                                  : 0;
    DB_TRY(db_cuda_need_more(context, plan, &plan->sums, a.slots * sum_bytes + cell_bytes,
                             "the sums of normal equations"));
    DB_TRY(db_cuda_need_locked(context, plan->number, &plan->host_sums, sum_bytes));
    DB_TRY(db_cuda_values_bring(context, plan, work, DB_CUDA_NORMAL, &a));
    DB_TRY(bring_data_and_weights(context, plan, work, layout, there, &a));
    a.sums = plan->sums.memory;
    a.lattice_first = lattice_is_first(work, db_cuda_panels(work));
    if (db_device_has_spots(work->kind)) DB_TRY(start_cells(context, plan, work, &a));
    const db_cuda_kernels *kernels = db_cuda_kernels_of((int)work->kind, db_cuda_is_mixed(work));
    const int still = work->kind == DB_KERNEL_GRADIENT && db_cuda_is_still(work);
    DB_TRY(db_cuda_launch(context, plan,
                          (still ? kernels->still_normal : kernels->normal)[db_cuda_shape(work)],
                          a.slots, threads, sum_block_bytes(work, &a), &a));
    DB_TRY(db_cuda_launch(context, plan, db_cuda_add_slots,
                          db_cuda_blocks(a.size, DB_CUDA_ADD_SUMS),
                          DB_CUDA_ADD_LANES * DB_CUDA_ADD_SUMS,
                          DB_CUDA_ADD_LANES * DB_CUDA_ADD_SUMS * sizeof(double), &a));
    DB_CUDA_TRY(context, plan->number,
                cudaMemcpyAsync(plan->host_sums.memory, a.sums, sum_bytes, cudaMemcpyDeviceToHost,
                                plan->stream),
                "copying sums");
    DB_TRY(db_cuda_results_there(context, plan, 1));
    memcpy(sums, plan->host_sums.memory, sum_bytes);
    return DB_OK;
}

db_status db_cuda_plan_normal(db_context *context, db_device_plan *plan, const db_device_work *work,
                              double *sums) {
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    return db_cuda_finish(plan, sum_normal(context, plan, work, sums), &scope);
}
