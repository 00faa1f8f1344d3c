/* Copies of an experiment that borrow its structure factors, which are large and never change while
 * parameters are refined. */
#ifndef DB_FIT_PIXELS_RENDERING_H
#define DB_FIT_PIXELS_RENDERING_H

#include "base/context_internal.h"

#include <dualbragg/experiment.h>

/* The lender must outlive the copy. */
static inline db_status db_experiment_borrow(db_context *context, const db_experiment *experiment,
                                             db_experiment *copy) {
    db_experiment bare = *experiment;
    bare.structure_factors = (db_structure_factors){ .default_F = 0 };
    DB_TRY(db_experiment_copy(context, &bare, copy));
    copy->structure_factors = experiment->structure_factors;
    return DB_OK;
}

static inline void db_experiment_give_back(db_experiment *copy) {
    copy->structure_factors.amplitude = NULL;
    db_experiment_clear(copy);
}

#endif
