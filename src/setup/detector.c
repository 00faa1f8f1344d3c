/* The detector: its parts, distance, origin (docs/theory/detector.md, Placement), and its place in the reference
 * program. */
#include "setup/parts.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "model/model.h"

#include <float.h>
#include <string.h>

/* A normal whose length is not exactly 1 is replaced by fast x slow, even if this points the other way. */
static void regenerated_normal(const db_setup *setup, db_detector *detector) {
    const double *const given = setup->normal;
    if (!db_setup_given(given[0]) || sqrt(db_dot(given, given)) == 1) return;
    double normal[3];
    db_cross(detector->fast_axis, detector->slow_axis, normal);
    const double length = sqrt(db_dot(normal, normal));
    for (int i = 0; i < 3; i++) detector->normal[i] = normal[i] / length;
}

/* Cosine between the beam and the plate's normal in the reference: without two-theta. */
static double obliquity(const db_experiment *experiment) {
    db_experiment upright = *experiment; /* borrows the lists */
    db_panel_interface placed;
    double normal[3];
    upright.detector.twotheta = 0;
    db_model_panels(&upright, &placed);
    db_vector_out(placed.normal, normal);
    const double cosine = db_dot(experiment->beam.direction, normal);
    return cosine == 0 ? DBL_MIN : cosine;
}

/* Place of the set-up's detector in the reference program; fills experiment->reference. The experiment's detector
 * is complete, except for a plate that looks away from the beam before two-theta: its distance becomes one along
 * the normal, as in the reference. */
static void reference_placement(const db_setup *setup, db_convention convention,
                                db_experiment *experiment) {
    db_reference_mode *const r = &experiment->reference;
    db_experiment distorted = *experiment; /* borrows the lists */
    db_detector *const d = &distorted.detector;
    if (convention == DB_CONVENTION_CUSTOM) {
        if (db_setup_given(setup->twotheta_axis[0]))
            memcpy(d->twotheta_axis, setup->twotheta_axis, sizeof d->twotheta_axis);
        regenerated_normal(setup, d);
    }
    const double ratio = obliquity(&distorted);
    if (!d->distance_is_close) d->distance = fabs(ratio * d->distance);
    d->distance_is_close = 1;

    db_panel_interface placed;
    db_model_panels(&distorted, &placed);
    db_vector_out(placed.origin, r->origin);
    db_vector_out(placed.fast, r->fast_axis);
    db_vector_out(placed.slow, r->slow_axis);
    db_vector_out(placed.normal, r->normal);
    r->close_distance = db_dot(r->origin, r->normal);
    r->distance = r->close_distance / ratio;

    if (obliquity(experiment) < 0) {
        experiment->detector.distance = d->distance;
        experiment->detector.distance_is_close = 1;
    }
}

static db_status resolve_distance(db_context *context, const db_setup *setup, db_detector *detector,
                                  const db_setup_notes *notes) {
    detector->distance_is_close = db_setup_given(setup->close_distance);
    detector->distance = detector->distance_is_close       ? setup->close_distance
                         : db_setup_given(setup->distance) ? setup->distance
                                                           : NAN;
    if (!db_setup_given(detector->distance)) {
        const db_stated_placement *stated = &setup->stated;
        detector->distance_is_close =
            detector->pivot == DB_PIVOT_SAMPLE && db_setup_given(stated->close_distance);
        detector->distance = detector->distance_is_close        ? stated->close_distance
                             : db_setup_given(stated->distance) ? stated->distance
                                                                : 100;
    }
    if (!(detector->distance > 0))
        return db_fail(
            context, DB_ERROR_INPUT, "detector %s: expected a positive number (mm), found %g",
            detector->distance_is_close ? "close distance" : "distance", detector->distance);
    if (detector->distance_is_close && db_setup_given(setup->distance))
        db_setup_note(notes, "distance and close distance given: the close distance is used");
    return DB_OK;
}

/* Distance and centre that put the corner of the first pixel at r0 (mm), for any rotations: solves r0 =
 * distance * leg - F f - S s, the leg along the beam (pivot beam) or along the normal (pivot sample). */
