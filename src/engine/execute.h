/* Runs a plan: distributes its tiles over threads. A pixel belongs to one tile, a tile to one slot and a slot to
 * one thread at a time. Tiles and slots depend on the plan only: the result has the same bits for any number of
 * threads. */
#ifndef DB_ENGINE_EXECUTE_H
#define DB_ENGINE_EXECUTE_H

#include "engine/plan_state.h"
#include "kernel/instances.h"

typedef struct db_execution {
    db_plan *plan;
    const db_kernel_job *job; /* the plan's, or a variant of it */
    db_kernel_function kernel;
    size_t slots; /* of neighbouring tiles; at most the number of tiles */
    /* [slots][sums_size]: cleared, then summed by each slot's tiles; NULL for images */
    double *sums;
    size_t sums_size;
    /* NULL, or replaces the kernel as the work of a slot */
    void (*work)(const struct db_execution *x, size_t slot, int thread);
    /* of work that is executed in parts: slots before this part, and of all parts; all 0: no parts */
    size_t before, all;
} db_execution;

/* Reports to the context's callbacks; DB_ERROR_CANCELLED if one of them asks for it. */
db_status db_execute(const db_execution *x);

/* Makes current what kernels need of spots in closed form: their lists, or the arrays from which a device makes
 * them. */
db_status db_plan_prepare_spots(db_plan *plan);

/* Makes everything current that derivatives need. */
db_status db_plan_prepare_slopes(db_plan *plan);

/* DB_ERROR_USAGE for plans without parameters. */
db_status db_plan_need_parameters(const db_plan *plan);

#endif
