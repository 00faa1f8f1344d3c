/* The values of the model, with their slopes by the parameters of a pass, from which the slopes of spots in closed
 * form are made (kernel/spot_slopes.h). */
#ifndef DB_ENGINE_SPOT_PASSES_H
#define DB_ENGINE_SPOT_PASSES_H

#include "engine/plan_parameters.h"
#include "kernel/spot_slopes.h"
#include "model/model.h"

typedef struct db_spot_passes {
    db_spot_pass *pass;
    double *dual;
    size_t count, length;   /* length: of a pass's numbers */
    size_t sources, places; /* places: parameters that may move spots */
    unsigned char *moves;   /* [sources][places]: 1: the parameter moves the source's spots */
    uint16_t *which;        /* [sources][each]: see db_spot_passes_list */
} db_spot_passes;

db_status db_spot_passes_create(db_context *context, const db_plan_parameters *parameters,
                                db_spot_passes *passes);
void db_spot_passes_clear(db_spot_passes *passes);

/* Adds parameter k, number `place` of those that move spots, to the last pass; to a new one if that is full or
 * `begin` is 1. z has the parameter's slope as number `slope`. */
void db_spot_passes_add(db_spot_passes *passes, const db_plan_parameters *parameters,
                        const db_dual_interface *z, size_t k, size_t place, int slope, int begin);

/* Lists for each source the parameters of all passes that move its spots, the same number for all sources: others
 * fill up. parameters: the number in all passes. Returns that number. */
size_t db_spot_passes_list(db_spot_passes *passes, size_t parameters);

#endif
