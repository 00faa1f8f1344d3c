/* Running a plan: tiles over threads. A pixel belongs to one tile and a tile to one thread, so the
 * result has the same bits for any number of threads. */
#include "core/stage.h"
#include "engine/plan_internal.h"
#include "kernel/oracle.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

/* What the threads of one execution share. */
typedef struct {
    const db_plan *plan;
    db_kernel_function kernel;
    long done;
    int cancelled;
} execution;

static int this_thread(void) {
#if defined(_OPENMP)
    return omp_get_thread_num();
#else
    return 0;
#endif
}

static double samples_per_pixel(const db_plan *plan) {
    const db_kernel_job *job = &plan->job;
    return (double)job->oversample * job->oversample * job->layers * (double)job->source_count *
           (double)job->sample_count;
}

/* Of pixels: what a stage that ends has rendered. */
static void report_rendering(const db_plan *plan, const char *name, int begins, double pixels) {
    const db_stage stage = { name, begins, this_thread(), pixels,
                             pixels * samples_per_pixel(plan) };
    plan->context->stage(plan->context->stage_user, &stage);
}

static void run_kernel(const execution *x, const db_tile *tile) {
    const db_plan *plan = x->plan;
    const int reported = plan->context->stage != NULL;
    if (reported) report_rendering(plan, "kernel", 1, 0);
    x->kernel(&plan->job, tile->region, tile->row_begin, tile->row_end);
    if (reported)
        report_rendering(plan, "kernel", 0,
                         (double)plan->regions[tile->region].fast_count *
                             (tile->row_end - tile->row_begin));
}

/* One tile; the thread that started the work (`reports`) tells the caller how far it is. */
static void run_tile(execution *x, long t, int reports) {
    int stop;
#if defined(_OPENMP)
#pragma omp atomic read
#endif
    stop = x->cancelled;
    if (stop) return;
    const db_tile *tile = &x->plan->tiles[t];
    run_kernel(x, tile);
    const db_context *context = x->plan->context;
    if (!context->progress) return;
    long finished;
#if defined(_OPENMP)
#pragma omp atomic capture
#endif
    finished = ++x->done;
    if (!reports) return;
    const double fraction = (double)finished / (double)x->plan->tile_count;
    if (context->progress(context->progress_user, fraction)) {
#if defined(_OPENMP)
#pragma omp atomic write
#endif
        x->cancelled = 1;
    }
}

static double rendered_pixels(const db_plan *plan) {
    double pixels = 0;
    for (size_t i = 0; i < plan->region_count; i++)
        pixels += (double)plan->regions[i].fast_count * plan->regions[i].slow_count;
    return pixels;
}

static db_status run_tiles(db_plan *plan, db_kernel_function kernel) {
    const db_context *context = plan->context;
    const long tiles = (long)plan->tile_count;
    execution x = { plan, kernel, 0, 0 };
    if (context->stage) report_rendering(plan, "render", 1, 0);
#if defined(_OPENMP)
    const long wanted = context->threads ? context->threads : omp_get_max_threads();
    const int threads = (int)(wanted < tiles ? wanted : tiles);
    /* a team of one would be allocated anew at every call */
    if (threads > 1) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (long t = 0; t < tiles; t++) run_tile(&x, t, this_thread() == 0);
    } else
#endif
        for (long t = 0; t < tiles; t++) run_tile(&x, t, 1);
    if (context->stage)
        report_rendering(plan, "render", 0, x.cancelled ? 0 : rendered_pixels(plan));
    if (x.cancelled)
        return db_fail(plan->context, DB_ERROR_CANCELLED, "cancelled by the progress callback");
    if (context->progress) context->progress(context->progress_user, 1.0);
    return DB_OK;
}

static db_kernel_function kernel_of(const db_plan *plan, db_kernel_kind kind) {
    if (plan->experiment.reference.on) return db_kernel_reference_order;
    return db_kernel_instance(plan->context->isa, plan->precision, kind);
}

db_status db_plan_forward(db_plan *plan, void *image) {
    plan->job.image = image;
    return run_tiles(
        plan, kernel_of(plan, plan->job.general ? DB_KERNEL_GENERAL_FORWARD : DB_KERNEL_FORWARD));
}

static db_status need_parameters(const db_plan *plan) {
    if (plan->parameter_count) return DB_OK;
    return db_fail(plan->context, DB_ERROR_USAGE,
                   "this plan was created without parameters to differentiate by");
}

db_status db_plan_gradient(db_plan *plan, void *image, void *const *derivatives) {
    DB_TRY(need_parameters(plan));
    db_plan_fill_slopes(plan);
    plan->job.image = image;
    plan->job.derivative = derivatives;
    return run_tiles(plan, kernel_of(plan, db_plan_gradient_kind(plan)));
}

db_status db_plan_oracle(db_plan *plan, double *image, double *const *derivatives) {
    DB_TRY(need_parameters(plan));
    db_plan_fill_slopes(plan);
    const db_oracle oracle = { &plan->experiment, &plan->dual, &plan->slots, &plan->curve.job };
    db_stage_begin(plan->context, "oracle");
    db_oracle_render(&oracle, plan->regions, plan->region_count, plan->parameters,
                     plan->parameter_count, image, derivatives);
    db_stage_end(plan->context, "oracle");
    return DB_OK;
}
