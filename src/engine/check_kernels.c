/* The check of all kernels against the oracle. */
#include "engine/check_state.h"
#include "engine/gradient_check.h"
#include "engine/plan_state.h"
#include "engine/plan_oracle.h"
#include "engine/slope_bound.h"
#include "engine/plan_kinds.h"

#include <stdlib.h>
#include <dualbragg/expert/oracle.h>

enum { PROBES = 2 };

/* In units of a derivative's natural size: a larger change by a small probe shows a kink or jump. */
static const double JUMP = 0.05;

/* A plan of some of the parameters, and room for its images. */
typedef struct {
    db_plan *plan;
    size_t count, number[DB_CHECK_MOST]; /* of parameters: their numbers in the check */
    double *values;                      /* [count + 1][pixels] */
    double *image[DB_CHECK_MOST];
} trial;

static void destroy_trial(trial *t) {
    db_plan_destroy(&t->plan);
    free(t->values);
}

static int belongs_to_kind(const db_check *c, size_t k, int set) {
    const unsigned moves = db_parameter_moves(c->experiment, c->parameters[k]);
    if (set != DB_CHECK_ALL && (unsigned)c->parameters[k] >= DB_PARAMETER_COUNT) return 0;
    return set != DB_CHECK_WITHOUT_CELLS || !(moves & DB_MOVES_CELLS);
}

static db_status create_trial(db_check *c, const db_check_pixels *pixels, int set, int way,
                              trial *t) {
    db_parameter parameters[DB_CHECK_MOST];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    *t = (trial){ 0 };
    for (size_t k = 0; k < c->count; k++)
        if (belongs_to_kind(c, k, set)) {
            parameters[t->count] = c->parameters[k];
            t->number[t->count++] = k;
        }
    if (t->count == 0) return DB_OK;
    options.pixel_type = DB_FLOAT64;
    options.precision = way == DB_CHECK_MIXED || way == DB_CHECK_MIXED_CUT ? DB_PRECISION_MIXED
                                                                           : DB_PRECISION_DOUBLE;
    options.tolerance = way >= DB_CHECK_DOUBLE_CUT ? c->cut : 0;
    options.parameters = parameters;
    options.parameter_count = t->count;
    options.regions = pixels->strip;
    options.region_count = pixels->strips;
    DB_TRY(db_plan_create(&c->context, c->experiment, &options, &t->plan));
    t->values = calloc((t->count + 1) * pixels->pixels, sizeof *t->values);
    if (!t->values) return db_fail_memory(&c->context, "the images of a check");
    for (size_t k = 0; k <= t->count; k++) t->image[k] = t->values + k * pixels->pixels;
    return DB_OK;
}

static db_status gradient(const db_check *c, const trial *t, size_t pixels) {
    DB_TRY(db_plan_gradient(t->plan, t->image[t->count], (void *const *)t->image));
    for (size_t k = 0; k < t->count && c->options->falsify; k++)
        c->options->falsify(c->options->falsify_user, 0, c->parameters[t->number[k]], t->image[k],
                            pixels);
    return DB_OK;
}

static db_status largest_values(db_check *c, const db_check_pixels *pixels) {
    trial t;
    db_status status = create_trial(c, pixels, DB_CHECK_ALL, DB_CHECK_DOUBLE, &t);
    if (status == DB_OK) status = gradient(c, &t, pixels->pixels);
    for (size_t k = 0; status == DB_OK && k <= t.count; k++)
        for (size_t i = 0; i < pixels->pixels; i++)
            db_check_keep_worst(&c->largest[k], fabs(t.image[k][i]));
    if (status == DB_OK) c->largest_index = t.plan->job.largest_index;
    destroy_trial(&t);
    return status;
}

static db_status largest_slopes(db_check *c, const db_check_pixels *pixels) {
    trial t;
    db_status status = create_trial(c, pixels, DB_CHECK_ALL, DB_CHECK_DOUBLE, &t);
    if (status == DB_OK) status = db_plan_slope_bounds(t.plan, t.image);
    for (size_t k = 0; status == DB_OK && k < t.count; k++)
        for (size_t i = 0; i < pixels->pixels; i++)
            if (isfinite(t.image[k][i])) c->slope[k] = fmax(c->slope[k], t.image[k][i]);
    destroy_trial(&t);
    return status;
}

db_status db_check_scan(db_check *c, const db_check_pixels *pixels, double sloped) {
    db_check_pixels some = { 0 };
    DB_TRY(largest_values(c, pixels));
    db_status status = db_check_pixels_thin(&c->context, pixels, sloped, &some);
    if (status == DB_OK) status = largest_slopes(c, &some);
    db_check_pixels_clear(&some);
    return status;
}

/* Finds pixels where a probe changes a result by more than in proportion, and the largest change of
 * the others. */
