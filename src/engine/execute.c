/* Tiles of a plan over threads, with progress and cancellation. */
#include "engine/execute.h"

#include "engine/device_plan.h"
#include "engine/plan_background.h"
#include "engine/plan_kinds.h"
#include "engine/plan_shown.h"
#include "engine/spot_slopes.h"
#include "engine/spots.h"
#include "base/threads.h"
#include "kernel/row_room.h"
#include "model/crystal_position.h"

#include <dualbragg/expert/stages.h>

#include <stdlib.h>
#include <string.h>

/* Shared by the threads of one execution. */
typedef struct {
    const db_execution *wanted;
    long done; /* slots */
    int cancelled;
} progress;

/* Reports a stage; pixels: rendered by a stage that ends. */
static void report_rendering(const db_plan *plan, const char *name, int begins, double pixels) {
    const db_stage stage = { name, begins, db_thread_number(), pixels,
                             pixels * db_samples_per_pixel(&plan->experiment) };
    plan->context->stage(plan->context->stage_user, &stage);
}

/* Renders regions with one reflection each. */
static void run_shown(const db_execution *x, size_t first, size_t end, void *room) {
    db_shown_job own;
    for (size_t t = first; t < end; t++) {
        db_plan_show_reflection(x->plan, x->job, x->plan->tiles.list[t].region, &own);
        x->kernel(&own.job, x->plan->tiles.list + t, 1, NULL, room);
    }
}

static void run_tiles(const db_execution *x, size_t slot, int thread) {
    const db_plan *plan = x->plan;
    const size_t first = plan->tiles.count * slot / x->slots,
                 end = plan->tiles.count * (slot + 1) / x->slots;
    const int reported = plan->context->stage != NULL;
    double *const sums = x->sums ? x->sums + slot * x->sums_size : NULL;
    double pixels = 0;
    void *const room = db_plan_room_of(&plan->room, thread);
    if (reported) report_rendering(plan, "kernel", 1, 0);
    if (sums) memset(sums, 0, x->sums_size * sizeof *sums);
    if (x->job->region_node)
        run_shown(x, first, end, room);
    else
        x->kernel(x->job, plan->tiles.list + first, end - first, sums, room);
    if (!reported) return;
    for (const db_tile *t = plan->tiles.list + first; t < plan->tiles.list + end; t++)
        pixels += (double)plan->tiles.regions[t->region].fast_count * (t->row_end - t->row_begin);
    report_rendering(plan, "kernel", 0, pixels);
}

static size_t all_slots(const db_execution *x) { return x->all ? x->all : x->slots; }

/* Runs a slot. Thread 0, which started the work, reports the progress. */
static void run_slot(progress *p, long slot, int thread) {
    int stop;
#pragma omp atomic read
    stop = p->cancelled;
    if (stop) return;
    if (p->wanted->work)
        p->wanted->work(p->wanted, (size_t)slot, thread);
    else
        run_tiles(p->wanted, (size_t)slot, thread);
    const db_context *context = p->wanted->plan->context;
    if (!context->progress) return;
    long finished;
#pragma omp atomic capture
    finished = ++p->done;
    if (thread != 0) return;
    const double fraction =
        (double)(p->wanted->before + (size_t)finished) / (double)all_slots(p->wanted);
    if (context->progress(context->progress_user, fraction)) {
#pragma omp atomic write
        p->cancelled = 1;
    }
}

static double rendered_pixels(const db_plan *plan) {
    double pixels = 0;
    for (size_t i = 0; i < plan->tiles.region_count; i++)
        pixels += (double)plan->tiles.regions[i].fast_count * plan->tiles.regions[i].slow_count;
    return pixels;
}

/* A sample of an image takes one thread about 9 ns, with derivatives 30 ns. */
static int threads_of(const db_execution *x) {
    const db_plan *const plan = x->plan;
    const db_context *const context = plan->context;
    if (plan->spots || x->work) return db_threads_for(context, (long)x->slots);
    const int image =
        x->kernel == db_kernel_instance(context->isa, plan->precision, db_plan_forward_kind(plan));
    const double samples = rendered_pixels(plan) * db_samples_per_pixel(&plan->experiment);
    return db_threads_worth(context, (long)x->slots,
                            (image ? 9 : 30) * samples / (double)all_slots(x));
}

