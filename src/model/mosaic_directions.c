/* Axes and angles of the mosaic domains. */
#include "model/mosaic_directions.h"

#include "base/degree.h"
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
    db_ran1 generator;
    db_ran1_seed(&generator, seed);
    for (int m = 0; m < domains; m++) {
        /* single precision, as the generator's users are */
        const float cube_root = db_ran1_direction(&generator, directions[m].axis);
        directions[m].fraction = m == 0 ? 0.0 : rounded_fraction(spread * DB_DEGREE, cube_root);
    }
}
