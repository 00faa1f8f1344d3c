#include "fit/physical_range.h"

#include <math.h>

void db_physical_range(db_parameter parameter, double *least, double *most) {
    *least = -INFINITY;
    *most = INFINITY;
    switch (parameter) {
    case DB_CELL_A:
    case DB_CELL_B:
    case DB_CELL_C: *least = 1; break;
    case DB_CELL_ALPHA:
    case DB_CELL_BETA:
    case DB_CELL_GAMMA:
        *least = 1;
        *most = 179;
        break;
    case DB_CELLS_A:
    case DB_CELLS_B:
    case DB_CELLS_C: *least = 1; break;
    case DB_MOSAIC_SPREAD:
    case DB_MOSAIC_A:
    case DB_MOSAIC_B:
    case DB_MOSAIC_C:
        *least = 0;
        *most = 90;
        break;
    case DB_B_FACTOR: /* a little less than none: the amplitudes may have too large a B */
        *least = -10;
        *most = 1000;
        break;
    case DB_DIVERGENCE_HORIZONTAL:
    case DB_DIVERGENCE_VERTICAL:
    case DB_WATER_SIZE:
    case DB_SPECTRUM_STRETCH:
    case DB_AMORPHOUS_THICKNESS: *least = 0; break;
    case DB_DISPERSION:
        *least = 0;
        *most = 1;
        break;
    case DB_POLARIZATION:
        *least = -1;
        *most = 1;
        break;
    case DB_WAVELENGTH: *least = 1e-4; break; /* positive, and far from anything used */
    case DB_SENSOR_THICKNESS:
    case DB_ATTENUATION_DEPTH:
    case DB_DISTANCE: *least = 1e-3; break;
    case DB_SCALE: *least = 1e-30; break;
    default: break;
    }
}
