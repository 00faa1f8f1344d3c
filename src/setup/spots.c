/* Spots in closed form instead of sampled ones (docs/theory/spots.md): what caps and full ranges of
 * sampled distributions become, and what samples alone need. */
#include "setup/parts.h"

#include "base/context_internal.h"
#include "base/mosaic_cap.h"

#include <dualbragg/expert/setup_fields.h>

/* Of a uniform distribution over a range, 1/sqrt(12), and of each coordinate of one over an
 * ellipse. */
static const double RMS_OF_RANGE = 0.28867513459481288, RMS_OF_DIAMETER = 0.25;

static int is_given(const db_setup *setup, const db_setup_field *field) {
    const void *const place = (const char *)setup + field->offset;
    return field->kind == DB_FIELD_NUMBER ? db_setup_given(*(const double *)place)
                                          : *(const int *)place != field->open;
}

static db_status refuse_spreads(db_context *context, const db_setup *setup) {
    for (int id = DB_FIELD_SIZE_CORRELATION; id <= DB_FIELD_POINT_SPREAD_CORRELATION; id++)
        if (is_given(setup, &db_setup_fields[id]))
            return db_fail(context, DB_ERROR_USAGE,
                           "%s: has an effect with spots in closed form only; add -spots closed "
                           "(in a configuration, spots: closed)",
                           db_setup_fields[id].name);
    return DB_OK;
}

static db_status given_twice(db_context *context, const char *what, const char *full,
                             const char *rms) {
    return db_fail(context, DB_ERROR_INPUT,
                   "%s: expected %s or standard deviations (%s), found both", what, full, rms);
}

static db_status mosaic_caps(db_context *context, db_setup *s, const db_setup_notes *notes) {
    const double cap = s->mosaic_spread;
    double *const abc = s->mosaic_abc;
    double *const rms = s->spread.mosaic_rms_abc;
    if (s->mosaic_domains > 1)
        db_setup_note(notes,
                      "mosaic domains: spots in closed form have none; the given %d have no effect",
                      s->mosaic_domains);
    s->mosaic_domains = 1;
    DB_TRY(db_setup_field_check(context, s, DB_FIELD_MOSAIC_SPREAD));
    DB_TRY(db_setup_field_check(context, s, DB_FIELD_MOSAIC_ABC));
    if ((cap == 0) == !db_setup_given(abc[0])) return DB_OK; /* none, or both, which is refused */
    if (db_setup_given(s->spread.mosaic_rms) || db_setup_given(rms[0]) ||
        db_setup_given(s->spread.mosaic_tensor[0]))
        return given_twice(context, "mosaic spread", "a cap (mosaic, mosaic_abc)",
                           "mosaic_rms, mosaic_rms_abc, mosaic_tensor");
    if (cap != 0) {
        s->spread.mosaic_rms = DB_RMS_OF_CAP * cap;
        db_setup_note(notes,
                      "mosaic spread: the cap of %g degree becomes a Gaussian of the same "
                      "variance, %g degree rms about each axis",
                      cap, s->spread.mosaic_rms);
    } else {
        for (int i = 0; i < 3; i++) rms[i] = DB_RMS_OF_CAP * abc[i];
        db_setup_note(notes,
                      "mosaic spread: the caps of %g, %g, %g degree become a Gaussian of the same "
                      "variance, %g, %g, %g degree rms",
                      abc[0], abc[1], abc[2], rms[0], rms[1], rms[2]);
    }
    s->mosaic_spread = 0;
    abc[0] = NAN;
    return DB_OK;
}

/* The grid becomes one direction. What is wrong with a grid is left to it. */
static db_status divergence_ranges(db_context *context, db_setup *s, const db_setup_notes *notes) {
    double range[2];
    if (s->source_file) return DB_OK; /* which replaces ranges */
    DB_TRY(db_setup_field_check(context, s, DB_FIELD_DIVERGENCE));
    for (int i = 0; i < 2; i++) {
        const double step = s->divergence_step[i];
        if (step <= 0 || s->divergence_steps[i] < 0) return DB_OK;
        range[i] = db_setup_given(s->divergence_range[i]) ? s->divergence_range[i]
                   : db_setup_given(step)                 ? step
                                                          : 0;
    }
    if (range[0] == 0 && range[1] == 0) return DB_OK;
    if (db_setup_given(s->spread.divergence_rms[0]))
        return given_twice(context, "divergence", "full ranges (divergence, hdivrange, vdivrange)",
                           "divergence_rms");
    const int ellipse = s->round_divergence && range[0] > 0 && range[1] > 0;
    for (int i = 0; i < 2; i++) {
        s->spread.divergence_rms[i] = (ellipse ? RMS_OF_DIAMETER : RMS_OF_RANGE) * 1e3 * range[i];
        s->divergence_range[i] = s->divergence_step[i] = NAN;
        s->divergence_steps[i] = 0;
    }
    db_setup_note(notes,
                  "divergence: the full ranges of %g and %g mrad%s become a Gaussian of the same "
                  "variance, %g and %g mrad rms",
                  1e3 * range[0], 1e3 * range[1], ellipse ? " with elliptical cut" : "",
                  s->spread.divergence_rms[0], s->spread.divergence_rms[1]);
    return DB_OK;
}

static db_status dispersion(db_context *context, db_setup *s, const db_setup_notes *notes) {
    if (s->source_file || s->spectrum_file) return DB_OK; /* lists of wavelengths */
    DB_TRY(db_setup_field_check(context, s, DB_FIELD_DISPERSION));
    DB_TRY(db_setup_field_check(context, s, DB_FIELD_DISPERSION_STEPS));
    if (!(s->dispersion > 0)) return DB_OK;
    if (db_setup_given(s->spread.bandwidth_rms))
        return given_twice(context, "bandwidth", "a full range (dispersion)", "bandwidth_rms");
    s->spread.bandwidth_rms = RMS_OF_RANGE * s->dispersion;
    db_setup_note(
        notes,
        "bandwidth: the full range of %g %% becomes a Gaussian of the same variance, %g %% rms",
        100 * s->dispersion, 100 * s->spread.bandwidth_rms);
    s->dispersion = 0;
    s->dispersion_steps = 0;
    return DB_OK;
}

/* Numbers of samples, which do not count. */
static void one_sample(db_setup *s) {
    const int has_step = db_setup_given(s->phi_step) && s->phi_step != 0;
    if (db_setup_given(s->osc) && !has_step && s->phi_steps < 0) s->phi_steps = 1;
    if (s->sensor_layers == 0) s->sensor_layers = 1;
    s->interpolate = 0;
}

db_status db_setup_spots(db_context *context, const db_setup *setup, db_setup *settled,
                         const db_setup_notes *notes) {
    *settled = *setup;
    if (setup->spread.spots != DB_SPOTS_CLOSED) return refuse_spreads(context, setup);
    if (setup->compat)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "spots in closed form: nanoBragg (compat) samples them; expected sampled "
                       "spots, or no -compat");
    if (setup->interpolate == 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "spots in closed form: each has the amplitude of its own node, found "
                       "interpolation of structure factors (interpolate)");
    DB_TRY(mosaic_caps(context, settled, notes));
    DB_TRY(divergence_ranges(context, settled, notes));
    DB_TRY(dispersion(context, settled, notes));
    one_sample(settled);
    if (setup->shape == DB_SHAPE_SQUARE)
        db_setup_note(
            notes, "spots are Gaussians with the peak and the integral of spots of shape square");
    return DB_OK;
}
