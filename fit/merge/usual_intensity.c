/* Weighted means of shells, in rounds: uncertain intensities have little weight. */
#include "fit/merge/usual_intensity.h"

#include <math.h>

/* Of one shell, by the mean before. */
typedef struct shell_sum {
    double sum, weight;
} shell_sum;

static void add_to_shells(const db_asu_list *list, const db_shells *shells, const double *intensity,
                          const double *sigma, const double *also, const double *mean,
                          shell_sum *sums) {
    for (uint32_t r = 0; r < list->count; r++) {
        if (isnan(intensity[r]) || (also && isnan(also[r]))) continue;
        const int b = db_shell_of(shells, (double)list->d[r]);
        const double epsilon = list->epsilon[r], error = sigma ? sigma[r] / epsilon : 0,
                     weight = 1 / (mean[b] * mean[b] + error * error);
        if (!(weight > 0) || isinf(weight)) continue;
        sums[b].sum += weight * intensity[r] / epsilon;
        sums[b].weight += weight;
    }
}

void db_usual_intensities(const db_asu_list *list, const db_shells *shells, const double *intensity,
                          const double *sigma, const double *also, double *mean) {
    const int rounds = 12;
    const double certain = 2; /* standard errors */
    for (int b = 0; b < shells->count; b++) mean[b] = sigma ? 0 : 1;
    for (int round = 0; round < rounds; round++) {
        shell_sum sums[DB_MOST_SHELLS] = { { 0 } };
        add_to_shells(list, shells, intensity, sigma, also, mean, sums);
        for (int b = 0; b < shells->count; b++)
            mean[b] = sums[b].weight > 0
                          ? fmax(sums[b].sum, certain * sqrt(sums[b].weight)) / sums[b].weight
                          : 0;
    }
}
