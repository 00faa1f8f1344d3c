/* Error model by medians of deviations, on which outliers have no influence. */
#include "fit/merge/error_model.h"

#include <math.h>
#include <string.h>

static const double LOWEST = 1e-6, PER_DECADE = 20; /* histogram of squared deviations */
static const double FEWEST = 50;                    /* fewest measurements for a median */
static const double MOST_RELATIVE = 9;

int db_partiality_range(double partiality) {
    static const double end[DB_PARTIALITY_RANGES - 1] = { 0.05, 0.15, 0.35, 0.65 };
    int range = 0;
    while (range < DB_PARTIALITY_RANGES - 1 && partiality >= end[range]) range++;
    return range;
}

/* Range of a strength: steps of 4 in the square, from 1/4. */
static int strength_of(double strength) {
    const double step = strength > 0 ? 1 + floor(0.5 * log2(4 * strength)) : 0;
    return step > 0 ? step < DB_STRENGTHS - 1 ? (int)step : DB_STRENGTHS - 1 : 0;
}

void db_deviations_add(db_deviations *deviations, int range, double strength, double deviation) {
    const double place = PER_DECADE * log10(fmax(deviation, LOWEST) / LOWEST);
    const int bin = place < DB_DEVIATIONS - 1 ? (int)place : DB_DEVIATIONS - 1;
    const int s = strength_of(strength);
    deviations->count[range][s][bin]++;
    deviations->strength[range][s] += strength;
}

/* Medians of deviations by strength, and numbers of measurements. */
typedef struct medians {
    double count[DB_STRENGTHS], strength[DB_STRENGTHS], variance[DB_STRENGTHS];
} medians;

static double median_of(const double *count, double all) {
    double below = 0;
    for (int i = 0; i < DB_DEVIATIONS; i++) {
        if (below + count[i] >= 0.5 * all && count[i] > 0)
            return LOWEST * pow(10, (i + (0.5 * all - below) / count[i]) / PER_DECADE);
        below += count[i];
    }
    return 0;
}

/* Medians of ranges `first` to `end` - 1. */
static medians take_medians(const db_deviations *deviations, int first, int end) {
    medians m = { { 0 }, { 0 }, { 0 } };
    for (int s = 0; s < DB_STRENGTHS; s++) {
        double count[DB_DEVIATIONS] = { 0 };
        for (int r = first; r < end; r++) {
            m.strength[s] += deviations->strength[r][s];
            for (int i = 0; i < DB_DEVIATIONS; i++) {
                count[i] += deviations->count[r][s][i];
                m.count[s] += deviations->count[r][s][i];
            }
        }
        if (m.count[s] < FEWEST) continue;
        m.strength[s] /= m.count[s];
        m.variance[s] = median_of(count, m.count[s]) / DB_MEDIAN_CHI2;
    }
    return m;
}

/* Least squares of (noise + relative strength) / variance = 1, neither below 0. Returns 0, and
 * changes nothing, if there are too few measurements. */
static int fit_variances(const medians *m, double *noise, double *relative) {
    double nn = 0, nr = 0, rr = 0, n = 0, r = 0;
    for (int s = 0; s < DB_STRENGTHS; s++) {
        if (m->count[s] < FEWEST || !(m->variance[s] > 0)) continue;
        const double x = 1 / m->variance[s], y = m->strength[s] / m->variance[s];
        nn += m->count[s] * x * x;
        nr += m->count[s] * x * y;
        rr += m->count[s] * y * y;
        n += m->count[s] * x;
        r += m->count[s] * y;
    }
    if (!(nn > 0)) return 0;
    const double determinant = nn * rr - nr * nr;
    double a = n / nn, e = 0;
    if (determinant > 1e-9 * nn * rr) {
        a = (n * rr - r * nr) / determinant;
        e = (r * nn - n * nr) / determinant;
    }
    if (e < 0) {
        e = 0;
        a = n / nn;
    }
    if (a < 0.2) { /* weak measurements do not determine it */
        a = 0.2;
        e = rr > 0 ? fmax(0, (r - a * nr) / rr) : 0;
    }
    *noise = fmin(a, 1e3);
    *relative = fmin(e, MOST_RELATIVE);
    return 1;
}

/* Share of deviations below their medians by a relative error. Some without one count beside them. */
static double share_below(const db_deviations *deviations, double relative) {
    const double others = 4;
    double below = 0, expected = 0, all = 0;
    for (int r = 0; r < DB_PARTIALITY_RANGES; r++)
        for (int s = 0; s < DB_STRENGTHS; s++) {
            double count = 0;
            for (int i = 0; i < DB_DEVIATIONS; i++) count += deviations->count[r][s][i];
            if (!(count > 0)) continue;
            const double wider = 1 + relative * deviations->strength[r][s] / count,
                         limit = PER_DECADE * log10(DB_MEDIAN_CHI2 * wider / LOWEST);
            for (int i = 0; i < DB_DEVIATIONS; i++)
                below += deviations->count[r][s][i] * fmin(1, fmax(0, limit - i));
            expected += count * erf(sqrt(0.5 * DB_MEDIAN_CHI2 * wider));
            all += count;
        }
    return all > 0 ? (below + others * expected / all) / (all + others) : 1;
}

/* Relative error if no strength has enough measurements for a median: all together have one. Without any it is 0. */
static double relative_of_few(const db_deviations *deviations) {
    double low = 0, high = MOST_RELATIVE;
    if (share_below(deviations, 0) >= 0.5) return 0;
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (low + high);
        if (share_below(deviations, middle) < 0.5)
            low = middle;
        else
            high = middle;
    }
    return high;
}

int db_error_model_fit(const db_deviations *deviations, db_error_model *model) {
    double noise = 1, relative = 0.01;
    const medians all = take_medians(deviations, 0, DB_PARTIALITY_RANGES);
    if (!fit_variances(&all, &noise, &relative)) return 0;
    for (int r = 0; r < DB_PARTIALITY_RANGES; r++) {
        const medians own = take_medians(deviations, r, r + 1);
        double count = 0;
        for (int s = 0; s < DB_STRENGTHS; s++) count += own.count[s];
        model->noise[r] = noise;
        model->relative[r] = relative;
        if (count >= 10 * FEWEST) fit_variances(&own, &model->noise[r], &model->relative[r]);
    }
    return 1;
}

void db_error_model_of_few(const db_deviations *deviations, db_error_model *model) {
    const double relative = relative_of_few(deviations);
    for (int r = 0; r < DB_PARTIALITY_RANGES; r++) {
        model->noise[r] = 1;
        model->relative[r] = relative;
    }
}
