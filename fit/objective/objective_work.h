/* What a shot works with: for the parts of a shot alone. */
#ifndef DB_FIT_OBJECTIVE_OBJECTIVE_WORK_H
#define DB_FIT_OBJECTIVE_OBJECTIVE_WORK_H

#include "fit/objective/amplitudes.h"
#include "fit/objective/objective.h"

struct db_objective_work {
    db_plan *plan;
    db_experiment rendered; /* blurred */
    float *derivative[DB_PARAMETER_COUNT];
    db_link links[DB_PARAMETER_COUNT]; /* those of the variables, with the blur's chain rule */
    int fresh;                         /* no evaluation yet since the coefficients were reset */
    size_t most;                       /* variables that a block can depend on */
    double *sums;  /* per block: gradient and normal matrix of its variables, then J, b0, b1, b2 */
    size_t room;   /* doubles per block */
    double *total; /* of the blocks: gradient and normal matrix of all variables, then a shared J */
    double *pulls; /* likewise, with NORMAL: the products of half the blocks' gradients */
    double *cross; /* [2][variables]: of a reflection */
    db_block_sums *linear_sums; /* [blocks], for an intensity that they share */
    double (*steps)[DB_LINEAR]; /* [blocks], likewise: the last step */
};

static inline double *db_objective_block_gradient(const db_objective *shot, size_t b) {
    return shot->work->sums + b * shot->work->room;
}
static inline double *db_objective_block_normal(const db_objective *shot, size_t b) {
    return db_objective_block_gradient(shot, b) + shot->work->most + DB_LINEAR;
}

/* The variables that a block depends on: a panel's pixels do not care for other groups. */
static inline size_t db_objective_block_variables(const db_objective *shot, size_t b,
                                                  size_t *list) {
    const db_panel_placement *const placement = &shot->placement;
    const size_t panel = shot->blocks.region[b].panel;
    return db_variables_of_group(&shot->variables,
                                 placement->start ? placement->groups->of_panel[panel] : -1, list);
}

/* Are the amplitudes unknowns? Not while the scale that they share is found. */
static inline int db_objective_has_reflections(const db_objective *shot) {
    return shot->amplitudes && shot->rule == DB_INTENSITY_ONE;
}

#endif