db_status db_execute(const db_execution *x) {
    db_plan *plan = x->plan;
    const db_context *context = plan->context;
    const long slots = (long)x->slots;
    progress p = { x, 0, 0 };
    const int threads = threads_of(x);
    DB_TRY(db_plan_room_need(plan->context,
                             plan->spots ? db_spot_room(&plan->job) : db_row_room(&plan->job),
                             threads, &plan->room));
    if (context->stage) report_rendering(plan, "render", 1, 0);
#if defined(_OPENMP)
    /* OpenMP would allocate a team of one anew at every call */
    if (threads > 1) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (long s = 0; s < slots; s++) run_slot(&p, s, db_thread_number());
    } else
#endif
        for (long s = 0; s < slots; s++) run_slot(&p, s, 0);
    if (context->stage)
        report_rendering(
            plan, "render", 0,
            p.cancelled ? 0 : rendered_pixels(plan) * (double)x->slots / (double)all_slots(x));
    if (p.cancelled)
        return db_fail(plan->context, DB_ERROR_CANCELLED, "cancelled by the progress callback");
    if (context->progress && x->before + x->slots == all_slots(x))
        context->progress(context->progress_user, 1.0);
    return DB_OK;
}

db_status db_plan_prepare_spots(db_plan *plan) {
    if (!plan->spots) return DB_OK;
    return db_plan_on_device(plan) ? db_spots_begin(plan) : db_spots_fill(plan);
}

static db_status render_plan(db_plan *plan, db_kernel_kind kind) {
    if (db_plan_on_device(plan)) {
        int done;
        const db_status status = db_device_render(plan, kind, &done);
        if (done) return status;
        DB_TRY(db_plan_prepare_spots(plan));
    }
    DB_TRY(db_device_check_job(plan, &plan->job,
                               db_device_has_slopes(kind) ? plan->parameters.count : 0));
    if (plan->spots && db_device_has_slopes(kind)) DB_TRY(db_spots_fill_slopes(plan));
    const db_execution x = { .plan = plan,
                             .job = &plan->job,
                             .kernel = plan->experiment.reference.on
                                           ? db_kernel_reference_order
                                           : db_kernel_instance(plan->context->isa, plan->precision,
                                                                kind),
                             .slots = plan->tiles.count };
    return db_execute(&x);
}

db_status db_plan_forward(db_plan *plan, void *image) {
    plan->job.image = image;
    DB_TRY(db_plan_prepare_spots(plan));
    DB_TRY(render_plan(plan, db_plan_forward_kind(plan)));
    return db_plan_add_background(plan, image);
}

/* A crystal that has left the origin may have ended the derivatives by the spindle (db_parameter_exists). */
static db_status check_carried(const db_plan *plan) {
    const double *const at = plan->experiment.crystal.position;
    for (size_t k = 0; k < plan->parameters.count; k++) {
        const db_parameter p = plan->parameters.list[k];
        const db_parameter_info *const info = db_parameter_describe(p);
        if (!db_turns_spindle(info->facts->kind) || db_parameter_exists(&plan->experiment, p))
            continue;
        return db_fail(
            plan->context, DB_ERROR_USAGE,
            "parameter %s: with sampled spots or a halo there is no derivative by it for a "
            "crystal off the origin, found at %g %g %g mm",
            info->name, at[0], at[1], at[2]);
    }
    return DB_OK;
}

db_status db_plan_prepare_slopes(db_plan *plan) {
    const int current = plan->slopes.current;
    DB_TRY(check_carried(plan));
    DB_TRY(db_plan_prepare_spots(plan));
    db_plan_slopes_fill(plan->context, &plan->parameters, &plan->values, &plan->slopes, &plan->job);
    if (plan->spots && !current) db_spots_outdate_slopes(plan);
    /* a device makes its own */
    return plan->spots && !db_plan_on_device(plan) ? db_spots_fill_slopes(plan) : DB_OK;
}

db_status db_plan_need_parameters(const db_plan *plan) {
    if (plan->parameters.count) return DB_OK;
    return db_fail(plan->context, DB_ERROR_USAGE,
                   "this plan was created without parameters to differentiate by");
}

db_status db_plan_gradient(db_plan *plan, void *image, void *const *derivatives) {
    DB_TRY(db_plan_need_parameters(plan));
    DB_TRY(db_plan_prepare_slopes(plan));
    plan->job.image = image;
    for (size_t k = 0; k < plan->parameters.count; k++)
        plan->slopes.derivative[plan->slopes.position[k]] = derivatives[k];
    plan->job.derivative = plan->slopes.derivative;
    DB_TRY(render_plan(plan, db_plan_gradient_kind(plan)));
    return db_plan_add_background(plan, image);
}
