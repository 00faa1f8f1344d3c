#include "model/spread_check.h"

#include "base/context_internal.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>

unsigned db_free_strains(db_strain_ties ties) {
    enum { XX = 1, YY = 2, ZZ = 4, YZ = 8, ZX = 16, XY = 32, DIRECT = XX | YY | ZZ };
    static const unsigned strains[] = {
        [DB_STRAIN_FREE] = DIRECT | YZ | ZX | XY,
        [DB_STRAIN_UNIAXIAL] = XX | ZZ,
        [DB_STRAIN_ISOTROPIC] = XX,
        [DB_STRAIN_NO_SHEAR] = DIRECT,
        [DB_STRAIN_SHEAR_YZ] = DIRECT | YZ,
        [DB_STRAIN_SHEAR_ZX] = DIRECT | ZX,
        [DB_STRAIN_SHEAR_XY] = DIRECT | XY,
    };
    return (unsigned)ties <= DB_STRAIN_SHEAR_XY ? strains[ties] : 0;
}

/* 1 if a symmetric tensor xx, yy, zz, yz, zx, xy is positive semidefinite after `slack` is added to its diagonal. */
static int is_positive(const double t[6], double slack) {
    const double xx = t[0] + slack, yy = t[1] + slack, zz = t[2] + slack, yz = t[3], zx = t[4],
                 xy = t[5];
    return xx >= 0 && yy >= 0 && zz >= 0 && yy * zz >= yz * yz && zz * xx >= zx * zx &&
           xx * yy >= xy * xy &&
           xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * zx) + zx * (xy * yz - yy * zx) >= 0;
}

static db_status check_range(db_context *context, const char *what, double value, double low,
                             double high, const char *unit) {
    if (value >= low && value <= high) return DB_OK; /* false for NaN */
    return db_fail(context, DB_ERROR_INPUT,
                   "spread of spots, %s: expected a number from %g to %g%s%s, found %g", what, low,
                   high, *unit ? " " : "", unit, value);
}

/* 1 if a tensor is a covariance, up to rounding. */
static int is_covariance(const double t[6]) {
    return is_positive(t, 1e-9 * (fabs(t[0]) + fabs(t[1]) + fabs(t[2])));
}

static int is_pair(const double v[3]) {
    return is_covariance((const double[6]){ v[0], v[1], 0, 0, 0, v[2] });
}

/* Covariances of the rotations of blocks. */
static void rotation_tensor(const db_spread *s, double tensor[6]) {
    for (int i = 0; i < 6; i++) tensor[i] = s->mosaic_tensor[i] + (i < 3 ? s->mosaic : 0);
}

int db_spread_is_possible(const db_experiment *experiment) {
    const db_spread *const s = &experiment->spread;
    double rotation[6];
    if (s->spots != DB_SPOTS_CLOSED) return 1;
    rotation_tensor(s, rotation);
    for (int i = 0; i < 6; i++)
        if (!(s->strain_tensor[i] >= 0)) return 0;
    for (int i = 0; i < s->tails; i++)
        if (!(s->tail_fraction[i] >= 0)) return 0;
    return s->strain >= 0 && s->bandwidth >= 0 && is_covariance(rotation) &&
           is_pair(s->divergence) && is_pair(s->footprint) && is_pair(s->point_spread);
}

/* Variances along two axes and their covariance. */
static db_status check_pair(db_context *context, const char *what, const double v[3], double slack,
                            double high, const char *unit) {
    for (int i = 0; i < 2; i++) DB_TRY(check_range(context, what, v[i], -slack, high, unit));
    const double tensor[6] = { v[0], v[1], 0, 0, 0, v[2] };
    if (is_positive(tensor, slack)) return DB_OK; /* false for NaN */
    return db_fail(context, DB_ERROR_INPUT,
                   "spread of spots, %s: expected a covariance within the root of the product of "
                   "the variances, %g and %g %s, found %g",
                   what, v[0], v[1], unit, v[2]);
}

static db_status check_size(db_context *context, const double c[3]) {
    const double tensor[6] = { 1, 1, 1, c[0], c[1], c[2] };
    if (is_positive(tensor, -1e-6)) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "size_correlation: expected three correlations of a positive definite matrix, "
                   "found %g %g %g",
                   c[0], c[1], c[2]);
}

