/* The objective of one image, or of the part of it in use, as a function of the refined quantities:
 * given their values (evaluate.h), the loss, its gradient and its normal matrix, with the linear
 * coefficients of every block (intensity, background) eliminated. It knows no optimizer, no priors
 * and no other image. */
#ifndef DB_FIT_OBJECTIVE_OBJECTIVE_H
#define DB_FIT_OBJECTIVE_OBJECTIVE_H

#include "fit/config/quantity.h"
#include "fit/pixels/fit_data.h"
#include "fit/objective/variables.h"

/* How the intensity J of blocks is found. */
typedef enum db_intensity_rule {
    DB_INTENSITY_EACH,   /* free: every block has its own */
    DB_INTENSITY_SHARED, /* known: one for all blocks */
    DB_INTENSITY_ONE,    /* known: 1, the scale being a refined parameter */
    DB_INTENSITY_GIVEN /* free: as the blocks' solutions have them, of either sign; unknowns of the
                            blocks, which are not eliminated */
} db_intensity_rule;

typedef db_box_solution db_linear_solution;

/* What an evaluation works with; for the files of the objective alone. */
struct db_objective_work {
    db_plan *plan;
    db_boxes *boxes;                    /* of the plan: the blocks */
    int data_current;                   /* 1: the boxes have the blocks' data */
    db_experiment rendered;             /* blurred */
    db_link links[DB_FIT_MOST_COLUMNS]; /* those of the variables, with the blur's chain rule */
    db_box_rule *rule;                  /* [blocks] */
    db_box_links *list;                 /* one, or, with groups of panels, one for each panel */
    db_link *list_links;                /* [lists][DB_BLOCK_MOST_LINKS] */
    size_t lists;
    double at[DB_FIT_MOST_PARAMETERS]; /* values that the plan has */
    int is_placed;                     /* 1: it has some */
    db_boxes_image shown;              /* what is rendered at these; DB_BOXES_AS_BEFORE: nothing */
    int fresh;                         /* no evaluation yet since the coefficients were reset */
    size_t most;                       /* variables that a block can depend on */
    double *sums;  /* per block: gradient and normal matrix of its variables, then J, b0, b1, b2; as
                     db_boxes_gradient_of and db_boxes_normal_of have them */
    double *total; /* of the blocks: gradient and normal matrix of all variables, then a shared J */
    double
        *pulls; /* with NORMAL: sum of products of half the blocks' gradients, by all variables */
    db_block_sums *linear_sums; /* [blocks], for an intensity that they share */
    double (*steps)[DB_LINEAR]; /* [blocks], for a shared intensity: the last step */
};

typedef struct db_objective {
    db_context *context;
    db_experiment experiment;     /* at the last evaluated values; cell counts not blurred; owned,
                                     but for the structure factors */
    db_panel_placement placement; /* at the last evaluated values; owned */
    const db_fit_settings *settings;
    db_fit_blocks blocks;
    db_loss loss_of;
    db_intensity_rule rule;
    double blur;
    db_variables variables;

    double degrees; /* of freedom: pixels - linear coefficients - refined quantities */
    size_t pixels_used;

    /* Results of the last evaluation. */
    double loss;                             /* ridge included */
    double gradient[DB_FIT_MOST_PARAMETERS]; /* of the loss, per unit of the quantity */
    double *normal;               /* [count][count]: half the loss's second derivatives */
    double *scatter;              /* [count][count], with NORMAL: sum over blocks of the
                                     products of half their gradients */
    db_linear_solution *solution; /* [blocks]; also where the next evaluation begins */
    const float *trust;           /* [blocks] what of a block's loss counts; NULL: all; borrowed */
    const float *shape; /* rendered image, element by element like value; not after an evaluation
                           with sums_only */
    int sums_only; /* 1: evaluations do without the image, which may be on another device, until
                      db_objective_bring */

    struct db_objective_work *work;
} db_objective;

typedef struct db_objective_options {
    unsigned stages;         /* bits of those whose parameters are refined, see db_variables_make */
    const db_crystal *given; /* see db_variables_make; NULL: that of the experiment */
    const db_panel_placement *placement; /* how groups of panels came to stand where they do in the
                                            experiment; NULL: they have not moved */
    double blur;                         /* >= 1: divides the cell counts */
    db_fit_target target;
    int is_given; /* 1: free intensities are given from outside */
} db_objective_options;

/* *objective is zeroed on failure. Starts from the experiment's values; borrows its structure
 * factors, which must outlive the objective. */
db_status db_objective_create(db_context *context, const db_experiment *experiment,
                              const db_fit_settings *settings, const db_fit_blocks *blocks,
                              const db_objective_options *options, db_objective *objective);
void db_objective_destroy(db_objective *objective);

/* Forgets the coefficients of the last evaluation: the next one begins as the first did. Counts the
 * pixels in use. */
void db_objective_restart(db_objective *objective);

/* A block as the functions of block.h take it, under the model of the last evaluation. */
db_block db_objective_block(const db_objective *objective, size_t block);

/* How many coefficients of a block's background the settings refine: the first ones of b0, b1, b2. */
int db_plane_terms(const db_fit_settings *settings);
/* 1: the blocks' local background is fixed, and what is refined comes on top. */
int db_background_is_fixed(const db_fit_settings *settings, int holds_light);

/* The blocks' values, weights or backgrounds are others: to be said before the next evaluation. */
void db_objective_data_changed(db_objective *objective);

/* How much an evaluation finds out. NORMAL includes the gradient. */
typedef enum db_objective_depth {
    DB_OBJECTIVE_LOSS,
    DB_OBJECTIVE_GRADIENT,
    DB_OBJECTIVE_NORMAL
} db_objective_depth;

/* The rest is for the files of the objective alone. */

static inline double *db_objective_block_gradient(const db_objective *objective, size_t b) {
    return db_boxes_gradient_of(objective->work->sums, objective->work->most, b);
}
static inline double *db_objective_block_normal(const db_objective *objective, size_t b) {
    return db_boxes_normal_of(objective->work->sums, objective->work->most, b);
}

/* The variables that blocks on a panel depend on: motions of other groups do not move its pixels. */
static inline size_t db_objective_panel_variables(const db_objective *objective, size_t panel,
                                                  size_t *list) {
    const db_panel_placement *const placement = &objective->placement;
    return db_variables_of_group(
        &objective->variables,
        placement->start ? db_fit_panel_groups_of(placement->groups, panel) : -1, list);
}
static inline size_t db_objective_block_variables(const db_objective *objective, size_t b,
                                                  size_t *list) {
    return db_objective_panel_variables(objective, objective->blocks.region[b].panel, list);
}

/* With an intensity that all blocks share: how much of its pull goes with a variable, after an
 * evaluation of depth NORMAL. */
static inline double db_objective_shared_part(const db_objective *objective, size_t variable) {
    const size_t n = objective->variables.count;
    const double *const row = objective->work->total + (n + 1) * (n + 1);
    return row[n] > 0 ? row[variable] / row[n] : 0;
}

/* What of a block's loss counts. */
static inline double db_objective_trust(const db_objective *objective, size_t block) {
    return objective->trust ? (double)objective->trust[block] : 1;
}

#endif
