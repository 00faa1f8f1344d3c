#include "io/dials_frame.h"

#include "base/vector.h"

#include <dualbragg/io.h>

#define LANES 1
#define REAL double
#define DIRS 0
#include "ad/lane.h"

#include "ad/num.h"

static const double DEGREE = 0.017453292519943295769; /* radian */

/* Cosine to -z up to which a beam is taken to travel along it: 10 degree. */
static const double NEARLY_ALONG = 0.9848;

void db_dials_frame(const db_experiment *experiment, double frame[3][3]) {
    double *const x = frame[0], *const y = frame[1], *const z = frame[2];
    for (int i = 0; i < 3; i++) z[i] = -experiment->beam.direction[i];
    db_normalize(z);
    if (z[2] > NEARLY_ALONG) { /* it stands in such a frame already */
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) frame[i][k] = i == k;
        return;
    }
    const double *candidates[] = { experiment->goniometer.spindle_axis,
                                   experiment->beam.polarization_axis };
    for (int c = 0; c < 2; c++) {
        const double along = db_dot(candidates[c], z);
        for (int i = 0; i < 3; i++) x[i] = candidates[c][i] - along * z[i];
        if (db_dot(x, x) > 1e-6) break;
    }
    db_normalize(x);
    db_cross(z, x, y);
}

void db_turn_by_degrees(const double axis[3], double angle, double vector[3]) {
    const mat3 turn =
        m3_rotation(v3_passive(axis[0], axis[1], axis[2]), n_constant(DEGREE * angle));
    const vec3 turned = m3_apply(turn, v3_passive(vector[0], vector[1], vector[2]));
    vector[0] = turned.x.v;
    vector[1] = turned.y.v;
    vector[2] = turned.z.v;
}
