/* Recommends a precision: tries both on some pixels of the job. */
#include "engine/precision.h"

#include "engine/plan_state.h"
#include "engine/spot_places.h"
#include "engine/trial_pixels.h"
#include "engine/plan_create.h"
#include "engine/plan_cut.h"

#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Promised errors of mixed precision, relative to the image's maximum and to each derivative image's largest
 * value. */
static const double IMAGE_BOUND = 1e-6, DERIVATIVE_BOUND = 1e-5;

/* Factors from the largest error of trial pixels to that of all pixels; docs/reference/precision.md tests them. */
static const double SAFETY = 1.75, DERIVATIVE_SAFETY = 3;

/* Rounding of h moves a pixel along the fringes of its spot; the error that makes stays below 1e-6
 * of a perfect peak. With few fringes the trial sees the worst of it; with many it is in rare
 * pixels, and counts unless the image has a nearly perfect peak to be compared to. */
static const double FEW_CELLS = 5, NEARLY_PERFECT = 0.2;

/* Number of samples that double precision renders in about 15 ms on two processors. */
static const double SMALL_JOB = 8.0 * (1 << 20);

/* Fraction of the job's samples that the trial renders. */
static const double SHARE = 1.0 / 64;

/* With fewer pixels the trial would be a large part of the job. */
static const double FEWEST_PIXELS = 32768;

enum { FEWEST_STRIPS = 64, MOST_STRIPS = 1024, CANDIDATES_PER_STRIP = 8 };

/* Expected largest errors, relative to the largest values; INFINITY: there is nothing to compare. */
typedef struct expected_errors {
    double image, derivative; /* of the worst derivative image */
    db_parameter worst;
    double peak_part; /* brightest trial pixel, in parts of a perfect peak */
} expected_errors;

/* Everything that one trial allocates. */
typedef struct trial {
    db_context *context;
    db_region *whole; /* all panels, if the options name no regions */
    const db_region *regions;
    size_t region_count, strip_count;
    db_region *strips;
    db_plan *plan;
    size_t images, elements; /* image and derivatives; elements of each */
    double *exact;
    double *tried;
    void **exact_derivative;
    void **tried_derivative;
} trial;

static void release_trial(trial *t) {
    free(t->whole);
    free(t->strips);
    db_plan_destroy(&t->plan);
    free(t->exact);
    free(t->tried);
    free(t->exact_derivative);
    free(t->tried_derivative);
}

static db_status take_regions(trial *t, const db_experiment *e, const db_plan_options *options) {
    DB_TRY(db_experiment_check(t->context, e));
    if (!options->regions) t->whole = db_whole_panels(&e->detector);
    t->regions = options->regions ? options->regions : t->whole;
    t->region_count = options->regions ? options->region_count : e->detector.panel_count;
    if (!t->regions) return db_fail_memory(t->context, "trial regions");
    return db_regions_check(t->context, e, t->regions, t->region_count);
}

static size_t strips_for(const trial *t) {
    const double pixels = db_pixels_of(t->regions, t->region_count),
                 wanted = SHARE * pixels / DB_TRIAL_STRIP;
    return wanted < FEWEST_STRIPS ? FEWEST_STRIPS
           : wanted > MOST_STRIPS ? MOST_STRIPS
                                  : (size_t)wanted;
}

static db_status make_plan(trial *t, const db_experiment *e, const db_plan_options *given) {
    t->strips = malloc(t->strip_count * sizeof *t->strips);
    if (!t->strips) return db_fail_memory(t->context, "trial regions");
    db_trial_spread(t->regions, t->region_count, t->strips, t->strip_count);
    const int closed = e->spread.spots == DB_SPOTS_CLOSED;
    if (closed)
        DB_TRY(db_trial_take_spots(t->context, e, t->regions, t->region_count, t->strips,
                                   t->strip_count / 8, t->strip_count));
    db_plan_options options = *given;
    options.precision = DB_PRECISION_DOUBLE;
    options.pixel_type = DB_FLOAT64;
    options.tolerance = 0; /* left-out photons differ, too, but not by the precision */
    options.regions = t->strips;
    options.region_count = t->strip_count;
    DB_TRY(db_plan_create_on_processor(t->context, e, &options, &t->plan));
    if (closed) return DB_OK;
    return db_trial_move_to_spots(t->plan, t->regions, t->region_count, t->strip_count / 8,
                                  t->strip_count * CANDIDATES_PER_STRIP);
}

