/* Do numbers follow a distribution? Each function answers with the probability of a deviation at
 * least as large, were the distribution right. */
#ifndef DB_TESTS_NOISE_STATISTICS_H
#define DB_TESTS_NOISE_STATISTICS_H

#include <stddef.h>

/* A right generator gets past one comparison with a probability of 1 - FALSE_ALARM. Seeds are
 * fixed, so that a test that passes once always passes. */
#define FALSE_ALARM 1e-6

/* Fails the test, naming what was compared, unless the probability is between FALSE_ALARM/2 and
 * 1 - FALSE_ALARM/2: agreement too good to be true is a failure as well. */
void assert_plausible(double probability, const char *what, double at);

/* z is normal with deviation 1: two-sided. */
double normal_probability(double z);

/* Chi-square of observed counts against expected ones; classes must be large enough (>= 10). */
double chi_square_probability(const double *observed, const double *expected, size_t classes);

/* Chi-square of whole numbers against Poisson's distribution, in classes of about a quarter of the
 * standard deviation. */
double poisson_probability(const double *number, size_t count, double mean);

/* Kolmogorov and Smirnov against the normal distribution of deviation 1; sorts the numbers. */
double kolmogorov_probability(double *number, size_t count);

/* Mean and variance of a sample; z of its mean, given the true mean and variance. */
double sample_mean(const double *number, size_t count);
double sample_variance(const double *number, size_t count);

/* z of the correlation of two samples of independent numbers. */
double correlation_z(const double *a, const double *b, size_t count);

#endif
