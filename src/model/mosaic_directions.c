#include "model/mosaic_directions.h"

#include "model/ran1.h"

#include <math.h>

/* Rotation angle as a fraction of the spread. */
static double rounded_fraction(double spread, float cube_root) {
    if (spread == 0) return (double)cube_root;
    const float cap = (float)spread;
    const float angle = cap * cube_root;
    return (double)angle / spread;
}

void db_mosaic_directions(long seed, double spread, int domains, db_mosaic_direction *directions) {
    static const double pi = 3.14159265358979323846;
    db_ran1 generator;
    db_ran1_seed(&generator, seed);
    for (int m = 0; m < domains; m++) {
        const double r1 = 2.0 * (double)db_ran1_uniform(&generator) - 1.0;
        const double r2 = 2.0 * (double)db_ran1_uniform(&generator) - 1.0;
        const double r3 = 2.0 * (double)db_ran1_uniform(&generator) - 1.0;
        const double across = sqrt(1.0 - r2 * r2);
        directions[m].axis[0] = across * sin(pi * r1);
        directions[m].axis[1] = across * cos(pi * r1);
        directions[m].axis[2] = r2;
        /* single precision, as the generator's users are */
        const float cube_root =
            (float)pow((double)(float)(1.0 - r3 * r3), (double)(float)(1.0 / 3.0));
        directions[m].fraction = m == 0 ? 0.0 : rounded_fraction(spread * (pi / 180), cube_root);
    }
}