static db_status place_origin(db_context *context, const double r0[3], db_experiment *experiment) {
    db_detector *const detector = &experiment->detector;
    db_panel_interface placed;
    /* with these the origin is the end of a leg of 1 m, the axes being turned */
    detector->distance = 1000;
    detector->distance_is_close = detector->pivot == DB_PIVOT_SAMPLE;
    detector->centre[0] = detector->centre[1] = 0;
    db_model_panels(experiment, &placed);
    double f[3], s[3], leg[3], n[3], n_f[3], s_n[3], rest[3];
    db_vector_out(placed.fast, f);
    db_vector_out(placed.slow, s);
    db_vector_out(placed.origin, leg);
    db_cross(f, s, n);
    db_cross(n, f, n_f);
    db_cross(s, n, s_n);
    if (!(fabs(db_dot(leg, n)) > 1e-9))
        return db_fail(context, DB_ERROR_INPUT,
                       "detector origin (pix0_vector): the beam runs parallel to the detector");
    detector->distance = db_dot(r0, n) / db_dot(leg, n);
    if (!(detector->distance > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "detector origin (pix0_vector): expected the detector in front of the "
                       "sample, found it at %g mm",
                       detector->distance);
    for (int i = 0; i < 3; i++) rest[i] = r0[i] - detector->distance * leg[i];
    detector->centre[0] = -db_dot(rest, s_n) / db_dot(n, n);
    detector->centre[1] = -db_dot(rest, n_f) / db_dot(n, n);
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
        db_setup_given(setup->beam_centre_px[0]) || db_setup_given(setup->beam_centre[0]) ||
        db_setup_given(setup->close_point[0]) || db_setup_given(setup->org[0]))
        db_setup_note(notes, "detector origin given: distance and beam centre follow from it");
    return place_origin(context, r0, experiment);
}

/* Pivot of the detector's rotations. An explicit pivot counts in every convention, in the reference's way only in
 * CUSTOM; there other flags imply one, too. */
static db_pivot pivot(const db_setup *setup, db_convention convention) {
    const int custom = convention == DB_CONVENTION_CUSTOM,
              has_origin = !setup->compat && db_setup_given(setup->origin[0]);
    if (setup->pivot >= 0 && (custom || !setup->compat)) return (db_pivot)setup->pivot;
    if (custom && setup->pivot_hint >= 0 && !has_origin) return (db_pivot)setup->pivot_hint;
    if (setup->stated.pivot >= 0 && setup->stated.convention == convention)
        return (db_pivot)setup->stated.pivot;
    return db_setup_convention_pivot(convention);
}

/* A curved detector is part of a sphere around the sample, touched by the plate where the beam
 * hits. */
static db_status curved(db_context *context, const db_setup *setup, db_experiment *experiment) {
    db_panel_interface placed;
    experiment->detector.curved = setup->curved;
    if (!setup->curved || setup->compat) return DB_OK;
    db_model_panels(experiment, &placed);
    double normal[3];
    db_vector_out(placed.normal, normal);
    const double cosine = db_dot(normal, experiment->beam.direction);
    if (cosine > 1 - 1e-9) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "curved detector: expected a plate perpendicular to the beam, which then wraps "
                   "around the sample; found one turned by %g degree (rotations, two-theta or "
                   "vectors)",
                   DB_RADIAN * acos(cosine));
}

db_status db_setup_detector(db_context *context, const db_setup *setup, db_experiment *experiment,
                            const db_setup_notes *notes) {
    db_detector *const detector = &experiment->detector;
    if ((unsigned)setup->convention >= DB_CONVENTION_COUNT)
        return db_fail(context, DB_ERROR_USAGE, "detector convention: unknown value %d",
                       (int)setup->convention);
    const db_convention convention = db_setup_effective_convention(setup, notes);
    db_setup completed = *setup;
    double size[2];
    DB_TRY(db_setup_axes(context, setup, convention, experiment, notes));
    DB_TRY(db_setup_panel_size(context, setup, &detector->panels[0], size));
    detector->pivot = pivot(setup, convention);
    memcpy(detector->rotation, setup->rotation, sizeof detector->rotation);
    detector->twotheta = setup->twotheta;
    db_setup_complete_placement(experiment, &completed.stated);
    DB_TRY(resolve_distance(context, &completed, detector, notes));
    DB_TRY(db_setup_centre(context, &completed, convention, size, detector, notes));
    if (setup->compat)
        reference_placement(setup, convention, experiment);
    else if (db_setup_given(setup->origin[0]))
        DB_TRY(custom_origin(context, setup, experiment, notes));
    return curved(context, setup, experiment);
}
