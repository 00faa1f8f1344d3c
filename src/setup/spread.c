/* Spreads of spots in closed form (docs/theory/spots.md): standard deviations, as users give them,
 * become variances. */
#include "setup/parts.h"

#include "base/context_internal.h"
#include "model/spread_check.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/setup_fields.h>
#include <string.h>

static double given_number(double given) { return db_setup_given(given) ? given : 0; }
static double square(double given) { return given_number(given) * given_number(given); }

static db_status check_fields(db_context *context, const db_setup *setup) {
    for (int id = DB_FIELD_SIZE_CORRELATION; id <= DB_FIELD_POINT_SPREAD_CORRELATION; id++)
        DB_TRY(db_setup_field_check(context, setup, (db_setup_field_id)id));
    return DB_OK;
}

static db_status spread_rotations(db_context *context, const db_spread_setup *given,
                                  db_spread *out) {
    const double *const abc = given->mosaic_rms_abc;
    const double *const tensor = given->mosaic_tensor;
    if (db_setup_given(abc[0]) && db_setup_given(tensor[0]))
        return db_fail(context, DB_ERROR_INPUT,
                       "mosaic spread: expected mosaic_rms_abc or mosaic_tensor, found both");
    out->mosaic = square(given->mosaic_rms);
    for (int i = 0; i < 6; i++)
        out->mosaic_tensor[i] = given_number(tensor[i]) + (i < 3 ? square(abc[i]) : 0);
    return DB_OK;
}

/* The other spreads are positive as they come. */
static db_status check_rotations(db_context *context, const db_experiment *experiment) {
    const db_spread *const s = &experiment->spread;
    const double *const t = s->mosaic_tensor;
    if (db_spread_is_possible(experiment)) return DB_OK;
    return db_fail(
        context, DB_ERROR_INPUT,
        "mosaic_tensor: no rotations have the covariances %g %g %g %g %g %g degree^2 (xx, "
        "yy, zz, yz, zx, xy%s): the variance about some axis is negative",
        s->mosaic + t[0], s->mosaic + t[1], s->mosaic + t[2], t[3], t[4], t[5],
        s->mosaic > 0 ? ", with mosaic_rms" : "");
}

/* The only shear of a monoclinic lattice: in the plane across its unique axis, the one whose angle is farthest
 * from 90 degree. */
static db_strain_ties monoclinic_ties(const double cell[6]) {
    static const db_strain_ties ties[3] = { DB_STRAIN_SHEAR_YZ, DB_STRAIN_SHEAR_ZX,
                                            DB_STRAIN_SHEAR_XY };
    int angle = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(cell[3 + i] - 90) > fabs(cell[3 + angle] - 90)) angle = i;
    return ties[angle];
}

static db_strain_ties ties_of(db_strain_system system, const double cell[6]) {
    switch (system) {
    case DB_STRAINS_MONOCLINIC: return monoclinic_ties(cell);
    case DB_STRAINS_ORTHORHOMBIC: return DB_STRAIN_NO_SHEAR;
    case DB_STRAINS_UNIAXIAL:
    case DB_STRAINS_TETRAGONAL:
    case DB_STRAINS_TRIGONAL:
    case DB_STRAINS_HEXAGONAL: return DB_STRAIN_UNIAXIAL;
    case DB_STRAINS_ISOTROPIC:
    case DB_STRAINS_CUBIC: return DB_STRAIN_ISOTROPIC;
    default: return DB_STRAIN_FREE;
    }
}

/* 1 if the strain yy (1) or zz (2) equals xx. */
static int follows_xx(db_strain_ties ties, int strain) {
    return (strain == 1 && (ties == DB_STRAIN_UNIAXIAL || ties == DB_STRAIN_ISOTROPIC)) ||
           (strain == 2 && ties == DB_STRAIN_ISOTROPIC);
}

