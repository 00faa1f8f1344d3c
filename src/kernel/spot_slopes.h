/* Slopes of spots by parameters, from dual numbers through kernel/spot.h, as coefficients of the columns
 * of kernel/spot_lanes.h: for DB_SPOT_PASS parameters at a time, a pass. On the processor there is one
 * instance per instruction set, which works on spots in vectors; on devices a thread has a spot. */
#ifndef DB_KERNEL_SPOT_SLOPES_H
#define DB_KERNEL_SPOT_SLOPES_H

#include "kernel/job.h"

enum { DB_SPOT_PASS = 2 };

/* The parameters of a pass. */
typedef struct db_spot_pass {
    int32_t place[DB_SPOT_PASS];        /* of each among the parameters that move spots; -1: none */
    int32_t is_amplitude[DB_SPOT_PASS]; /* 1: a structure factor, of reflection hkl */
    int32_t hkl[DB_SPOT_PASS][3];
    int32_t parts; /* of spread_interface */
} db_spot_pass;

/* Numbers of model/interface.h, each a value and its slopes by the parameters of a pass
 * (db_kernel_spots.dual): spread_interface, layer_step, attenuation, panel_interface [panels],
 * source_interface [sources]. */
enum { DB_SPOT_DUAL = 1 + DB_SPOT_PASS };

/* Spots worked on in one call of the processor's, at most. */
enum { DB_SPOT_SLOPES_BLOCK = 192 };

/* Fills the slopes of spots first .. first + count - 1, in the precision whose pointer is not NULL:
 * [spots][parameters][columns]. amplitude: their structure factors. */
typedef void (*db_spot_slopes_function)(const db_kernel_spots *spots, size_t panels, size_t first,
                                        int count, const double *amplitude, double *slope_double,
                                        float *slope_float);

#endif
