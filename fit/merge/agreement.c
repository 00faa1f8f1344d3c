/* Intensities by the likelihood of measurements of which a share is wrong (docs/theory/merging.md, Scales). */
#include "fit/merge/agreement.h"

#include <math.h>

void db_agreement_add(db_agreement *agreement, double value, double variance) {
    const float kept = (float)variance; /* 0 or infinite far beyond what light can have */
    if (agreement->count == DB_AGREEMENT_MOST || !(kept > 0 && isfinite(kept))) return;
    agreement->value[agreement->count] = (float)value;
    agreement->variance[agreement->count++] = kept;
}

/* Densities, times sqrt(2 pi): of a right measurement (Gauss); of a wrong one, and of intensities (Cauchy). */
static double right_density(const db_agreement *a, int i, double intensity) {
    const double off = (double)a->value[i] - intensity, variance = (double)a->variance[i];
    return exp(-0.5 * off * off / variance) / sqrt(variance);
}
static double wide_density(const db_agreement *a, double value, double variance) {
    const double square = a->width * a->width + variance, off = value - a->middle;
    return 0.7978845608 / (sqrt(square) * (1 + off * off / square)); /* sqrt(2 / pi) */
}

/* Improves an intensity (expectation maximization); returns the logarithm of its probability. wrong: number of wrong
 * measurements; found: set to 1 for those that are right. */
static double improve_intensity(const db_agreement *a, const double *wrong_of, double share,
                                double *intensity, double *wrong, int *found) {
    enum { STEPS = 4 };
    double probability = 0;
    for (int step = 0; step < STEPS; step++) {
        double sum = 0, weight = 0,
               product = 1; /* of likelihoods, relative to those of wrong ones */
        *wrong = 0;
        for (int i = 0; i < a->count; i++) {
            const double right = (1 - share) * right_density(a, i, *intensity),
                         both = right + share * wrong_of[i], part = right / both;
            product *= both / wrong_of[i];
            *wrong += 1 - part;
            sum += part * (double)a->value[i] / (double)a->variance[i];
            weight += part / (double)a->variance[i];
            if (step + 1 == STEPS && part > 0.5) found[i] = 1;
        }
        probability = log(product) + log(wide_density(a, *intensity, 0));
        if (step + 1 < STEPS && weight > 0) *intensity = sum / weight;
    }
    return probability;
}

/* Begins at each measurement that is wrong for the others, because any may be right. Returns the number of wrong ones. */
static double find_agreed(db_agreement *a, double share) {
    double best = -INFINITY, fewest = 0, wrong_of[DB_AGREEMENT_MOST];
    int found[DB_AGREEMENT_MOST] = { 0 };
    a->agreed = a->middle;
    for (int i = 0; i < a->count; i++)
        wrong_of[i] = wide_density(a, (double)a->value[i], (double)a->variance[i]);
    for (int i = 0; i < a->count; i++) {
        double intensity = (double)a->value[i], wrong;
        if (found[i]) continue;
        const double probability = improve_intensity(a, wrong_of, share, &intensity, &wrong, found);
        if (!(probability > best)) continue;
        best = probability;
        fewest = wrong;
        a->agreed = intensity;
    }
    return fewest;
}

void db_agreements_find(db_agreement *list, size_t count) {
    enum { ROUNDS = 3 };
    double share = 0.1;
    for (int round = 0; round < ROUNDS; round++) {
        double wrong = 1, all = 10; /* measurements that are known before: the first share */
        for (size_t r = 0; r < count; r++) {
            const double of_these = find_agreed(&list[r], share);
            if (list[r].count < 3)
                continue; /* one is always right, and of two that differ none surely is */
            wrong += of_these;
            all += list[r].count;
        }
        share = wrong / all;
    }
}
