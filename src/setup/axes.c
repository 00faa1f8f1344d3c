/* Axes of the detector conventions, and those that users give instead (docs/theory/detector.md,
 * Conventions of the axes). */
#include "setup/parts.h"

#include "base/context_internal.h"

#include <dualbragg/expert/setup_defaults.h>
#include <dualbragg/expert/setup_fields.h>

#include <string.h>

static const double ORTHOGONAL = 1e-3; /* cosine: vectors typed with three digits or more */

/* Axes and pivot of each convention; CUSTOM takes given vectors, and these for open ones. */
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

const db_setup_field *db_setup_axis_given(const db_setup *s) {
    for (int id = DB_FIELD_FAST_AXIS; id <= DB_FIELD_TWOTHETA_AXIS; id++) {
        const double *const axis = (const void *)((const char *)s + db_setup_fields[id].offset);
        if (db_setup_given(axis[0])) return &db_setup_fields[id];
    }
    return NULL;
}

static int any_vector_given(const db_setup *s) {
    return db_setup_axis_given(s) != NULL || db_setup_given(s->origin[0]);
}

db_convention db_setup_effective_convention(const db_setup *setup, const db_setup_notes *notes) {
    if (setup->compat || setup->convention == DB_CONVENTION_CUSTOM || !any_vector_given(setup))
        return setup->convention;
    db_setup_note(notes,
                  "vectors given: convention custom instead of %s: missing vectors are taken from "
                  "mosflm (two-theta axis 0 1 0), and the beam centre is measured from the corner "
                  "of the first pixel",
                  db_convention_name(setup->convention));
    return DB_CONVENTION_CUSTOM;
}

db_pivot db_setup_convention_pivot(db_convention convention) {
    return conventions[convention].pivot;
}

/* The user's vector as a unit vector, or the replacement if it is open. given may be NULL. */
static db_status take_vector(db_context *context, const char *name, const double *given,
                             const double otherwise[3], double vector[3]) {
    const double *from = given && db_setup_given(given[0]) ? given : otherwise;
    const double length = sqrt(db_dot(from, from));
    if (!(length > 0 && isfinite(length)))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a vector of finite length other than 0, found (%g, %g, %g)",
                       name, from[0], from[1], from[2]);
    for (int i = 0; i < 3; i++) vector[i] = from[i] / length;
    return DB_OK;
}

/* The reference accepts axes at any angle; then a notice says so. */
static db_status check_orthogonal(db_context *context, const db_setup *setup, const char *name,
                                  const double *a, const char *other, const double *b,
                                  const db_setup_notes *notes) {
    const double cosine = db_dot(a, b);
    if (fabs(cosine) <= ORTHOGONAL) return DB_OK;
    if (setup->compat) {
        db_setup_note(notes, "detector: %s and %s are not perpendicular, cosine %g", name, other,
                      cosine);
        return DB_OK;
    }
    return db_fail(context, DB_ERROR_INPUT,
                   "detector: expected %s and %s to be perpendicular, found a cosine of %g", name,
                   other, cosine);
}

/* The outward normal: the user's, or fast x slow or -fast x slow, whichever points along the beam. The reference
 * keeps its own normal; that is reasonable only while one of fast and slow is its own, too. */
static db_status custom_normal(db_context *context, const db_setup *setup, const double *beam,
                               db_detector *detector, const db_setup_notes *notes) {
    double outward[3];
    db_cross(detector->fast_axis, detector->slow_axis, outward);
    if (db_dot(outward, beam) < 0)
        for (int i = 0; i < 3; i++) outward[i] = -outward[i];
    const int own = setup->compat &&
                    !(db_setup_given(setup->fast_axis[0]) && db_setup_given(setup->slow_axis[0]));
    DB_TRY(take_vector(context, "detector normal (odet_vector)", setup->normal,
                       own ? conventions[DB_CONVENTION_CUSTOM].normal : outward, detector->normal));
    DB_TRY(check_orthogonal(context, setup, "the normal", detector->normal, "the fast axis",
                            detector->fast_axis, notes));
    return check_orthogonal(context, setup, "the normal", detector->normal, "the slow axis",
                            detector->slow_axis, notes);
}

db_status db_setup_axes(db_context *context, const db_setup *s, db_convention convention,
                        db_experiment *e, const db_setup_notes *notes) {
    db_detector *const d = &e->detector;
    const struct {
        const char *name;
        const double *given;
        const double *otherwise;
        double *vector;
    } rows[] = {
        { "beam vector", s->beam_axis, conventions[convention].beam, e->beam.direction },
        { "polarization vector", s->polarization_axis, conventions[convention].polarization,
          e->beam.polarization_axis },
        { "spindle axis", s->spindle_axis, conventions[convention].spindle,
          e->goniometer.spindle_axis },
        { "two-theta axis", s->twotheta_axis, conventions[convention].twotheta, d->twotheta_axis },
        { "detector fast axis (fdet_vector)", s->fast_axis, conventions[convention].fast,
          d->fast_axis },
        { "detector slow axis (sdet_vector)", s->slow_axis, conventions[convention].slow,
          d->slow_axis },
    };
    const int custom = convention == DB_CONVENTION_CUSTOM;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        DB_TRY(take_vector(context, rows[i].name, custom ? rows[i].given : NULL, rows[i].otherwise,
                           rows[i].vector));
    if (!custom) {
        memcpy(d->normal, conventions[convention].normal, sizeof d->normal);
        return DB_OK;
    }
    DB_TRY(check_orthogonal(context, s, "the fast axis", d->fast_axis, "the slow axis",
                            d->slow_axis, notes));
    return custom_normal(context, s, e->beam.direction, d, notes);
}
