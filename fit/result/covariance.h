/* Errors, correlations and badly determined directions from the normal matrix J^T J
 * (docs/theory/refinement.md, Errors). */
#ifndef DB_FIT_RESULT_COVARIANCE_H
#define DB_FIT_RESULT_COVARIANCE_H

#include <dualbragg/fit.h>

/* Of `count` parameters, in their order; owned. */
typedef struct db_covariance {
    double *error;  /* standard errors; NAN: left out; INFINITY: takes part in a direction that the
                       data do not determine */
    double *robust; /* standard errors from the scatter */
    double **correlation;        /* [i][k]: 1 on the diagonal; 0 where an error is not finite */
    db_fit_direction *direction; /* the worst determined first */
    size_t direction_count;      /* parameters not left out */
    double *numbers;             /* of all these lists */
} db_covariance;

/* normal: [count][count], of residuals in units of their standard deviations; `used` (one per
 * parameter) leaves out those held at a bound. scatter: [count][count], sum over independent parts
 * of the data of the products of half their gradients; it gives robust errors, those of the
 * sandwich normal^-1 scatter normal^-1 (Huber 1967, White 1982), which hold for a wrong model or
 * noise, too; NULL: robust stays NAN. Clear the estimate with db_covariance_clear, also after a
 * failure. */
db_status db_covariance_estimate(db_context *context, const double *normal, const double *scatter,
                                 size_t count, const int *used, db_covariance *estimate);

/* The error of parameter i by how much `parts` independent parts of the data (blocks, shots)
 * disagree; each of `quantities` that are refined takes some of the disagreement away. NAN: too few
 * parts to tell. */
double db_covariance_robust_error(const db_covariance *estimate, size_t i, size_t parts,
                                  size_t quantities);

void db_covariance_clear(db_covariance *estimate);

#endif