static db_status allocate_images(trial *t, size_t parameter_count) {
    t->images = parameter_count + 1;
    t->elements = t->strip_count * DB_TRIAL_STRIP;
    /* zeros where a strip is shorter than its place */
    t->exact = calloc(t->images * t->elements, sizeof *t->exact);
    t->tried = calloc(t->images * t->elements, sizeof *t->tried);
    t->exact_derivative = calloc(t->images, sizeof *t->exact_derivative);
    t->tried_derivative = calloc(t->images, sizeof *t->tried_derivative);
    if (!t->exact || !t->tried || !t->exact_derivative || !t->tried_derivative)
        return db_fail_memory(t->context, "trial images");
    for (size_t k = 0; k < parameter_count; k++) {
        t->exact_derivative[k] = t->exact + (k + 1) * t->elements;
        t->tried_derivative[k] = t->tried + (k + 1) * t->elements;
    }
    return DB_OK;
}

static db_status render_trial(const trial *t, double *image, void *const *derivatives) {
    return t->images > 1 ? db_plan_gradient(t->plan, image, derivatives)
                         : db_plan_forward(t->plan, image);
}

/* Largest error of image number i in parts of its largest value. */
static double relative_error(const trial *t, size_t i) {
    const double *exact = t->exact + i * t->elements;
    const double *tried = t->tried + i * t->elements;
    double largest = 0, error = 0;
    for (size_t j = 0; j < t->elements; j++) {
        const double difference = fabs(tried[j] - exact[j]);
        if (!isfinite(difference)) return INFINITY;
        if (difference > error) error = difference;
        if (fabs(exact[j]) > largest) largest = fabs(exact[j]);
    }
    return largest > 0 ? error / largest : error > 0 || i == 0 ? INFINITY : 0;
}

/* Solid angle (sr) of a pixel of a strip, at its first pixel. */
static double solid_angle_of(const db_plan *plan, const db_region *strip) {
    const db_kernel_panel *p = &plan->job.panel[strip->panel];
    double square = 0;
    for (int c = 0; c < 3; c++) {
        const double x = p->origin[c] + strip->fast_start * p->pixel_size[0] * p->fast[c] +
                         strip->slow_start * p->pixel_size[1] * p->slow[c];
        square += x * x;
    }
    if (plan->job.curved) return p->pixel_size[0] * p->pixel_size[1] / (p->radius * p->radius);
    return plan->job.point_pixel ? 1 / square
                                 : p->pixel_size[0] * p->pixel_size[1] / square; /* at most */
}

/* The perfect peak at the trial's largest solid angle. */
static double perfect_peak(const trial *t) {
    const db_plan *plan = t->plan;
    double angle = 0;
    for (size_t i = 0; i < t->strip_count; i++)
        angle = fmax(angle, solid_angle_of(plan, &plan->tiles.regions[i]));
    return plan->job.layers *
           db_perfect_peak(&plan->job, angle,
                           db_largest_intensity(&plan->experiment.structure_factors));
}

static void compare_precisions(const trial *t, const db_plan_options *options,
                               expected_errors *result) {
    double largest = 0;
    for (size_t j = 0; j < t->elements; j++) largest = fmax(largest, fabs(t->exact[j]));
    result->peak_part = largest / perfect_peak(t);
    result->image = SAFETY * relative_error(t, 0);
    result->derivative = 0;
    for (size_t k = 0; k < options->parameter_count; k++) {
        const double error = DERIVATIVE_SAFETY * relative_error(t, k + 1);
        if (error <= result->derivative) continue;
        result->derivative = error;
        result->worst = options->parameters[k];
    }
}

static db_status run_trial(trial *t, const db_experiment *e, const db_plan_options *options,
                           expected_errors *result) {
    DB_TRY(take_regions(t, e, options));
    t->strip_count = strips_for(t);
    DB_TRY(make_plan(t, e, options));
    DB_TRY(allocate_images(t, options->parameter_count));
    DB_TRY(render_trial(t, t->exact, t->exact_derivative));
    DB_TRY(db_plan_change_precision(t->plan, DB_PRECISION_MIXED));
    DB_TRY(render_trial(t, t->tried, t->tried_derivative));
    compare_precisions(t, options, result);
    return DB_OK;
}

static db_status try_pixels(db_context *context, const db_experiment *experiment,
                            const db_plan_options *options, expected_errors *result) {
    /* stages and progress of the trial are not reported */
    db_context quiet = *context;
    quiet.progress = NULL;
    quiet.stage = NULL;
    trial t = { .context = &quiet };
    const db_status status = run_trial(&t, experiment, options, result);
    release_trial(&t);
    if (status != DB_OK) db_record_message(context, "%s", quiet.message);
    return status;
}

