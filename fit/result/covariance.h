/* Errors, correlations and badly determined directions from the normal matrix J^T J
 * (docs/theory/refinement.md, Errors). */
#ifndef DB_FIT_RESULT_COVARIANCE_H
#define DB_FIT_RESULT_COVARIANCE_H

#include <dualbragg/fit.h>

/* Covariance of `count` parameters, in their order; owned. */
typedef struct db_covariance {
    size_t count;
    double *error; /* standard errors; NAN: left out; INFINITY: part of an undetermined direction */
    /* standard errors from the scatter of parts of the data (fit/result/errors.h), in the determined directions; NAN:
     * none */
    double *robust;
    double *inverse; /* [count][count] inverse of the normal matrix, in the determined directions */
    double **correlation;        /* [i][k]: 1 on the diagonal; 0 where an error is not finite */
    db_fit_direction *direction; /* the worst determined first */
    size_t direction_count;      /* parameters not left out */
    double *numbers;             /* of all these lists */
} db_covariance;

/* Least part of the largest eigenvalue; less is rounding. Derivative images are floats, whose errors of 1e-7 enter squared. */
#define DB_LEAST_EIGENVALUE 1e-12

/* normal: [count][count], of residuals in units of their standard deviations; `used` (one per parameter) leaves out those held
 * at a bound; least: DB_LEAST_EIGENVALUE, or more if the matrix is less exact. Clear the estimate with db_covariance_clear,
 * also after a failure. */
db_status db_covariance_estimate(db_context *context, const double *normal, size_t count,
                                 const int *used, double least, db_covariance *estimate);

/* Makes room for an inverse that is found elsewhere, [count][count] of 0; then takes errors and correlations from
 * it. An error is NAN if the diagonal is 0; one of INFINITY stays. */
db_status db_covariance_make(db_context *context, size_t count, db_covariance *estimate);
void db_covariance_take_inverse(db_covariance *estimate);

/* A parameter takes part in an undetermined direction from this component on. */
#define DB_LEAST_COMPONENT 1e-4

int db_direction_is_determined(const db_fit_direction *direction);

/* Standard error of a parameter, in the determined directions, from independent parts of the data. scatter: [count][count], sum over parts of the
 * products of half their gradients. It is the sandwich normal^-1 scatter normal^-1 (Huber 1967, White 1982), which
 * also holds for a wrong model or noise. */
double db_covariance_sandwich(const db_covariance *estimate, const double *scatter, size_t i);

void db_covariance_clear(db_covariance *estimate);

#endif
