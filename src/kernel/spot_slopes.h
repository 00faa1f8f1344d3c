/* Slopes of spots by parameters, from wide duals through kernel/spot.h, as coefficients of the columns
 * of kernel/spot_lanes.h. One instance per instruction set: the duals' slopes fill vectors. */
#ifndef DB_KERNEL_SPOT_SLOPES_H
#define DB_KERNEL_SPOT_SLOPES_H

#include "base/context_internal.h"
#include "kernel/job.h"
#include "model/model.h"

struct db_spot_entry;

/* What is wanted; all borrowed. */
typedef struct db_spot_slopes_work {
    const db_experiment *experiment;
    const db_dual_interface *interface;
    const db_parameter_slots *slots; /* those that the interface was made with */
    const size_t *place;             /* of each among the parameters that move spots; or beyond */
    size_t parameters;               /* so many move spots */
    const struct db_spot_entry *entry;
    const db_kernel_spot *spot;
    int moving;
    double *slope; /* [spots][parameters][columns] */
    float *narrow; /* the same in float */
} db_spot_slopes_work;

/* Fills the slopes of one spot. */
typedef void (*db_spot_slopes_function)(const db_spot_slopes_work *work, size_t spot);

db_spot_slopes_function db_spot_slopes_instance(db_isa isa);

#endif
