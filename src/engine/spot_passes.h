/* What the slopes of spots in closed form are made from: values of the model with their slopes, for the
 * parameters of a pass each (kernel/spot_slopes.h). */
#ifndef DB_ENGINE_SPOT_PASSES_H
#define DB_ENGINE_SPOT_PASSES_H

#include "engine/plan_parameters.h"
#include "kernel/spot_slopes.h"
#include "model/model.h"

typedef struct db_spot_passes {
    db_spot_pass *pass;
    double *dual;
    size_t count, length; /* length: of a pass's numbers */
} db_spot_passes;

db_status db_spot_passes_create(db_context *context, const db_plan_parameters *parameters,
                                db_spot_passes *passes);
void db_spot_passes_clear(db_spot_passes *passes);

/* Adds parameter k, number `place` of those that move spots, to the last pass, or, where that is full or
 * `begin` is 1, to a new one. z: with the parameter's slope number `slope`. */
void db_spot_passes_add(db_spot_passes *passes, const db_plan_parameters *parameters,
                        const db_dual_interface *z, size_t k, size_t place, int slope, int begin);

#endif
