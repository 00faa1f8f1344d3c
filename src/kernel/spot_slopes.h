/* Slopes of spots by parameters, from dual numbers through kernel/spot.h, as coefficients of the columns
 * of kernel/spot_lanes.h. One instance per instruction set: spots are worked on in vectors. */
#ifndef DB_KERNEL_SPOT_SLOPES_H
#define DB_KERNEL_SPOT_SLOPES_H

#include "base/context_internal.h"
#include "kernel/job.h"
#include "model/parameter_slots.h"

/* Spots worked on in one call, at most. */
enum { DB_SPOT_SLOPES_BLOCK = 192 };

/* What is wanted; all borrowed. */
typedef struct db_spot_slopes_work {
    const db_experiment *experiment;
    const db_parameter_slots *slots; /* parameters of these slopes */
    const size_t *place;             /* of each among the parameters that move spots; or beyond */
    size_t parameters;               /* so many move spots */
    /* numbers of model/interface.h, each a value and its slopes by all slots: spread_interface,
     * panel_interface [panels], source_interface [sources] */
    const double *spread, *panel, *source, *layer_step, *attenuation;
    int parts;                  /* of spread_interface */
    const db_spot_entry *entry; /* [spots] */
    const db_kernel_spot *spot; /* likewise */
    int moving;
    double *slope_double; /* [spots][parameters][columns]; NULL: wanted in float */
    float *slope_float;
} db_spot_slopes_work;

/* Fills the slopes of spots first .. first + count - 1. amplitude: their structure factors. */
typedef void (*db_spot_slopes_function)(const db_spot_slopes_work *work, size_t first, int count,
                                        const double *amplitude);

db_spot_slopes_function db_spot_slopes_instance(db_isa isa);

#endif
