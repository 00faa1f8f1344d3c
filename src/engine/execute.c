/* Running a plan: tiles over threads. A pixel belongs to one tile and a tile to one thread, so the result has the same bits for
 * any number of threads. */
#include "engine/plan_internal.h"
#include "kernel/oracle.h"

#if defined(_OPENMP)
#include <omp.h>

static int thread_count(const db_plan *plan) {
    const int wanted = plan->context->threads ? plan->context->threads : omp_get_max_threads();
    return (size_t)wanted < plan->tile_count ? wanted : (int)plan->tile_count;
}
#endif

static db_status run_tiles(db_plan *plan, db_kernel_kind kind) {
    const db_kernel_function kernel = db_kernel_instance(plan->context->isa, plan->precision, kind);
    const db_context *context = plan->context;
    const long tiles = (long)plan->tile_count;
    long done = 0;
    int cancelled = 0;
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic) num_threads(thread_count(plan))
#endif
    for (long t = 0; t < tiles; t++) {
        int stop;
#if defined(_OPENMP)
#pragma omp atomic read
#endif
        stop = cancelled;
        if (stop) continue;
        const db_tile *tile = &plan->tiles[t];
        kernel(&plan->job, tile->region, tile->row_begin, tile->row_end);
        if (!context->progress) continue;
        long finished;
#if defined(_OPENMP)
#pragma omp atomic capture
#endif
        finished = ++done;
#if defined(_OPENMP)
        if (omp_get_thread_num() != 0) continue;
#endif
        if (context->progress(context->progress_user, (double)finished / (double)tiles)) {
#if defined(_OPENMP)
#pragma omp atomic write
#endif
            cancelled = 1;
        }
    }
    if (cancelled) return db_fail(plan->context, DB_ERROR_CANCELLED, "cancelled by the progress callback");
    if (context->progress) context->progress(context->progress_user, 1.0);
    return DB_OK;
}

db_status db_plan_forward(db_plan *plan, void *image) {
    plan->job.image = image;
    return run_tiles(plan, DB_KERNEL_FORWARD);
}

static db_status need_parameters(const db_plan *plan) {
    if (plan->parameter_count) return DB_OK;
    return db_fail(plan->context, DB_ERROR_USAGE, "this plan was created without parameters to differentiate by");
}

db_status db_plan_gradient(db_plan *plan, void *image, void *const *derivatives) {
    DB_TRY(need_parameters(plan));
    db_plan_fill_slopes(plan);
    plan->job.image = image;
    plan->job.derivative = derivatives;
    return run_tiles(plan, db_plan_gradient_kind(plan));
}

db_status db_plan_oracle(db_plan *plan, double *image, double *const *derivatives) {
    DB_TRY(need_parameters(plan));
    db_plan_fill_slopes(plan);
    db_oracle_render(&plan->experiment, &plan->dual, plan->regions, plan->region_count, plan->parameters,
                     plan->parameter_count, image, derivatives);
    return DB_OK;
}