static void take_probe(db_check *c, const trial *t, db_check_batch *b, double *largest) {
    const size_t pixels = b->pixels->pixels;
    for (size_t k = 0; k <= c->count; k++)
        for (size_t i = 0; i < pixels; i++)
            if (fabs(t->image[k][i] - b->oracle[k][i]) > JUMP * fmax(c->unit[k], c->natural[k]))
                b->jumps[i] = 1;
    for (size_t k = 0; k <= c->count; k++)
        for (size_t i = 0; i < pixels; i++)
            if (!b->jumps[i])
                db_check_keep_worst(&largest[k], fabs(t->image[k][i] - b->oracle[k][i]));
}

static db_status ask_oracle(db_check *c, db_check_batch *b) {
    trial t;
    db_status status = create_trial(c, b->pixels, DB_CHECK_ALL, DB_CHECK_DOUBLE, &t);
    if (status == DB_OK) status = db_plan_slope_bounds(t.plan, b->slope);
    if (status == DB_OK) status = db_plan_oracle(t.plan, b->oracle[c->count], b->oracle);
    for (unsigned n = 0; n < 2 * PROBES && status == DB_OK; n++) {
        const db_probed probed = n < PROBES ? DB_PROBE_INDICES : DB_PROBE_FINE;
        status = db_plan_probe_rounding(t.plan, probed, n, t.image[t.count], t.image);
        if (status == DB_OK)
            take_probe(c, &t, b, probed == DB_PROBE_FINE ? c->probed_fine : c->probed);
    }
    for (size_t k = 0; k < c->count && status == DB_OK && c->options->falsify; k++)
        c->options->falsify(c->options->falsify_user, 1, c->parameters[k], b->oracle[k],
                            b->pixels->pixels);
    destroy_trial(&t);
    return status;
}

/* The error of a value beyond what the tolerance allows. An image may lack up to `less`, and must not exceed the
 * oracle; a derivative may differ by `less` in either direction. */
static double wrong_by(double tried, double oracle, double less, int derivative) {
    if (less == 0) return fabs(tried - oracle);
    if (derivative) return fabs(tried - oracle) - less;
    return fmax(tried - oracle, oracle - tried - less);
}

static void compare_with_oracle(db_check *c, const trial *t, const db_check_batch *b, size_t n,
                                double *worst) {
    const size_t k = n < t->count ? t->number[n] : c->count;
    const double cut = t->plan->tolerance;
    for (size_t i = 0; i < b->pixels->pixels; i++) {
        if (b->jumps[i]) continue;
        const double less = cut == 0 ? 0 : k < c->count ? cut * b->slope[k][i] : cut;
        db_check_keep_worst(worst, wrong_by(t->image[n][i], b->oracle[k][i], less, k < c->count));
        if (cut > 0 && k == c->count)
            c->lacking = fmax(c->lacking, b->oracle[k][i] - t->image[n][i]);
    }
}

static db_status try_kernel(db_check *c, const db_check_batch *b, int set, int way,
                            unsigned *tried) {
    trial t;
    db_status status = create_trial(c, b->pixels, set, way, &t);
    /* tophat: rounding moves pixels over the edges of spots */
    const int wanted = status == DB_OK && t.count &&
                       (way < DB_CHECK_DOUBLE_CUT || t.plan->job.cuts || t.plan->spots) &&
                       (c->experiment->crystal.shape != DB_SHAPE_TOPHAT ||
                        t.plan->precision == DB_PRECISION_DOUBLE);
    const unsigned kind = wanted ? 1u << db_plan_gradient_kind(t.plan) : 0;
    if (wanted && !(*tried & kind)) {
        db_check_values *const worst = &c->worst[set][way];
        *tried |= kind;
        c->used[set][way] = 1;
        status = gradient(c, &t, b->pixels->pixels);
        for (size_t n = 0; n <= t.count && status == DB_OK; n++)
            compare_with_oracle(c, &t, b, n, &(*worst)[n < t.count ? t.number[n] : c->count]);
        if (status == DB_OK) status = db_plan_forward(t.plan, t.image[t.count]);
        if (status == DB_OK) compare_with_oracle(c, &t, b, t.count, &(*worst)[c->count]);
    }
    destroy_trial(&t);
    return status;
}

db_status db_check_kernels(db_check *c, db_check_batch *b) {
    DB_TRY(ask_oracle(c, b));
    for (int way = 0; way < DB_CHECK_WAYS; way++) {
        unsigned tried = 0; /* kinds of kernels */
        for (int set = 0; set < DB_CHECK_SETS; set++) DB_TRY(try_kernel(c, b, set, way, &tried));
    }
    c->tried += b->pixels->pixels;
    for (size_t i = 0; i < b->pixels->pixels; i++) c->jumping += b->jumps[i];
    return DB_OK;
}
