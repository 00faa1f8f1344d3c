/* Detector conventions, beam centres and pivots (model.md 5). */
#include "model/setup_parts.h"

#include "core/context_internal.h"
#include "model/model.h"

#include <string.h>

static const double COUNT_LIMIT = 1e6;
static const double ORTHOGONAL = 1e-3; /* cosine: vectors typed with three digits or more */

/* Axes and pivot of each convention; those of CUSTOM stand in for vectors left open. */
static const struct {
    double beam[3], fast[3], slow[3], normal[3], twotheta[3], polarization[3], spindle[3];
    db_pivot pivot;
} conventions[DB_CONVENTION_COUNT] = {
    // clang-format off
    [DB_CONVENTION_MOSFLM] = {
        {1, 0, 0}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0}, {0, 0, -1}, {0, 0, 1}, {0, 0, 1}, DB_PIVOT_BEAM },
    [DB_CONVENTION_DENZO] = {
        {1, 0, 0}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0}, {0, 0, -1}, {0, 0, 1}, {0, 0, 1}, DB_PIVOT_BEAM },
    [DB_CONVENTION_ADXV] = {
        {0, 0, 1}, {1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {-1, 0, 0}, {1, 0, 0}, {1, 0, 0}, DB_PIVOT_BEAM },
    [DB_CONVENTION_XDS] = {
        {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, DB_PIVOT_SAMPLE },
    [DB_CONVENTION_DIALS] = {
        {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, DB_PIVOT_SAMPLE },
    [DB_CONVENTION_CUSTOM] = {
        {1, 0, 0}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}, DB_PIVOT_BEAM },
    // clang-format on
};

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *r) {
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

static int any_vector_given(const db_setup *s) {
    return db_setup_given(s->fast_axis[0]) || db_setup_given(s->slow_axis[0]) ||
           db_setup_given(s->normal[0]) || db_setup_given(s->beam_axis[0]) ||
           db_setup_given(s->polarization_axis[0]) || db_setup_given(s->spindle_axis[0]) ||
           db_setup_given(s->twotheta_axis[0]) || db_setup_given(s->origin[0]);
}

static db_convention effective_convention(const db_setup *setup, const db_setup_notes *notes) {
    if (setup->convention == DB_CONVENTION_CUSTOM || !any_vector_given(setup))
        return setup->convention;
    db_setup_note(notes,
                  "vectors given: convention custom instead of %s; vectors left open are those of "
                  "mosflm (two-theta "
                  "axis 0 1 0) and the beam centre counts from the corner of the first pixel",
                  db_convention_name(setup->convention));
    return DB_CONVENTION_CUSTOM;
}

/* The user's vector made a unit vector, or the stand-in if it was left open. */
static db_status take_vector(db_context *context, const char *name, const double given[3],
                             const double otherwise[3], double vector[3]) {
    const double *from = db_setup_given(given[0]) ? given : otherwise;
    const double length = sqrt(dot(from, from));
    if (!(length > 0 && isfinite(length)))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a vector of finite length other than 0, found (%g, %g, %g)",
                       name, from[0], from[1], from[2]);
    for (int i = 0; i < 3; i++) vector[i] = from[i] / length;
    return DB_OK;
}

static db_status check_orthogonal(db_context *context, const char *name, const double *a,
                                  const char *other, const double *b) {
    const double cosine = dot(a, b);
    if (fabs(cosine) <= ORTHOGONAL) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "detector: expected %s and %s to be perpendicular, found a cosine of %g", name,
                   other, cosine);
}

/* The outward normal: the user's, or the one of fast x slow, -fast x slow that points along the
 * beam. */
