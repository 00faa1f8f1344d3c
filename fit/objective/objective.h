/* A shot: one image, or the part of it in use, as a function of the refined quantities. Given their
 * values it tells the loss, its gradient and its normal matrix, with the linear coefficients of
 * every block (intensity, background) eliminated. It knows no optimizer, no priors and no other
 * shot. */
#ifndef DB_FIT_OBJECTIVE_OBJECTIVE_H
#define DB_FIT_OBJECTIVE_OBJECTIVE_H

#include "fit/pixels/fit_data.h"
#include "fit/objective/variables.h"

struct db_amplitudes;

/* How the intensity J of blocks is found. */
typedef enum db_intensity_rule {
    DB_INTENSITY_EACH,   /* free: every block has its own */
    DB_INTENSITY_SHARED, /* known: one for all blocks */
    DB_INTENSITY_ONE     /* known: 1, the scale being a refined parameter */
} db_intensity_rule;

typedef struct db_linear_solution {
    double linear[DB_LINEAR]; /* J, plane */
    double variance;          /* of J; 0 where J is not free */
    double loss;              /* of the block */
} db_linear_solution;

typedef struct db_objective {
    db_context *context;
    db_experiment experiment;     /* at the last evaluated values; cell counts not blurred; owned,
                                     but for the structure factors */
    db_panel_placement placement; /* likewise; owned */
    const db_fit_settings *settings;
    db_fit_blocks blocks;
    db_loss loss_of;
    db_intensity_rule rule;
    double blur;
    const struct db_amplitudes *amplitudes; /* as in the options */
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
    float *shape;                 /* rendered image, element by element like value */

    struct db_objective_work *work;
} db_objective;

typedef struct db_objective_options {
    unsigned stages;      /* bits of those whose parameters are refined, see db_variables_make */
    const double *turned; /* see db_variables_make; NULL: none */
    const db_panel_placement *placement; /* how groups of panels came to stand where they do in the
                                            experiment; NULL: they have not moved */
    const struct db_amplitudes
        *amplitudes; /* reflections of the blocks (fit/objective/amplitudes.h), whose
                                               intensities are unknowns if the scale is a parameter;
                                               J is then that over the given one. NULL: they are as
                                               given. Borrowed */
    double blur;     /* >= 1: divides the cell counts */
    db_fit_target target;
} db_objective_options;

/* *shot is zeroed on failure. Starts from the experiment's values; borrows its structure factors,
 * which must outlive the shot. */
db_status db_objective_create(db_context *context, const db_experiment *experiment,
                              const db_fit_settings *settings, const db_fit_blocks *blocks,
                              const db_objective_options *options, db_objective *shot);
void db_objective_destroy(db_objective *shot);

typedef enum db_objective_depth {
    DB_OBJECTIVE_LOSS,
    DB_OBJECTIVE_GRADIENT,
    DB_OBJECTIVE_NORMAL
} db_objective_depth;

/* Evaluates at values of the refined quantities. NORMAL includes the gradient. Allocates nothing;
 * the same bits for any number of threads. */
db_status db_objective_evaluate(db_objective *shot, const double *values, db_objective_depth depth);

/* The two parts of an evaluation of the loss alone: the image, and the coefficients of its blocks,
 * which may be found again for the same image after weights have changed. */
db_status db_objective_render(db_objective *shot, const double *values);
void db_objective_solve(db_objective *shot);

/* Forgets the coefficients of the last evaluation: the next one begins as the first did. */
void db_objective_restart(db_objective *shot);

/* A block as the functions of fit/objective/block.h take it, under the model of the last evaluation. */
db_block db_objective_block(const db_objective *shot, size_t block);

#endif
