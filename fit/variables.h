/* The refined quantities of a stage, and what they do to an experiment. A quantity moves one or
 * several parameters of the table linearly:
 *
 *     parameter = start + sum over links of slope x (quantity - its start)
 *
 * Most move one with slope 1; a quantity that others follow moves them all. Knows no optimizer and
 * no data. */
#ifndef DB_FIT_VARIABLES_H
#define DB_FIT_VARIABLES_H

#include "fit/block.h"

typedef struct db_variables {
    size_t count;                     /* quantities */
    size_t index[DB_PARAMETER_COUNT]; /* of each among the settings' parameters */
    double start[DB_PARAMETER_COUNT];
    double lower[DB_PARAMETER_COUNT], upper[DB_PARAMETER_COUNT];  /* user's and physical bounds */
    double centre[DB_PARAMETER_COUNT], sigma[DB_PARAMETER_COUNT]; /* priors; sigma INFINITY: none */

    size_t columns;                             /* parameters of the table that move */
    db_parameter parameter[DB_PARAMETER_COUNT]; /* of each column */
    double origin[DB_PARAMETER_COUNT];          /* its value at the start */
    db_link links[DB_PARAMETER_COUNT];
    size_t link_count;
} db_variables;

/* Those of the settings' parameters that are marked in active[db_parameter], with the followers of
 * each, starting from the experiment's values. `turned` (degree, about the laboratory axes; NULL:
 * none) is what of the misset has been folded into the experiment's orientation since the values
 * that bounds and priors mean (see fit/misset.h). */
void db_variables_make(const db_fit_settings *settings, const unsigned char *active,
                       const double *turned, const db_experiment *experiment,
                       db_variables *variables);

/* Writes the parameters that belong to values of the quantities into an experiment. */
void db_variables_set(const db_variables *variables, const double *values,
                      db_experiment *experiment);

/* Adds the priors' ((value - centre) / sigma)^2 to a loss, its gradient and its normal matrix
 * ([count][count], both triangles; half second derivatives). gradient and normal may be NULL. */
void db_variables_add_priors(const db_variables *variables, const double *values, double *loss,
                             double *gradient, double *normal);

#endif
