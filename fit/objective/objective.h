/* Objective of one image, or of its part in use, as a function of the refined quantities. An evaluation
 * (evaluate.h) gives its loss, gradient and normal matrix; the linear coefficients of every block (intensity,
 * background) are eliminated. It has no optimizer, no priors and no other images. */
#ifndef DB_FIT_OBJECTIVE_OBJECTIVE_H
#define DB_FIT_OBJECTIVE_OBJECTIVE_H

#include "fit/config/quantity.h"
#include "fit/objective/variables.h"
#include "fit/pixels/fit_data.h"

/* Rule for the intensity J of blocks. */
typedef enum db_intensity_rule {
    DB_INTENSITY_EACH,   /* free: each block has its own */
    DB_INTENSITY_SHARED, /* known: all blocks share one */
    DB_INTENSITY_ONE,    /* known: 1, because the scale is a refined parameter */
    DB_INTENSITY_NEAR, /* known within intensity_error: each block has its own, with a prior about 1 */
    /* free: given by the blocks' solutions, of either sign; unknowns that are not eliminated */
    DB_INTENSITY_GIVEN
} db_intensity_rule;

typedef db_box_solution db_linear_solution;

/* Working memory of an evaluation, for files of the objective only. */
struct db_objective_work {
    db_plan *plan;
    db_boxes *boxes;        /* of the plan: the blocks */
    int data_current;       /* 1: the boxes have the blocks' data */
    db_experiment rendered; /* blurred */
    /* links of the variables, with the chain rule of the blur */
    db_link links[DB_FIT_MOST_COLUMNS];
    db_box_rule *rule;   /* [blocks] */
    db_box_links *list;  /* one list, or with panel groups one for each panel */
    db_link *list_links; /* [lists][DB_BLOCK_MOST_LINKS] */
    size_t lists;
    double at[DB_FIT_MOST_PARAMETERS]; /* values of the plan */
    int is_placed;                     /* 1: the plan has values */
    /* the rendered image of these values; DB_BOXES_AS_BEFORE: none */
    db_boxes_image shown;
    int fresh;   /* 1: no evaluation since the coefficients were reset */
    size_t most; /* most variables of a block */
    /* per block: gradient and normal matrix of its variables, then J, b0, b1, b2, as in
     * db_boxes_gradient_of and db_boxes_normal_of */
    double *sums;
    /* sum over blocks: gradient and normal matrix of all variables, then a shared J */
    double *total;
    /* with NORMAL: sum over blocks of products of half their gradients, by all variables */
    double *pulls;
    db_block_sums *linear_sums; /* [blocks], for a shared intensity */
    double (*steps)[DB_LINEAR]; /* [blocks], for a shared intensity: the last step */
};

typedef struct db_objective {
    db_context *context;
    /* at the last evaluated values; cell counts not blurred; owned, except for the structure
     * factors */
    db_experiment experiment;
    db_panel_placement placement; /* at the last evaluated values; owned */
    const db_fit_settings *settings;
    db_fit_blocks blocks;
    db_loss loss_of;
    db_intensity_rule rule;
    double blur;
    db_variables variables;

    double degrees; /* degrees of freedom: pixels - linear coefficients - refined quantities */
    size_t pixels_used;

    /* Results of the last evaluation. */
    double loss;                  /* ridge included */
    double *gradient;             /* [count] per unit of the quantity */
    double *normal;               /* [count][count]: half the loss's second derivatives */
    double *scatter;              /* [count][count], with NORMAL: sum over blocks of the
                                     products of half their gradients */
    db_linear_solution *solution; /* [blocks]; start of the next evaluation */
    const float *trust;           /* [blocks] weight of a block's loss; NULL: 1; borrowed */
    /* rendered image, laid out like value; not after an evaluation with sums_only */
    const float *shape;
    /* 1: evaluations leave out the image, which may be on another device, until
     * db_objective_bring */
    int sums_only;

    struct db_objective_work *work;
} db_objective;

typedef struct db_objective_options {
    /* bits of the stages whose parameters are refined, see db_variables_make */
    unsigned stages;
    const db_crystal *given; /* see db_variables_make; NULL: the crystal of the experiment */
    const db_panel_placement *placement; /* motions of panel groups in the experiment; NULL: none */
    double blur;                         /* >= 1: divides the cell counts */
    db_fit_target target;
    int is_given; /* 1: free intensities are given */
} db_objective_options;

/* Makes an objective at the experiment's values; borrows its structure factors, which must outlive the objective.
 * *objective is zeroed on failure. */
db_status db_objective_create(db_context *context, const db_experiment *experiment,
                              const db_fit_settings *settings, const db_fit_blocks *blocks,
                              const db_objective_options *options, db_objective *objective);
void db_objective_destroy(db_objective *objective);

/* Forgets the coefficients of the last evaluation: the next one begins like the first. Counts the pixels in use. */
void db_objective_restart(db_objective *objective);

/* A block for the functions of block.h, with the model of the last evaluation. */
db_block db_objective_block(const db_objective *objective, size_t block);

/* Number of refined coefficients of a block's background: the first ones of b0, b1, b2. */
int db_plane_terms(const db_fit_settings *settings);
/* 1: the blocks' local background is fixed, and refined terms are added. */
int db_background_is_fixed(const db_fit_settings *settings, int holds_light);

/* To be called after changes of the blocks' values, weights or backgrounds, before the next evaluation. */
void db_objective_data_changed(db_objective *objective);

/* Depth of an evaluation. NORMAL includes the gradient. */
typedef enum db_objective_depth {
    DB_OBJECTIVE_LOSS,
    DB_OBJECTIVE_GRADIENT,
    DB_OBJECTIVE_NORMAL
} db_objective_depth;

/* The rest is only for files of the objective. */

/* Does each block have an intensity of its own, which is eliminated? */
static inline int db_objective_has_own_intensities(const db_objective *objective) {
    return objective->rule == DB_INTENSITY_EACH || objective->rule == DB_INTENSITY_NEAR;
}

static inline double *db_objective_block_gradient(const db_objective *objective, size_t b) {
    return db_boxes_gradient_of(objective->work->sums, objective->work->most, b);
}
static inline double *db_objective_block_normal(const db_objective *objective, size_t b) {
    return db_boxes_normal_of(objective->work->sums, objective->work->most, b);
}

/* Variables of blocks on a panel: motions of other groups do not move its pixels. */
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

/* For a shared intensity: the part of its pull that goes with a variable, after an evaluation of depth NORMAL. */
static inline double db_objective_shared_part(const db_objective *objective, size_t variable) {
    const size_t n = objective->variables.count;
    const double *const row = objective->work->total + (n + 1) * (n + 1);
    return row[n] > 0 ? row[variable] / row[n] : 0;
}

/* Weight of a block's loss. */
static inline double db_objective_trust(const db_objective *objective, size_t block) {
    return objective->trust ? (double)objective->trust[block] : 1;
}

/* Runs db_boxes_evaluate for all blocks, with the objective's loss and rule, from and to its solutions. result:
 * work->sums for GRADIENT and NORMAL, work->linear_sums for LINEAR. Nothing without blocks. */
db_status db_objective_run_boxes(db_objective *objective, db_boxes_image image, int solve,
                                 db_boxes_sums sums);

/* Brings the rendered image into objective->shape. */
db_status db_objective_bring(db_objective *objective);

#endif
