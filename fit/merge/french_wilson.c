/* Posterior means of amplitudes. */
#include "fit/merge/french_wilson.h"

#include <math.h>

/* Log of the weight of t = F / sqrt(sigma); h: the measured intensity minus the prior's shift, in sigmas. A prior
 * in the intensity becomes one in F by the factor F, which the prior of centric reflections cancels. */
static double log_weight(double t, double h, int centric) {
    const double off = t * t - h;
    return (centric ? 0 : log(t)) - 0.5 * off * off;
}

/* The t with the largest weight. */
static double mode(double h, int centric) {
    if (centric) return h > 0 ? sqrt(h) : 0;
    const double root = sqrt(h * h + 2);
    return sqrt(h > 0 ? 0.5 * (h + root) : 1 / (root - h));
}

/* Distance from the mode, in one direction, beyond which weights are negligible. */
static double reach(double from, double h, int centric, int direction) {
    const double negligible = 40, top = log_weight(from, h, centric);
    double near = 0, far = 1e-6 * (1 + from);
    while (direction > 0 || far < from) {
        if (top - log_weight(from + direction * far, h, centric) > negligible) break;
        near = far;
        far *= 2;
    }
    if (direction < 0 && far >= from) return from; /* down to 0 */
    for (int i = 0; i < 20; i++) {
        const double middle = 0.5 * (near + far);
        if (top - log_weight(from + direction * middle, h, centric) > negligible)
            far = middle;
        else
            near = middle;
    }
    return far;
}

void db_french_wilson(double intensity, double sigma, double mean, int centric, double *F,
                      double *sigma_F) {
    enum { STEPS = 200 }; /* Simpson's rule */
    const double h = intensity / sigma - (centric ? 0.5 : 1) * sigma / mean, top = mode(h, centric);
    const double low = top - reach(top, h, centric, -1), high = top + reach(top, h, centric, 1);
    const double step = (high - low) / STEPS, highest = log_weight(top, h, centric);
    double weight[STEPS + 1], sum = 0, first = 0, second = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double t = low + i * step, share = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        const int counts = t > 0 || centric;
        weight[i] = counts ? share * exp(log_weight(t, h, centric) - highest) : 0;
        sum += weight[i];
        first += weight[i] * t;
    }
    const double middle = first / sum;
    for (int i = 0; i <= STEPS; i++) {
        const double off = low + i * step - middle;
        second += weight[i] * off * off;
    }
    *F = sqrt(sigma) * middle;
    *sigma_F = sqrt(sigma * second / sum);
}

void db_wilson_mean_make(const db_asu_list *list, const double *intensity, const double *sigma,
                         const db_shells *shells, db_wilson_mean *mean) {
    double sum[DB_MOST_SHELLS] = { 0 }, error[DB_MOST_SHELLS] = { 0 },
           count[DB_MOST_SHELLS] = { 0 };
    double before = 0;
    mean->shells = *shells;
    for (size_t r = 0; r < list->count; r++) {
        if (isnan(intensity[r])) continue;
        const int b = db_shell_of(shells, (double)list->d[r]);
        const double epsilon = list->epsilon[r];
        sum[b] += intensity[r] / epsilon;
        error[b] += sigma[r] * sigma[r] / (epsilon * epsilon);
        count[b]++;
    }
    for (int b = 0; b < shells->count; b++) {
        mean->mean[b] = before;
        if (count[b] > 0) mean->mean[b] = fmax(sum[b], 2 * sqrt(error[b])) / count[b];
        before = mean->mean[b];
    }
    for (int b = shells->count - 1; b >= 0; b--) { /* shells before the first with intensities */
        if (!(mean->mean[b] > 0)) mean->mean[b] = before > 0 ? before : 1;
        before = mean->mean[b];
    }
}

double db_wilson_mean_at(const db_wilson_mean *mean, double d) {
    const db_shells *const s = &mean->shells;
    const double first = db_shells_cube(s->low), last = db_shells_cube(s->high),
                 place = s->count * (db_shells_cube(d) - first) / (last - first) - 0.5;
    if (place <= 0) return mean->mean[0];
    if (place >= s->count - 1) return mean->mean[s->count - 1];
    const int b = (int)place;
    return exp(log(mean->mean[b]) + (place - b) * log(mean->mean[b + 1] / mean->mean[b]));
}

void db_amplitudes_of(const db_asu_list *list, const db_wilson_mean *mean, const double *intensity,
                      const double *sigma, double *F, double *sigma_F) {
    for (size_t r = 0; r < list->count; r++) {
        F[r] = sigma_F[r] = NAN;
        if (isnan(intensity[r]) || !(sigma[r] > 0)) continue;
        const double expected = list->epsilon[r] * db_wilson_mean_at(mean, (double)list->d[r]);
        db_french_wilson(intensity[r], sigma[r], expected, list->centric[r], &F[r], &sigma_F[r]);
    }
}
