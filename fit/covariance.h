/* Errors and correlations of refined parameters from the normal matrix J^T J. */
#ifndef DB_FIT_COVARIANCE_H
#define DB_FIT_COVARIANCE_H

#include <stddef.h>

/* normal: [count][count], J^T J of residuals in units of their standard deviations; `used` (one per
 * parameter) leaves out those held at a bound. inflation multiplies the variances. error[i] is NAN
 * for parameters left out, INFINITY for those without influence, and for all others if the data do
 * not determine some combination of them. correlation: [count][stride]; 1 on the diagonal, 0 where
 * undefined. */
void db_covariance(const double *normal, size_t count, const int *used, double inflation,
                   double *error, double *correlation, size_t stride);

#endif