static db_status custom_normal(db_context *context, const db_setup *setup, const double *beam,
                               db_detector *detector) {
    double outward[3];
    cross(detector->fast_axis, detector->slow_axis, outward);
    if (dot(outward, beam) < 0)
        for (int i = 0; i < 3; i++) outward[i] = -outward[i];
    DB_TRY(take_vector(context, "detector normal (odet_vector)", setup->normal, outward,
                       detector->normal));
    DB_TRY(check_orthogonal(context, "the normal", detector->normal, "the fast axis",
                            detector->fast_axis));
    return check_orthogonal(context, "the normal", detector->normal, "the slow axis",
                            detector->slow_axis);
}

static db_status axes(db_context *context, const db_setup *s, db_convention convention,
                      db_experiment *e) {
    db_detector *const d = &e->detector;
    const double *beam = conventions[convention].beam;
    DB_TRY(take_vector(context, "beam vector", s->beam_axis, beam, e->beam.direction));
    DB_TRY(take_vector(context, "polarization vector", s->polarization_axis,
                       conventions[convention].polarization, e->beam.polarization_axis));
    DB_TRY(take_vector(context, "spindle axis", s->spindle_axis, conventions[convention].spindle,
                       e->goniometer.spindle_axis));
    DB_TRY(take_vector(context, "two-theta axis", s->twotheta_axis,
                       conventions[convention].twotheta, d->twotheta_axis));
    DB_TRY(take_vector(context, "detector fast axis (fdet_vector)", s->fast_axis,
                       conventions[convention].fast, d->fast_axis));
    DB_TRY(take_vector(context, "detector slow axis (sdet_vector)", s->slow_axis,
                       conventions[convention].slow, d->slow_axis));
    DB_TRY(check_orthogonal(context, "the fast axis", d->fast_axis, "the slow axis", d->slow_axis));
    if (convention == DB_CONVENTION_CUSTOM) return custom_normal(context, s, e->beam.direction, d);
    memcpy(d->normal, conventions[convention].normal, sizeof d->normal);
    return DB_OK;
}

/* Pixel counts; size[] is that of the plate (mm), which need not be a whole number of pixels (5.1).
 */
