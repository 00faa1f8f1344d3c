#include "support/unit_test.h"
#include "noise/statistics.h"

#ifdef DB_HAVE_GSL

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

void assert_plausible(double probability, const char *what, double at) {
    if (probability > FALSE_ALARM / 2 && probability < 1 - FALSE_ALARM / 2) return;
    fail_msg("%s at %g: a deviation with a probability of %g", what, at, probability);
}

double normal_probability(double z) { return 2 * gsl_cdf_ugaussian_Q(fabs(z)); }

double chi_square_probability(const double *observed, const double *expected, size_t classes) {
    double chi_square = 0;
    for (size_t i = 0; i < classes; i++) {
        const double d = observed[i] - expected[i];
        chi_square += d * d / expected[i];
    }
    return gsl_cdf_chisq_Q(chi_square, (double)(classes - 1));
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double count_up_to(const double *sorted, size_t count, double k) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] <= k)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low;
}

double poisson_probability(const double *number, size_t count, double mean) {
    enum { MOST = 256, LEAST_EXPECTED = 10 };
    double observed[MOST], expected[MOST], *sorted = malloc(count * sizeof *sorted);
    assert_non_null(sorted);
    for (size_t i = 0; i < count; i++) sorted[i] = number[i];
    qsort(sorted, count, sizeof *sorted, by_size);
    const double step = fmax(1, floor(sqrt(mean) / 4)), n = (double)count,
                 first = fmax(0, floor(mean - 8 * sqrt(mean)));
    size_t classes = 0;
    double below = 0, up_to = 0, seen = 0;
    for (double k = first; n * (1 - up_to) >= LEAST_EXPECTED && classes < MOST - 1; k++) {
        up_to += gsl_ran_poisson_pdf((unsigned)k, mean);
        if (fmod(k - first, step) != 0 || n * (up_to - below) < LEAST_EXPECTED ||
            n * (1 - up_to) < LEAST_EXPECTED)
            continue;
        const double seen_up_to = count_up_to(sorted, count, k);
        expected[classes] = n * (up_to - below);
        observed[classes++] = seen_up_to - seen;
        below = up_to;
        seen = seen_up_to;
    }
    expected[classes] = n * (1 - below);
    observed[classes++] = n - seen;
    free(sorted);
    return chi_square_probability(observed, expected, classes);
}

double kolmogorov_probability(double *number, size_t count) {
    qsort(number, count, sizeof *number, by_size);
    double distance = 0;
    for (size_t i = 0; i < count; i++) {
        const double p = gsl_cdf_ugaussian_P(number[i]);
        distance = fmax(distance,
                        fmax(p - (double)i / (double)count, (double)(i + 1) / (double)count - p));
    }
    /* asymptotic distribution, with Stephens's correction for finite samples */
    const double root = sqrt((double)count), t = (root + 0.12 + 0.11 / root) * distance;
    double q = 0;
    for (int j = 1; j < 100; j++) q += (j % 2 ? 2 : -2) * exp(-2.0 * j * j * t * t);
    return t < 0.2 ? 1 : q;
}

double sample_mean(const double *number, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += number[i];
    return sum / (double)count;
}

double sample_variance(const double *number, size_t count) {
    const double mean = sample_mean(number, count);
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (number[i] - mean) * (number[i] - mean);
    return sum / (double)(count - 1);
}

double correlation_z(const double *a, const double *b, size_t count) {
    const double mean_a = sample_mean(a, count), mean_b = sample_mean(b, count);
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (a[i] - mean_a) * (b[i] - mean_b);
    return sum / sqrt(sample_variance(a, count) * sample_variance(b, count) * (double)count);
}

#else
typedef int not_empty;
#endif
