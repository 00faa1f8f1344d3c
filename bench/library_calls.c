#include "bench/library_calls.h"

#include "bench/timing.h"
#include "base/context_internal.h"

#include <dualbragg/device.h>
#include <dualbragg/normal.h>
#include <stdlib.h>
#include <string.h>

/* Degree; by which a warm call turns the crystal, to and fro, so that nothing of the call before
 * still holds. */
static const double NUDGE = 1e-6;

static db_plan_options plan_options(const db_bench_caller *caller, db_bench_output output) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = caller->precision;
    options.regions = caller->regions;
    options.region_count = caller->region_count;
    if (output != DB_BENCH_IMAGE) {
        options.parameters = db_bench_parameters;
        options.parameter_count = (size_t)caller->parameters;
    }
    return options;
}

db_status db_bench_caller_open(db_context *context, const db_bench_workload *workload,
                               db_precision precision, int parameters, db_bench_caller *caller) {
    memset(caller, 0, sizeof *caller);
    caller->context = context;
    caller->precision = precision;
    caller->parameters = parameters;
    DB_TRY(db_bench_experiment(context, workload, &caller->experiment));
    DB_TRY(db_bench_regions(context, workload, &caller->regions));
    caller->region_count = caller->regions ? (size_t)workload->load->boxes : 0;
    const db_plan_options options = plan_options(caller, DB_BENCH_DERIVATIVES);
    return db_plan_create(context, &caller->experiment, &options, &caller->plan);
}

void db_bench_caller_close(db_bench_caller *caller) {
    db_plan_destroy(&caller->plan);
    db_experiment_clear(&caller->experiment);
    free(caller->regions);
    caller->regions = NULL;
}

static db_status render(db_plan *plan, db_bench_output output, const db_bench_images *images) {
    double chi2, gradient[DB_BENCH_MORE_PARAMETERS],
        curvature[DB_BENCH_MORE_PARAMETERS * DB_BENCH_MORE_PARAMETERS];
    if (output == DB_BENCH_IMAGE) return db_plan_forward(plan, images->image);
    if (output == DB_BENCH_DERIVATIVES)
        return db_plan_gradient(plan, images->image, images->derivative);
    return db_plan_normal(plan, images->image, NULL, &chi2, gradient, curvature);
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