static db_status panel_size(db_context *context, const db_setup *setup, db_panel *panel,
                            double size[2]) {
    static const char *const names[2] = { "fast", "slow" };
    const double pixel = setup->pixel_size;
    int *const counts[2] = { &panel->fast_pixels, &panel->slow_pixels };
    if (!(pixel > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "pixel size: expected a positive number (mm), found %g", pixel);
    for (int i = 0; i < 2; i++) {
        panel->pixel_size[i] = pixel;
        if (setup->detector_pixels[i] < 0)
            return db_fail(context, DB_ERROR_INPUT,
                           "detector pixels (%s): expected a positive number, found %d", names[i],
                           setup->detector_pixels[i]);
        if (setup->detector_pixels[i] > 0) {
            *counts[i] = setup->detector_pixels[i];
            size[i] = pixel * setup->detector_pixels[i];
            continue;
        }
        size[i] = setup->detector_size[i];
        const double count = db_setup_intervals(size[i] - 0.5 * pixel, pixel);
        if (!(size[i] > 0 && count >= 1))
            return db_fail(
                context, DB_ERROR_INPUT,
                "detector size (%s): expected at least half a pixel (%g mm), found %g mm", names[i],
                0.5 * pixel, size[i]);
        if (!(count < COUNT_LIMIT))
            return db_fail(context, DB_ERROR_INPUT,
                           "detector size (%s): %g mm are too many pixels of %g mm", names[i],
                           size[i], pixel);
        *counts[i] = (int)count;
    }
    return DB_OK;
}

/* The point closest to the sample: given in mm, or in pixels as XDS does, or the middle (5.2). */
static void near_point(const db_setup *setup, const double size[2], double centre[2]) {
    for (int i = 0; i < 2; i++)
        centre[i] = db_setup_given(setup->close_point[i]) ? setup->close_point[i]
                    : db_setup_given(setup->org[i]) ? (setup->org[i] - 0.5) * setup->pixel_size
                                                    : size[i] / 2;
}

/* X, Y in the convention's meaning -> direct beam along fast, slow (5.3). */
static void beam_point(const db_setup *setup, db_convention convention, const double size[2],
                       double centre[2]) {
    const double p = setup->pixel_size;
    double standard[2];
    near_point(setup, size, standard);
    if (convention == DB_CONVENTION_MOSFLM || convention == DB_CONVENTION_DENZO) {
        standard[0] = (size[1] + p) / 2;
        standard[1] = (size[0] + p) / 2;
    } else if (convention == DB_CONVENTION_ADXV) {
        standard[0] = (size[0] + p) / 2;
        standard[1] = (size[1] - p) / 2;
    }
    const double x = db_setup_given(setup->beam_centre[0]) ? setup->beam_centre[0] : standard[0];
    const double y = db_setup_given(setup->beam_centre[1]) ? setup->beam_centre[1] : standard[1];
    switch (convention) {
    case DB_CONVENTION_MOSFLM:
        centre[0] = y + p / 2;
        centre[1] = x + p / 2;
        break;
    case DB_CONVENTION_DENZO:
        centre[0] = y;
        centre[1] = x;
        break;
    case DB_CONVENTION_ADXV:
        centre[0] = x;
        centre[1] = size[1] - y;
        break;
    default:
        centre[0] = x;
        centre[1] = y;
        break;
    }
}

/* Beam centre for pivot beam, near point for pivot sample. What the user says must have a meaning
 * there. */
static db_status centre(db_context *context, const db_setup *s, db_convention convention,
                        const double size[2], db_detector *detector, const db_setup_notes *notes) {
    const int beam_given = db_setup_given(s->beam_centre[0]) || db_setup_given(s->beam_centre[1]),
              near_given = db_setup_given(s->close_point[0]) || db_setup_given(s->close_point[1]) ||
                           db_setup_given(s->org[0]) || db_setup_given(s->org[1]);
    if (convention == DB_CONVENTION_CUSTOM) { /* one point serves as both */
        if (beam_given && near_given)
            db_setup_note(
                notes, "beam centre and near point given: the beam centre is used where both are");
        beam_point(s, convention, size, detector->centre);
        return DB_OK;
    }
    const char *name = db_convention_name(convention);
    if (beam_given && near_given)
        return db_fail(context, DB_ERROR_INPUT,
                       "detector: a beam centre (Xbeam, Ybeam) and a near point (Xclose, Yclose, "
                       "ORGX, ORGY) exclude "
                       "each other in convention %s",
                       name);
    if (detector->pivot == DB_PIVOT_SAMPLE) {
        if (!beam_given) {
            near_point(s, size, detector->centre);
            return DB_OK;
        }
        /* on the detector before rotations both are the same point: the beam runs along the normal
         */
        db_setup_note(
            notes,
            "beam centre given with the pivot at the sample: taken as that of the detector before "
            "rotations, i.e. as its near point");
    } else if (near_given && conventions[convention].pivot == DB_PIVOT_BEAM) {
        return db_fail(context, DB_ERROR_INPUT,
                       "detector: a near point (Xclose, Yclose, ORGX, ORGY) has no meaning in "
                       "convention %s with the "
                       "pivot at the direct beam; use Xbeam and Ybeam, or pivot sample",
                       name);
    }
    beam_point(s, convention, size, detector->centre);
    return DB_OK;
}

static db_status distance(db_context *context, const db_setup *setup, db_detector *detector,
                          const db_setup_notes *notes) {
    detector->distance_is_close = db_setup_given(setup->close_distance);
    detector->distance = detector->distance_is_close       ? setup->close_distance
                         : db_setup_given(setup->distance) ? setup->distance
                                                           : 100;
    if (!(detector->distance > 0))
        return db_fail(
            context, DB_ERROR_INPUT, "detector %s: expected a positive number (mm), found %g",
            detector->distance_is_close ? "close distance" : "distance", detector->distance);
    if (detector->distance_is_close && db_setup_given(setup->distance))
        db_setup_note(notes, "distance and close distance given: the close distance is used");
    return DB_OK;
}

/* Distance and centre such that the corner of the first pixel lies at r0 (mm), whatever the
 * rotations: solves r0 = distance * leg - F f - S s, the leg along the beam (pivot beam) or along
 * the normal (pivot sample). */
static db_status place_origin(db_context *context, const double r0[3], db_experiment *experiment) {
    db_detector *const detector = &experiment->detector;
    db_panel_interface placed;
    /* with these the origin is the end of a leg of 1 m, the axes being turned */
    detector->distance = 1000;
    detector->distance_is_close = detector->pivot == DB_PIVOT_SAMPLE;
    detector->centre[0] = detector->centre[1] = 0;
    db_model_panels(experiment, &placed);
    const double f[3] = { placed.fast.x.v, placed.fast.y.v, placed.fast.z.v },
                 s[3] = { placed.slow.x.v, placed.slow.y.v, placed.slow.z.v },
                 leg[3] = { placed.origin.x.v, placed.origin.y.v, placed.origin.z.v };
    double n[3], n_f[3], s_n[3], rest[3];
    cross(f, s, n);
    cross(n, f, n_f);
    cross(s, n, s_n);
    if (!(fabs(dot(leg, n)) > 1e-9))
        return db_fail(context, DB_ERROR_INPUT,
                       "detector origin (pix0_vector): the beam runs parallel to the detector");
    detector->distance = dot(r0, n) / dot(leg, n);
    if (!(detector->distance > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "detector origin (pix0_vector): expected the detector in front of the "
                       "sample, found it at %g mm",
                       detector->distance);
    for (int i = 0; i < 3; i++) rest[i] = r0[i] - detector->distance * leg[i];
    detector->centre[0] = -dot(rest, s_n) / dot(n, n);
    detector->centre[1] = -dot(rest, n_f) / dot(n, n);
    return DB_OK;
}

static db_status custom_origin(db_context *context, const db_setup *setup,
                               db_experiment *experiment, const db_setup_notes *notes) {
    double r0[3];
    for (int i = 0; i < 3; i++) {
        r0[i] = 1e3 * setup->origin[i];
        if (!isfinite(r0[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "detector origin (pix0_vector): expected finite numbers, found %g",
                           setup->origin[i]);
    }
    if (db_setup_given(setup->distance) || db_setup_given(setup->close_distance) ||
        db_setup_given(setup->beam_centre[0]) || db_setup_given(setup->close_point[0]) ||
        db_setup_given(setup->org[0]))
        db_setup_note(notes, "detector origin given: distance and beam centre follow from it");
    return place_origin(context, r0, experiment);
}

db_status db_setup_detector(db_context *context, const db_setup *setup, db_experiment *experiment,
                            const db_setup_notes *notes) {
    db_detector *const detector = &experiment->detector;
    if ((unsigned)setup->convention >= DB_CONVENTION_COUNT)
        return db_fail(context, DB_ERROR_USAGE, "detector convention: unknown value %d",
                       (int)setup->convention);
    const db_convention convention = effective_convention(setup, notes);
    const int has_origin = db_setup_given(setup->origin[0]);
    double size[2];
    DB_TRY(axes(context, setup, convention, experiment));
    DB_TRY(panel_size(context, setup, &detector->panels[0], size));
    detector->pivot = conventions[convention].pivot;
    if (convention == DB_CONVENTION_CUSTOM && setup->pivot_hint >= 0 && !has_origin)
        detector->pivot = (db_pivot)setup->pivot_hint;
    if (setup->pivot >= 0) detector->pivot = (db_pivot)setup->pivot;
    memcpy(detector->rotation, setup->rotation, sizeof detector->rotation);
    detector->twotheta = setup->twotheta;
    DB_TRY(distance(context, setup, detector, notes));
    DB_TRY(centre(context, setup, convention, size, detector, notes));
    return has_origin ? custom_origin(context, setup, experiment, notes) : DB_OK;
}
