/* Statistics of merged intensities. */
#include "fit/merge/statistics.h"

#include "base/quantile.h"
#include "fit/merge/likeness.h"
#include "fit/merge/scaling.h"

#include <math.h>
#include <string.h>

/* Sums of one shell, relative to the mean. */
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

/* mean: [shells->count] receives the means of intensities over their epsilon, weighted by their errors and the
 * spread of intensities; or two of their standard errors, if they are less; 0 in empty shells. intensity, sigma:
 * [list->count], NAN if missing; sigma NULL: without errors. also: only reflections with a value there count; or
 * NULL. */
static void usual_intensities(const db_asu_list *list, const db_shells *shells,
                              const double *intensity, const double *sigma, const double *also,
                              double *mean) {
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

/* Running means, squares and products of two values (B. P. Welford, Technometrics 4 (1962) 419). */
typedef struct correlation {
    double n, x, y, xx, yy, xy; /* n: sum of weights */
} correlation;

static void add_weighted(correlation *c, double weight, double x, double y) {
    const double dx = x - c->x, dy = y - c->y;
    if (!(weight > 0)) return;
    c->n += weight;
    c->x += weight * dx / c->n;
    c->y += weight * dy / c->n;
    c->xx += weight * dx * (x - c->x);
    c->yy += weight * dy * (y - c->y);
    c->xy += weight * dx * (y - c->y);
}

static void add_values(correlation *c, double x, double y) { add_weighted(c, 1, x, y); }

/* Correlation; none for constants, though rounding may leave them a variance. */
static double value_of(const correlation *c) {
    const double least = 1e-24 * c->n;
    if (!(c->xx > least * c->x * c->x) || !(c->yy > least * c->y * c->y)) return NAN;
    return c->xy / sqrt(c->xx * c->yy);
}

typedef struct shell_sums {
    correlation half, anomalous, reference, differences, half_weighted, anomalous_weighted;
    size_t measurements, reflections;
    double intensity, over_sigma, apart, together, off, given;
} shell_sums;

/* Does it have an intensity from all shots and from both halves? */
static int is_measured(const db_merged *m, size_t r) { return !isnan(m->intensity[r]); }
static int is_in_halves(const db_merged *m, size_t r) {
    return !isnan(m->half[0][r]) && !isnan(m->half[1][r]);
}

/* Weight of values with these squared errors, beside the usual intensity. */
static double weight_of(double squares, double usual) {
    return usual > 0 && squares >= 0 ? 1 / (1 + squares / (usual * usual)) : 0;
}

/* Squared errors of both halves. */
static double half_squares(const db_merged *m, size_t r) {
    return m->half_sigma[0][r] * m->half_sigma[0][r] + m->half_sigma[1][r] * m->half_sigma[1][r];
}

static void add_reflection(const db_merged *m, size_t r, const double *reference, double scale,
                           double usual, shell_sums *sums) {
    sums->measurements += m->multiplicity[r];
    sums->reflections++;
    sums->intensity += m->intensity[r];
    sums->over_sigma += m->intensity[r] / m->sigma[r];
    if (is_in_halves(m, r)) {
        add_values(&sums->half, m->half[0][r], m->half[1][r]);
        add_weighted(&sums->half_weighted, weight_of(half_squares(m, r), usual), m->half[0][r],
                     m->half[1][r]);
        sums->apart += fabs(m->half[0][r] - m->half[1][r]);
        sums->together += m->half[0][r] + m->half[1][r];
    }
    if (!reference || isnan(reference[r])) return;
    add_values(&sums->reference, scale * reference[r], m->intensity[r]);
    sums->off += fabs(m->intensity[r] - scale * reference[r]);
    sums->given += fabs(scale * reference[r]);
}

/* Adds values that count once for both mates; r is the first of them. */
static void add_pair(const db_asu_list *list, const db_merged *m, uint32_t r,
                     const double *reference, double scale, double usual, db_merge_shell *shell,
                     shell_sums *sums) {
    const uint32_t mate = list->mate[r];
    shell->possible++;
    shell->measured += is_measured(m, r) || is_measured(m, mate);
    if (mate == r) return;
    shell->pairs++;
    shell->pairs_measured += is_measured(m, r) && is_measured(m, mate);
    if (is_in_halves(m, r) && is_in_halves(m, mate)) {
        const double first = m->half[0][r] - m->half[0][mate],
                     second = m->half[1][r] - m->half[1][mate],
                     squares = half_squares(m, r) + half_squares(m, mate);
        add_values(&sums->anomalous, first, second);
        add_weighted(&sums->anomalous_weighted, weight_of(squares, usual), first, second);
    }
    if (reference && is_measured(m, r) && is_measured(m, mate) && !isnan(reference[r]) &&
        !isnan(reference[mate]))
        add_values(&sums->differences, scale * (reference[r] - reference[mate]),
                   m->intensity[r] - m->intensity[mate]);
}

static void conclude_shell(const shell_sums *sums, db_merge_shell *shell) {
    const double n = (double)sums->reflections;
    shell->completeness =
        shell->possible ? (double)shell->measured / (double)shell->possible : (double)NAN;
    shell->multiplicity =
        shell->measured ? (double)sums->measurements / (double)shell->measured : (double)NAN;
    shell->mean_intensity = n > 0 ? sums->intensity / n : (double)NAN;
    shell->mean_i_over_sigma = n > 0 ? sums->over_sigma / n : (double)NAN;
    shell->half_pairs = (size_t)sums->half.n;
    shell->cc_half = value_of(&sums->half);
    /* halves without correlation do not determine it */
    shell->cc_star =
        shell->cc_half > 0 ? sqrt(2 * shell->cc_half / (1 + shell->cc_half)) : (double)NAN;
    shell->r_split = sums->together > 0 ? sqrt(2) * sums->apart / sums->together : (double)NAN;
    shell->anomalous_pairs = (size_t)sums->anomalous.n;
    shell->cc_anomalous = value_of(&sums->anomalous);
    shell->cc_half_weighted = value_of(&sums->half_weighted);
    shell->cc_anomalous_weighted = value_of(&sums->anomalous_weighted);
    shell->reference_count = (size_t)sums->reference.n;
    shell->cc_reference = value_of(&sums->reference);
    shell->reference_pairs = (size_t)sums->differences.n;
    shell->cc_anomalous_reference = value_of(&sums->differences);
    shell->r_reference = sums->given > 0 ? sums->off / sums->given : (double)NAN;
}

db_shells db_statistics_shells(const db_asu_list *list, const db_merged *merged) {
    size_t measured = 0;
    for (size_t r = 0; r < list->count; r++) measured += is_measured(merged, r) != 0;
    return (db_shells){ .count = db_shells_for(measured, 500),
                        .low = 1.0001 * db_asu_coarsest(list),
                        .high = list->d_min * (1 - 1e-6) };
}

/* angstrom^2: a temperature factor beyond this is not determined. */
static const double MOST_B = 150;

/* An infinite standard deviation means an unknown intensity. */
static int compares(const double *reference, const double *intensity, const double *sigma,
                    size_t r) {
    return !isnan(reference[r]) && !isnan(intensity[r]) && sigma[r] < INFINITY;
}

db_reference_scale db_reference_scale_find(const db_asu_list *list, const double *reference,
                                           const double *intensity, const double *sigma) {
    db_reference_scale scale = { .k = 1 };
    double sum = 0, given = 0;
    for (size_t r = 0; r < list->count; r++) {
        if (!compares(reference, intensity, sigma, r)) continue;
        sum += intensity[r];
        given += reference[r];
        scale.count++;
    }
    if (!(given > 0) || !(sum > 0)) return scale;
    double log_k = log(sum / given), b = 0;
    for (int step = 0; step < 20; step++) {
        double gradient[2] = { 0 }, normal[3] = { 0 };
        for (size_t r = 0; r < list->count; r++) {
            if (!compares(reference, intensity, sigma, r)) continue;
            const double d = (double)list->d[r], fall = 1 / (2 * d * d),
                         I = reference[r] * exp(log_k - b * fall), off = intensity[r] - I,
                         weight = 1 / (sigma[r] * sigma[r] + 0.01 * I * I);
            gradient[0] += weight * I * off;
            gradient[1] -= weight * I * off * fall;
            normal[0] += weight * I * I;
            normal[1] -= weight * I * I * fall;
            normal[2] += weight * I * I * fall * fall;
        }
        const double determinant = normal[0] * normal[2] - normal[1] * normal[1];
        if (!(determinant > 1e-9 * normal[0] * normal[2])) { /* there are different resolutions */
            if (normal[0] > 0) log_k += fmax(-1, fmin(1, gradient[0] / normal[0]));
            continue;
        }
        log_k +=
            fmax(-1, fmin(1, (gradient[0] * normal[2] - gradient[1] * normal[1]) / determinant));
        b += fmax(-20, fmin(20, (gradient[1] * normal[0] - gradient[0] * normal[1]) / determinant));
    }
    scale.k = fabs(b) < MOST_B ? exp(log_k) : sum / given;
    scale.b = fabs(b) < MOST_B ? b : 0;
    return scale;
}

void db_merge_statistics_make(const db_asu_list *list, const db_merged *merged,
                              const db_shells *shells, const double *reference,
                              db_merge_statistics *statistics) {
    shell_sums sums[DB_MOST_SHELLS + 1];
    double mean[DB_MOST_SHELLS] = { 0 };
    db_merge_shell *const shell = statistics->shell, *const overall = &statistics->overall;
    memset(sums, 0, sizeof sums);
    memset(statistics, 0, sizeof *statistics);
    usual_intensities(list, shells, merged->intensity, merged->sigma, NULL, mean);
    statistics->shells = shells->count;
    statistics->reference =
        reference ? db_reference_scale_find(list, reference, merged->intensity, merged->sigma)
                  : (db_reference_scale){ .k = 1 };
    for (uint32_t r = 0; r < list->count; r++) {
        const double d = (double)list->d[r];
        if (d < shells->high || d > shells->low) continue;
        const int b = db_shell_of(shells, d);
        const double scale = db_reference_factor(&statistics->reference, d),
                     usual = mean[b] * list->epsilon[r];
        if (is_measured(merged, r)) {
            add_reflection(merged, r, reference, scale, usual, &sums[b]);
            add_reflection(merged, r, reference, scale, usual, &sums[shells->count]);
        }
        if (list->mate[r] < r) continue;
        add_pair(list, merged, r, reference, scale, usual, &shell[b], &sums[b]);
        add_pair(list, merged, r, reference, scale, usual, overall, &sums[shells->count]);
    }
    for (int b = 0; b < shells->count; b++) {
        shell[b].d_max = db_shell_limit(shells, b);
        shell[b].d_min = db_shell_limit(shells, b + 1);
        conclude_shell(&sums[b], &shell[b]);
    }
    overall->d_max = shells->low;
    overall->d_min = shells->high;
    conclude_shell(&sums[shells->count], overall);
}

/* Correlation of intensities with a reference, each divided by the mean of its shell of resolution. */

db_reference_agreement db_reference_agreement_find(const db_asu_list *list, const double *reference,
                                                   const double *intensity, const double *sigma) {
    const db_shells shells = db_scaling_shells(list);
    double given[DB_MOST_SHELLS] = { 0 }, found[DB_MOST_SHELLS] = { 0 };
    db_reference_agreement a = { .count = 0 };
    db_likeness c = { 0 };
    usual_intensities(list, &shells, reference, NULL, intensity, given);
    usual_intensities(list, &shells, intensity, sigma, reference, found);
    for (uint32_t r = 0; r < list->count; r++) {
        const int b = db_shell_of(&shells, (double)list->d[r]);
        if (isnan(reference[r]) || isnan(intensity[r]) || !(given[b] > 0 && found[b] > 0)) continue;
        const double usual = found[b] * list->epsilon[r], error = sigma[r] / usual;
        db_likeness_add(&c, intensity[r] / usual - 1, error * error,
                        reference[r] / (given[b] * list->epsilon[r]) - 1, 0);
        a.count++;
    }
    a.correlation = db_likeness_value(&c, &a.error);
    return a;
}

int db_reference_is_doubtful(const db_reference_agreement *a) {
    const double certain = 2.5, least = 0.5;
    return a->count > 0 && a->correlation + certain * a->error < least;
}

/* Leaves out intensities of a shell, of all or of a half. */
static void leave_out_of_shell(const db_asu_list *list, const db_shells *shells, int shell,
                               double *room, double *intensity, double *sigma,
                               uint32_t *multiplicity) {
    static const double most = 10; /* error, in parts of the larger median */
    double *const value[2] = { room, room + list->count };
    size_t seen = 0;
    for (size_t h = 0; h < list->count; h++) {
        if (!multiplicity[h] || db_shell_of(shells, (double)list->d[h]) != shell) continue;
        value[0][seen] = sigma[h];
        value[1][seen++] = intensity[h];
    }
    const double usual = fmax(db_median(value[0], seen), db_median(value[1], seen));
    for (size_t h = 0; h < list->count; h++) {
        if (!multiplicity[h] || db_shell_of(shells, (double)list->d[h]) != shell ||
            !(sigma[h] > most * usual))
            continue;
        intensity[h] = sigma[h] = NAN;
        multiplicity[h] = 0;
    }
}

void db_merged_leave_out_unseen(const db_asu_list *list, const db_shells *shells, double *room,
                                db_merged *m) {
    for (int shell = 0; shell < shells->count; shell++) {
        leave_out_of_shell(list, shells, shell, room, m->intensity, m->sigma, m->multiplicity);
        for (int k = 0; k < 2; k++)
            leave_out_of_shell(list, shells, shell, room, m->half[k], m->half_sigma[k],
                               m->half_multiplicity[k]);
    }
}