static db_status check_blocks(db_context *context, const db_spread *s) {
    double rotation[6];
    DB_TRY(check_range(context, "mosaic", s->mosaic, -0.01, 32400, "degree^2"));
    rotation_tensor(s, rotation);
    for (int i = 0; i < 6; i++) {
        DB_TRY(
            check_range(context, "mosaic tensor", s->mosaic_tensor[i], -32400, 32400, "degree^2"));
        DB_TRY(check_range(context, "strains", s->strain_tensor[i], -1, 1e6, "1e-6"));
    }
    if (!is_positive(rotation, 0.01))
        return db_fail(context, DB_ERROR_INPUT,
                       "spread of spots, mosaic tensor: expected a positive variance about every "
                       "axis, found xx, yy, zz, yz, zx, xy %g %g %g %g %g %g degree^2",
                       rotation[0], rotation[1], rotation[2], rotation[3], rotation[4],
                       rotation[5]);
    DB_TRY(check_range(context, "strain", s->strain, -1, 1e6, "1e-6"));
    if ((unsigned)s->strain_ties > DB_STRAIN_SHEAR_XY)
        return db_fail(context, DB_ERROR_USAGE, "strain ties: unknown value %d",
                       (int)s->strain_ties);
    for (int k = 0; k < DB_SPREAD_MODES; k++)
        for (int i = 0; i < 9; i++)
            DB_TRY(check_range(context, "mode", s->mode[k][i], -1e3, 1e3, "1e-3"));
    return DB_OK;
}

static db_status check_tails(db_context *context, const db_spread *s) {
    double sum = 0;
    if (s->tails < 0 || s->tails > DB_SPREAD_TAILS)
        return db_fail(context, DB_ERROR_INPUT, "tails: expected 0 to %d, found %d",
                       (int)DB_SPREAD_TAILS, s->tails);
    for (int i = 0; i < s->tails; i++) {
        DB_TRY(check_range(context, "fraction of a tail", s->tail_fraction[i], -0.5, 1.5, ""));
        DB_TRY(check_range(context, "width of a tail", s->tail_width[i], 1e-6, 1e6, ""));
        sum += s->tail_fraction[i];
    }
    if (sum < 1) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "spread of spots, tails: expected fractions with a sum below 1, found %g", sum);
}

static db_status refuse_spread(db_context *context, const char *what, const char *instead) {
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "spots in closed form: %s; expected %s, or sampled spots", what, instead);
}

static db_status check_rotation(db_context *context, const db_goniometer *g) {
    static const double rounding = 1e-9; /* of a range from many steps */
    const double range = g->phi_step * g->phi_steps, most = 180.0 * DB_MOST_HALF_TURNS;
    if (fabs(range) <= most * (1 + rounding)) return DB_OK;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "spots in closed form: expected a phi range (phi step times phi steps) of at "
                   "most %g degree, or sampled spots, found %g degree",
                   most, range);
}

static db_status check_fit(db_context *context, const db_experiment *e) {
    const db_crystal_shape shape = e->crystal.shape;
    if (shape == DB_SHAPE_ROUND || shape == DB_SHAPE_TOPHAT)
        return refuse_spread(context,
                             shape == DB_SHAPE_ROUND
                                 ? "spots of a round crystal (round_xtal) are no Gaussians"
                                 : "flat spots (tophat_spots) are no Gaussians",
                             "shape gauss or square");
    if (e->detector.curved)
        return refuse_spread(
            context,
            "their covariance is worked out on flat panels, found a curved detector (curved_det)",
            "a flat one");
    if (e->structure_factors.interpolate && e->structure_factors.amplitude)
        return refuse_spread(
            context,
            "each has the amplitude of its own node, found interpolation of structure "
            "factors (interpolate)",
            "the nearest amplitude");
    if (e->reference.on)
        return refuse_spread(context, "nanoBragg's arithmetic (compat) samples them",
                             "no reference mode");
    return DB_OK;
}

db_status db_spread_check(db_context *context, const db_experiment *experiment) {
    const db_spread *const s = &experiment->spread;
    if (s->spots == DB_SPOTS_SAMPLED) return DB_OK;
    if (s->spots != DB_SPOTS_CLOSED)
        return db_fail(context, DB_ERROR_USAGE, "spots: unknown value %d", (int)s->spots);
    DB_TRY(check_fit(context, experiment));
    DB_TRY(check_rotation(context, &experiment->goniometer));
    DB_TRY(check_size(context, s->size_correlation));
    DB_TRY(check_blocks(context, s));
    DB_TRY(check_tails(context, s));
    DB_TRY(check_range(context, "bandwidth", s->bandwidth, -1, 1e6, "1e-6"));
    DB_TRY(check_pair(context, "divergence", s->divergence, 0.1, 2.5e6, "mrad^2"));
    DB_TRY(check_pair(context, "footprint", s->footprint, 0.001, 1e12, "mm^2"));
    return check_pair(context, "point spread", s->point_spread, 0.001, 1e12, "mm^2");
}