static db_status advise_precision(db_precision_advice *advice, db_precision precision, double error,
                                  const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    advice->precision = precision;
    advice->error = error;
    vsnprintf(advice->reason, sizeof advice->reason, format, arguments);
    va_end(arguments);
    return DB_OK;
}

static void judge_precision(const expected_errors *errors, const db_experiment *e, size_t asked,
                            db_precision_advice *advice) {
    const double *n = e->crystal.Ncells;
    /* spots in closed form have no fringes */
    const double most_cells = e->spread.spots == DB_SPOTS_CLOSED ? 0 : fmax(n[0], fmax(n[1], n[2]));
    const double error = errors->image;
    char name[64];
    if (!isfinite(error))
        advise_precision(advice, DB_PRECISION_DOUBLE, error,
                         "pixels tried beforehand are dark or too bright");
    else if (error > IMAGE_BOUND)
        advise_precision(advice, DB_PRECISION_DOUBLE, error,
                         "mixed could be off by %.1g of the maximum", error);
    else if (most_cells > FEW_CELLS && !(errors->peak_part >= NEARLY_PERFECT))
        advise_precision(advice, DB_PRECISION_DOUBLE, error,
                         "no trial pixel is near a perfect peak of %g cells", most_cells);
    else if (most_cells > FEW_CELLS && asked)
        advise_precision(advice, DB_PRECISION_DOUBLE, error,
                         "derivatives by %g cells vary too fast to try", most_cells);
    else if (errors->derivative > DERIVATIVE_BOUND) {
        db_parameter_name(errors->worst, name, sizeof name);
        advise_precision(advice, DB_PRECISION_DOUBLE, error,
                         "mixed could be off by %.1g in the derivative by %.32s",
                         errors->derivative, name);
    } else
        advise_precision(advice, DB_PRECISION_MIXED, error, "within %.1g of the maximum",
                         IMAGE_BOUND);
}

db_status db_precision_by_trial(db_context *context, const db_experiment *experiment,
                                const db_plan_options *options, db_precision_advice *advice) {
    if (experiment->crystal.shape == DB_SHAPE_TOPHAT)
        return advise_precision(advice, DB_PRECISION_DOUBLE, NAN,
                                "rounding moves pixels across the edges of flat spots");
    expected_errors errors = { 0, 0, DB_PARAMETER_COUNT, 0 };
    DB_TRY(try_pixels(context, experiment, options, &errors));
    judge_precision(&errors, experiment, options->parameter_count, advice);
    return DB_OK;
}

/* The job's work in samples; in closed form the spots of pixels count. */
static db_status count_samples(db_context *context, const db_experiment *e,
                               const db_plan_options *given, double pixels, double *samples) {
    *samples = pixels * db_samples_per_pixel(e);
    if (e->spread.spots != DB_SPOTS_CLOSED || pixels < FEWEST_PIXELS) return DB_OK;
    double spots;
    DB_TRY(db_spot_pixels_of(context, e, given->regions, given->region_count, given->tolerance,
                             &spots, &pixels));
    *samples = spots * db_samples_per_pixel(e);
    return DB_OK;
}

/* Jobs that need no trial. */
static int plain_case(const db_experiment *e, double pixels, double samples,
                      db_precision_advice *advice) {
    const char *reason = NULL;
    if (e->reference.on)
        reason = "-compat has no mixed arithmetic";
    else if (samples < SMALL_JOB)
        reason = "the job is small";
    else if (pixels < FEWEST_PIXELS)
        reason = "too few pixels to try mixed on some";
    if (reason) advise_precision(advice, DB_PRECISION_DOUBLE, NAN, "%s", reason);
    return reason != NULL;
}

db_status db_precision_recommend(db_context *context, const db_experiment *experiment,
                                 const db_plan_options *options, db_precision_advice *advice) {
    const db_plan_options defaults = DB_PLAN_OPTIONS_INIT;
    if (!options) options = &defaults;
    DB_TRY(db_plan_options_check(context, options));
    DB_TRY(db_experiment_check(context, experiment));
    if (options->regions)
        DB_TRY(db_regions_check(context, experiment, options->regions, options->region_count));
    const double pixels = options->regions ? db_pixels_of(options->regions, options->region_count)
                                           : (double)db_experiment_pixels(experiment);
    double samples;
    DB_TRY(count_samples(context, experiment, options, pixels, &samples));
    if (plain_case(experiment, pixels, samples, advice)) return DB_OK;
    DB_TRY_STAGE(context, "precision", db_precision_by_trial(context, experiment, options, advice));
    return DB_OK;
}
