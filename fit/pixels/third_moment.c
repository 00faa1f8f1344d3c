/* Counts of a photon by the third moment (docs/theory/noise-of-images.md, Light that hardly varies). */
#include "fit/pixels/photon_step.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>

enum { SQUARE = DB_NOISE_SQUARE, ENOUGH = DB_NOISE_ENOUGH, PASSES = 6 };
static const double CLIP = 4; /* standard deviations; squares with pixels beyond have spots */
static const double SURE = 3; /* standard errors */

typedef struct moments {
    double mean, variance, third;
    double fourth;      /* cumulant */
    double least, most; /* pixels, relative to the mean, in standard deviations */
} moments;

/* Moments without bias (R. A. Fisher, Proc. London Math. Soc. 30 (1930) 199). Returns 0 if too few pixels are
 * trusted, or all are equal. */
static int take_moments(const db_measured_image *panel, int fast, int slow, moments *m) {
    double list[SQUARE * SQUARE], sum = 0;
    int count = 0;
    for (int row = slow; row < slow + SQUARE; row++)
        for (int column = fast; column < fast + SQUARE; column++) {
            const size_t i = (size_t)row * (size_t)panel->fast_pixels + (size_t)column;
            if (panel->mask[i] != DB_MASK_TRUSTED) continue;
            list[count++] = (double)panel->value[i];
            sum += (double)panel->value[i];
        }
    if (count * DB_NOISE_LEAST_PART < SQUARE * SQUARE) return 0;
    *m = (moments){ .mean = sum / count };
    for (int i = 0; i < count; i++) {
        const double off = list[i] - m->mean;
        m->variance += off * off / count;
        m->third += off * off * off / count;
        m->fourth += off * off * off * off / count;
        m->least = fmin(m->least, off);
        m->most = fmax(m->most, off);
    }
    if (!(m->variance > 0)) return 0;
    const double n = count;
    m->fourth = (n + 1) * m->fourth - 3 * (n - 1) * m->variance * m->variance;
    m->fourth *= n * n / ((n - 1) * (n - 2) * (n - 3));
    m->variance *= n / (n - 1);
    m->third *= n * n / ((n - 1) * (n - 2));
    m->least /= sqrt(m->variance);
    m->most /= sqrt(m->variance);
    return 1;
}

static size_t moments_of(const db_measured_image *image, moments *list) {
    size_t count = 0;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        for (int slow = 0; slow + SQUARE <= panel.slow_pixels; slow += SQUARE)
            for (int fast = 0; fast + SQUARE <= panel.fast_pixels; fast += SQUARE)
                count += (size_t)take_moments(&panel, fast, slow, &list[count]);
    }
    return count;
}

/* Limit in a distribution with this skewness that is as improbable as one in Gauss's (E. B. Wilson & M. M. Hilferty, Proc.
 * Natl. Acad. Sci. 17 (1931) 684). */
static double limit_of(double skewness, double deviations) {
    const double s = fmax(1e-6, skewness), root = 1 + s * deviations / 6 - s * s / 36;
    return 2 / s * (root * root * root - 1);
}

/* Are all pixels as probable as those of overlapping photons? So no pixel is left out, which would change the moments. */
static int has_no_spot(const moments *m, double gain) {
    const double skewness = gain / sqrt(m->variance);
    return m->most < limit_of(skewness, CLIP) && m->least > limit_of(skewness, -CLIP);
}

/* A proportion with its error, by least squares. */
typedef struct proportion {
    double xx, xy, yy, count;
} proportion;

static void add_to(proportion *p, double weight, double x, double y) {
    p->xx += weight * x * x;
    p->xy += weight * x * y;
    p->yy += weight * y * y;
    p->count++;
}

static double error_of(const proportion *p) {
    return sqrt(fmax(0, p->yy - p->xy * p->xy / p->xx) / fmax(1, p->count - 1) / p->xx);
}

/* Proportions of the third moment, whose own variance is 6 variance^3, to variances and to means; and of the fourth
 * cumulant to the third moment. */
typedef struct proportions {
    proportion variance, mean, third;
} proportions;

static proportions take_proportions(const moments *list, size_t count, double gain, double noise) {
    proportions p = { 0 };
    double third = 0, weights = 0;
    for (size_t i = 0; i < count; i++) {
        const moments *const m = &list[i];
        const double weight = pow(m->variance, -3);
        if (!has_no_spot(m, gain)) continue;
        add_to(&p.variance, weight, m->variance - noise, m->third);
        add_to(&p.mean, weight, m->mean, m->third);
        third += weight * m->third;
        weights += weight;
    }
    for (size_t i = 0; i < count && weights > 0; i++) /* the mean, because squares scatter */
        if (has_no_spot(&list[i], gain))
            add_to(&p.third, pow(list[i].variance, -4), third / weights, list[i].fourth);
    return p;
}

/* Photons of g counts with mean m and readout noise of variance r make the variance v = g m + r, the third moment
 * g^2 m = g (v - r), and the fourth cumulant g^3 m. Without a dark level sqrt(third / m) is g, without readout noise
 * third / v; both make their value too small. So the larger one is taken, and what they differ by is an error. The fourth
 * cumulant over the third moment is g with both, but uncertain: if it is surely larger, nothing is found. */
static void find_gain(const moments *list, size_t count, double gain, double noise,
                      db_photon_step *step) {
    for (int pass = 0; pass < PASSES; pass++) {
        const proportions p = take_proportions(list, count, gain, noise);
        *step = (db_photon_step){ 0 };
        if (2 * p.variance.count < (double)count || p.variance.count < ENOUGH) return;
        gain = p.variance.xy / p.variance.xx;
        const double square = fmax(0, p.mean.xy / p.mean.xx), other = sqrt(square),
                     fourth = p.third.xy / p.third.xx;
        step->counts = fmax(gain, other);
        step->error = gain > other ? error_of(&p.variance) : 0.5 * error_of(&p.mean) / other;
        if (!(noise > 0)) step->error = hypot(step->error, gain - other);
        if (fourth - SURE * error_of(&p.third) > step->counts + SURE * step->error)
            step->counts = 0;
    }
}

db_status db_third_moment_find(db_context *context, const db_measured_image *image, double readout,
                               db_photon_step *step) {
    const size_t most = db_measured_pixels(image) / (SQUARE * SQUARE) + 1;
    moments *const list = calloc(most, sizeof *list);
    double *const skew = calloc(most, sizeof *skew);
    const db_status status = db_need_memory(context, list && skew, "the noise of the image");
    *step = (db_photon_step){ 0 };
    if (status == DB_OK) {
        const size_t count = moments_of(image, list);
        for (size_t i = 0; i < count; i++) skew[i] = list[i].third / list[i].variance;
        if (count)
            find_gain(list, count, db_ranked(skew, count, count / 2), readout * readout, step);
    }
    free(list);
    free(skew);
    return status;
}
