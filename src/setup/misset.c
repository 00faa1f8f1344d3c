/* Misset angles, given or random (docs/theory/crystal.md, Random misset). */
#include "base/context_internal.h"
#include "base/degree.h"
#include "model/model.h"
#include "model/ran1.h"
#include "setup/parts.h"
#include <dualbragg/expert/experiment_geometry.h>

/* matrices of plain numbers */
#define REAL double
#define DIRS 0

static const double TURN = 6.2831853071795864769;

static const long LARGEST_SEED =
    2147483646; /* the next seed makes the generator repeat one number */

db_status db_setup_check_seed(db_context *context, const char *name, long seed) {
    if (seed >= 1 && seed <= LARGEST_SEED) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s seed: expected 1 to %ld, found %ld", name,
                   LARGEST_SEED, seed);
}

/* Rotation matrix of a uniformly (Haar) distributed unit quaternion; the first three draws of the
 * stream. */
static mat3 uniform_rotation(long seed) {
    db_ran1 stream;
    db_ran1_seed(&stream, seed);
    const double g1 = (double)db_ran1_uniform(&stream), g2 = (double)db_ran1_uniform(&stream),
                 g3 = (double)db_ran1_uniform(&stream);
    const double x = sqrt(1 - g1) * sin(TURN * g2), y = sqrt(1 - g1) * cos(TURN * g2),
                 z = sqrt(g1) * sin(TURN * g3), w = sqrt(g1) * cos(TURN * g3);
    const double matrix[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y), //
        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x), //
        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y),
    };
    return m3_passive(matrix);
}

/* A mosaic domain's rotation, with a cap in radian. */
static mat3 rotation_within(float cap, long seed) {
    db_ran1 stream;
    db_ran1_seed(&stream, seed);
    double axis[3];
    const double angle = (double)(cap * db_ran1_direction(&stream, axis));
    return m3_rotation(v3_passive(axis[0], axis[1], axis[2]), n_constant(angle));
}

static mat3 random_rotation(const db_setup *setup) {
    if (db_setup_given(setup->misset_spread))
        return rotation_within((float)(setup->misset_spread / DB_RADIAN), setup->misset_seed);
    /* the reference intends 90 degree, but uses 90 radian */
    return setup->compat ? rotation_within(90.0F, setup->misset_seed)
                         : uniform_rotation(setup->misset_seed);
}

/* Angles (degree) with Rz Ry Rx = u. */
static void misset_angles(mat3 u, double angle[3]) {
    const double xx = u.r[0].x.v, xy = u.r[0].y.v, yx = u.r[1].x.v, yy = u.r[1].y.v,
                 zx = u.r[2].x.v, zy = u.r[2].y.v, zz = u.r[2].z.v;
    if (zx * zx < 1) {
        angle[0] = DB_RADIAN * atan2(zy, zz);
        angle[1] = DB_RADIAN * atan2(-zx, sqrt(zy * zy + zz * zz));
        angle[2] = DB_RADIAN * atan2(yx, xx);
    } else { /* y = +-90 degree: only a combination of x and z is determined */
        angle[0] = 180;
        angle[1] = zx < 0 ? 90 : -90;
        angle[2] = DB_RADIAN * atan2(xy, -yy);
    }
}

void db_crystal_misset(const db_crystal *crystal, double angle[3]) {
    num radian[3];
    for (int i = 0; i < 3; i++) radian[i] = n_constant(crystal->misset[i] / DB_RADIAN);
    misset_angles(m3_multiply(m3_rotation_xyz(radian[0], radian[1], radian[2]),
                              m3_passive(crystal->orientation)),
                  angle);
}

db_status db_setup_misset(db_context *context, const db_setup *setup, db_crystal *crystal,
                          const db_setup_notes *notes) {
    for (int i = 0; i < 3; i++) crystal->misset[i] = setup->misset[i];
    if (!setup->misset_random) {
        if (db_setup_given(setup->misset_spread))
            db_setup_note(notes, "misset spread: no effect without misset random");
        return DB_OK;
    }
    DB_TRY(db_setup_check_seed(context, "misset", setup->misset_seed));
    if (db_setup_given(setup->misset_spread) &&
        !(setup->misset_spread > 0 && setup->misset_spread <= 180))
        return db_fail(context, DB_ERROR_INPUT,
                       "misset spread: expected more than 0 and at most 180 degree, found %g",
                       setup->misset_spread);
    misset_angles(random_rotation(setup), crystal->misset);
    db_setup_note(notes, "random orientation misset angles: %f %f %f deg (seed %ld)",
                  crystal->misset[0], crystal->misset[1], crystal->misset[2], setup->misset_seed);
    return DB_OK;
}