static db_status strains(db_context *context, const db_spread_setup *given, const double cell[6],
                         db_spread *out) {
    static const char *const names[6] = { "xx", "yy", "zz", "yz", "zx", "xy" };
    const db_strain_system system = (db_strain_system)given->strain_system;
    const char *const name = db_setup_fields[DB_FIELD_STRAIN_SYSTEM].choices[system];
    const double *const rms = given->strain_rms_tensor;
    out->strain = 1e6 * square(given->strain_rms);
    out->strain_ties = ties_of(system, cell);
    if (out->strain_ties == DB_STRAIN_UNIAXIAL && fmax(fabs(cell[3] - 90), fabs(cell[4] - 90)) > 1)
        return db_fail(context, DB_ERROR_INPUT,
                       "strain_system %s: expected a unique axis c, with alpha and beta of 90 "
                       "degree, found %g and %g",
                       name, cell[3], cell[4]);
    for (int i = 0; i < 6; i++) {
        const int tied = follows_xx(out->strain_ties, i);
        const int own = db_free_strains(out->strain_ties) >> i & 1;
        const double found = given_number(rms[i]);
        if (found != 0 && !own && !(tied && found == given_number(rms[0])))
            return db_fail(context, DB_ERROR_INPUT,
                           "strain_rms_tensor: %s strains have %s of %s, found %g", name, names[i],
                           tied ? "0, or that of xx" : "0 by symmetry", found);
        out->strain_tensor[i] = tied ? 0 : 1e6 * square(rms[i]);
    }
    return DB_OK;
}

static db_status tails(db_context *context, const db_spread_setup *given, db_spread *out) {
    double rest = 1;
    for (int i = 0; i < DB_SPREAD_TAILS; i++) {
        const double fraction = given->tail[i][0], width = given->tail[i][1];
        if (!db_setup_given(fraction)) continue;
        if (out->tails < i)
            return db_fail(context, DB_ERROR_INPUT, "tail%d: expected tail%d, too, found none",
                           i + 1, i);
        rest -= fraction;
        if (!(rest > 0 && width > 0))
            return db_fail(context, DB_ERROR_INPUT,
                           "tail%d: expected fractions of all tails with a sum below 1 and a "
                           "positive width, found %g and %g",
                           i + 1, fraction, width);
        out->tail_fraction[i] = fraction;
        out->tail_width[i] = width;
        out->tails = i + 1;
    }
    return DB_OK;
}

/* The covariance of two standard deviations; without a second one both are equal. */
static db_status pair(db_context *context, db_setup_field_id id, const double rms[2],
                      double correlation, double covariance[3]) {
    const double first = given_number(rms[0]), second = db_setup_given(rms[1]) ? rms[1] : first;
    if (given_number(correlation) != 0 && !(first > 0 && second > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: a correlation of %g needs two positive standard deviations, found %g "
                       "and %g",
                       db_setup_fields[id].name, correlation, first, second);
    covariance[0] = first * first;
    covariance[1] = second * second;
    covariance[2] = given_number(correlation) * first * second;
    return DB_OK;
}

db_status db_setup_spread(db_context *context, const db_setup *setup, db_experiment *experiment) {
    const db_spread_setup *const given = &setup->spread;
    db_spread *const out = &experiment->spread;
    out->spots = given->spots;
    if (given->spots != DB_SPOTS_CLOSED) return DB_OK;
    DB_TRY(check_fields(context, setup));
    for (int i = 0; i < 3; i++) out->size_correlation[i] = given_number(given->size_correlation[i]);
    DB_TRY(spread_rotations(context, given, out));
    DB_TRY(strains(context, given, experiment->crystal.cell, out));
    for (int k = 0; k < DB_SPREAD_MODES; k++)
        for (int i = 0; i < 9; i++) out->mode[k][i] = given_number(given->mode[k][i]);
    DB_TRY(tails(context, given, out));
    out->bandwidth = 1e6 * square(given->bandwidth_rms);
    DB_TRY(pair(context, DB_FIELD_DIVERGENCE_RMS, given->divergence_rms,
                given->divergence_correlation, out->divergence));
    DB_TRY(pair(context, DB_FIELD_FOOTPRINT_RMS, given->footprint_rms, given->footprint_correlation,
                out->footprint));
    DB_TRY(pair(context, DB_FIELD_POINT_SPREAD_RMS, given->point_spread_rms,
                given->point_spread_correlation, out->point_spread));
    return check_rotations(context, experiment);
}
