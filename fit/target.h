/* The target of a refinement: chi2 of an image against a model whose linear coefficients are
 * eliminated, as a function of the nonlinear parameters, with its gradient. */
#ifndef DB_FIT_TARGET_H
#define DB_FIT_TARGET_H

#include "fit/varpro.h"

/* How the intensity J of blocks is found. */
typedef enum db_intensity_rule {
    DB_INTENSITY_EACH,   /* free: every block has its own */
    DB_INTENSITY_SHARED, /* known: one for all blocks */
    DB_INTENSITY_ONE     /* known: 1, the scale being a refined parameter */
} db_intensity_rule;

/* The data: blocks of pixels, each with its own plane. Borrowed by the target. */
typedef struct db_fit_blocks {
    size_t count;
    const db_region *region;     /* offsets and strides address value and weight */
    const float *value, *weight; /* counts, 1/variance */
    const double *ridge;         /* [count] on J; NULL: none */
} db_fit_blocks;

typedef struct db_target {
    db_context *context;
    db_experiment experiment; /* at the last evaluated parameters; cell counts not blurred; owned */
    const db_fit_settings *settings;
    db_fit_blocks blocks;
    db_intensity_rule rule;
    double blur;

    size_t count;                     /* refined parameters */
    size_t index[DB_PARAMETER_COUNT]; /* of each among those of the settings */
    double degrees;                   /* pixels - linear coefficients - refined parameters */
    size_t pixels_used;

    /* Results of the last evaluation. */
    double chi2;                         /* ridge included */
    double gradient[DB_PARAMETER_COUNT]; /* of chi2, per unit of the parameter */
    double *normal;                      /* [count][count] J^T J */
    db_varpro_solution *solution;        /* [blocks] */
    float *shape;                        /* rendered image, element by element like value */

    struct db_target_work *work;
} db_target;

/* Refines the parameters of the settings that are marked in active[db_parameter]; followers of
 * those follow. blur >= 1 divides the cell counts. *target is zeroed on failure. */
db_status db_target_create(db_context *context, const db_experiment *experiment,
                           const db_fit_settings *settings, const db_fit_blocks *blocks,
                           const unsigned char *active, double blur, db_target *target);
void db_target_destroy(db_target *target);

/* Value of a block's plane at one of its pixels, counted from its first one. */
static inline double db_block_plane(const double linear[DB_LINEAR], const db_region *block,
                                    int fast, int slow) {
    return linear[1] + linear[2] * (fast - 0.5 * (block->fast_count - 1)) +
           linear[3] * (slow - 0.5 * (block->slow_count - 1));
}

typedef enum db_target_depth {
    DB_TARGET_VALUE,
    DB_TARGET_GRADIENT,
    DB_TARGET_NORMAL
} db_target_depth;

/* Evaluates at values of the refined parameters, in their unit. NORMAL includes the gradient.
 * Allocates nothing. */
db_status db_target_evaluate(db_target *target, const double *values, db_target_depth depth);

/* Writes parameter values, and those of their followers, into an experiment. */
void db_target_set(const db_target *target, const double *values, db_experiment *experiment);

/* The experiment that a refinement with free intensities renders: every amplitude is 1. */
db_status db_target_unit_amplitudes(db_context *context, const db_experiment *experiment,
                                    db_experiment *copy);

#endif
