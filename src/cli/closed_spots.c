/* Automatic choices for spots in closed form. Bounds: docs/theory/spots.md, Limits and Where first
 * order ends. */
#include "cli/closed_spots.h"

#include "base/shown_text.h"
#include "base/context_internal.h"
#include "engine/spot_oversample.h"

#include <dualbragg/spots.h>
#include <dualbragg/expert/spot_places.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERATED = 1e-6; /* of the brightest peak */

typedef struct {
    db_context *context;
    db_settings *settings;
    db_experiment *experiment;
    db_notices *notices;
} run;

static void note_spots(const run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note_spots(const run *r, const char *format, ...) {
    char line[400];
    va_list arguments;
    if (r->settings->quiet) return;
    va_start(arguments, format);
    db_shown_vformat(line, sizeof line, format, arguments);
    va_end(arguments);
    db_notices_add(r->notices, line);
}

/* Photons in the brightest pixel of any spot; at most those of the whole spot. */
static double brightest_peak(const db_predicted_spots *list) {
    const double two_pi = 6.283185307179586476925;
    double brightest = 0;
    for (size_t i = 0; i < list->count; i++) {
        const double *const v = list->spot[i].covariance;
        const double area = two_pi * sqrt(fmax(v[0] * v[1] - v[2] * v[2], 0));
        brightest = fmax(brightest, list->spot[i].photons / fmax(area, 1));
    }
    return isfinite(brightest) ? brightest : 0;
}

/* Most sub-pixels of the automatic choice, and in a note. */
enum { MOST_CHOSEN = 16, MOST_NAMED = 100 };

static const double TOLERATED_SUM = 0.01; /* of a spot's photons */

/* Sub-pixels for the shape of spots; more if their photons need it. error: of the photons with the chosen number.
 * Spots rendered by whole pixels are too wide, so they are listed again with fine ones. */
static db_status narrow_spots(const run *r, int shape, int *sums, double *error) {
    const int given = r->settings->setup.oversample != 0;
    int *const chosen = &r->experiment->oversample;
    db_experiment fine = *r->experiment; /* borrows its lists */
    db_predicted_spots list;
    fine.oversample = MOST_CHOSEN;
    DB_TRY(db_spots_predict(r->context, &fine, NULL, &list));
    db_status status =
        db_spots_oversample_for_sums(r->context, &list, TOLERATED_SUM, MOST_NAMED, sums);
    if (status == DB_OK && !given)
        *chosen = *sums > MOST_CHOSEN ? MOST_CHOSEN : *sums > shape ? *sums : shape;
    if (status == DB_OK) status = db_spots_error_of_sums(r->context, &list, *chosen, error);
    db_predicted_spots_clear(&list);
    return status;
}

static db_status choose_oversample(const run *r, const db_predicted_spots *list) {
    const int given = r->settings->setup.oversample != 0;
    int *const chosen = &r->experiment->oversample, shape, sums = 0;
    double narrow, error;
    if (list->count == 0) return DB_OK;
    DB_TRY(db_spots_oversample(r->context, list, DB_SPOT_SHAPE_ERROR, &shape, &narrow));
    if (!given) *chosen = shape;
    DB_TRY(db_spots_error_of_sums(r->context, list, *chosen, &error));
    if (error > TOLERATED_SUM) DB_TRY(narrow_spots(r, shape, &sums, &error));
    if (!given && *chosen > 1)
        note_spots(r, "auto-selected %d-fold oversampling: spots are as narrow as %.2g pixels rms",
                   *chosen, narrow);
    if (error > TOLERATED_SUM)
        note_spots(r,
                   "sub-pixels of 1/%d pixel are coarse for spots with a recorded width of %.2g "
                   "pixels rms: "
                   "their photons are wrong by up to %.2g %%; -oversample %d is enough",
                   *chosen, narrow, 100 * error, sums);
    return DB_OK;
}

/* Error of the spots' width by the blocks' size along their longest edge, by strain and by bandwidth, for nodes
 * one standard deviation off the sphere. */
static double error_by_bandwidth(const db_experiment *e, double finest) {
    const db_spread *const s = &e->spread;
    double longest = 0;
    for (int i = 0; i < 3; i++) longest = fmax(longest, e->crystal.Ncells[i] * e->crystal.cell[i]);
    const double r = 1 / finest, size = 0.4 / longest, bandwidth = 1e-6 * s->bandwidth,
                 along = sqrt(size * size + r * r * (bandwidth + 1e-6 * s->strain));
    return exp(-0.5) * r / along * 2 * bandwidth;
}

/* Rotations of blocks about the axis with the widest ones, with tails (degree). */
static double widest_rotations(const db_spread *s) {
    double variance = 0, tail = 1;
    for (int i = 0; i < 3; i++) variance = fmax(variance, s->mosaic + s->mosaic_tensor[i]);
    for (int k = 0; k < s->tails; k++) tail = fmax(tail, s->tail_width[k]);
    return tail * sqrt(variance);
}

static void warn_of_spots(const run *r, const db_predicted_spots *list) {
    const double most_error = 0.01, most_rotations = 2;
    double finest = INFINITY;
    for (size_t i = 0; i < list->count; i++) finest = fmin(finest, list->spot[i].resolution);
    const double error = list->count ? error_by_bandwidth(r->experiment, finest) : 0,
                 rotations = widest_rotations(&r->experiment->spread);
    if (error > most_error)
        note_spots(
            r,
            "a bandwidth this wide makes spots in closed form wrong by up to about %.2g %% of "
            "their peaks (at %.3g A): use a spectrum of several sources of a narrow bandwidth "
            "each, or -spots sampled",
            100 * error, finest);
    if (rotations > most_rotations)
        note_spots(
            r,
            "mosaic rotations of %.3g degree rms are wide for spots in closed form (more than %g "
            "degree): spots may be wrong by some %% of their peaks; compare with -spots sampled",
            rotations, most_rotations);
}

static db_status choose_tolerance(const run *r, double *tolerance) {
    db_predicted_spots list;
    db_enter_stage(r->context, "spots");
    db_status status = db_spots_predict(r->context, r->experiment, NULL, &list);
    db_leave_stage(r->context, "spots");
    if (status == DB_OK) {
        warn_of_spots(r, &list);
        status = choose_oversample(r, &list);
    }
    if (status == DB_OK && isnan(*tolerance) && strcmp(r->settings->command, "check") != 0) {
        *tolerance = TOLERATED * brightest_peak(&list);
        r->settings->tolerance_chosen_at = r->experiment->beam.fluence * r->experiment->beam.scale;
        note_spots(r,
                   "auto-selected tolerance of %.2g photons per pixel: 1e-6 of the brightest "
                   "spot's peak",
                   *tolerance);
    }
    db_predicted_spots_clear(&list);
    return status;
}

db_status db_closed_spots_prepare(db_context *context, db_settings *settings,
                                  db_experiment *experiment, db_notices *notices) {
    const run r = { context, settings, experiment, notices };
    double *const tolerance = &settings->tolerance;
    const int closed =
        experiment->spread.spots == DB_SPOTS_CLOSED && experiment->detector.panel_count > 0;
    const db_status status = closed ? choose_tolerance(&r, tolerance) : DB_OK;
    if (isnan(*tolerance)) *tolerance = 0;
    return status;
}
