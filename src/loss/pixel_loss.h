/* What a pixel costs: -2 ln of the likelihood of its counts y, given the expected counts m, up to a
 * constant that makes a good model cost about 1; with its slope by m.
 *
 *   weighted   (y - m)^2 / v0, v0 = 1/weight known beforehand
 *   gaussian   (y - m)^2 / v + ln(v/v0), v = gain m + readout^2 + shape error^2: the photons'
 *              variance is the model's; ln v is part of the likelihood and keeps v from growing at
 *              will
 *   huber      the same, but beyond k standard deviations a residual counts by its absolute value
 *   student    the same for Student's t distribution of nu degrees of freedom: far outliers hardly
 *              count (Lange, Little & Taylor, J. Am. Stat. Assoc. 84, 881, 1989)
 *   poisson    2 (m - y + y ln(y/m)) in photons, readout noise as a Poisson pedestal of its
 *              variance (Snyder, Hammoud & White, J. Opt. Soc. Am. A 10, 1014, 1993)
 *
 * The shape error is that of the spots, known beforehand: as a function of the model's own spot it
 * would reward spots so strong that no residual is too large for them.
 *
 * The curvature is what Gauss and Newton, Fisher's scoring and iteratively reweighted least squares
 * take for half the second derivative: that of the mean and of the variance's logarithm, times the
 * weight that the robust losses give the pixel. It is never negative. The bend is half the second
 * derivative itself, which makes Newton's iterations for the linear coefficients quadratic; where a
 * loss is hardly convex, a small part of the curvature stands for it. */
#ifndef DB_LOSS_PIXEL_LOSS_H
#define DB_LOSS_PIXEL_LOSS_H

#include "ad/portable_math.h" /* logarithms, for devices without them */

#include <dualbragg/expert/boxes.h>

#include <math.h>

/* scalar duals with a slope by m */
#define REAL double
#define LANES 1
#define DIRS 1
#include "ad/lane.h"
#include "ad/num.h"

typedef struct db_pixel_cost {
    double value, slope, curvature, bend;
    double variance; /* of y */
    double trust; /* weight in reweighted least squares: 1, less for outliers of robust targets */
} db_pixel_cost;

/* x, or the least if x is smaller, or no number. */
AD_FN double db_at_least(double least, double x) { return x > least ? x : least; }

AD_FN num db_loss_log(num a) { return n_chain(log(a.v), 1 / a.v, a); }

/* The larger of u and 1/2, smooth below u = 1: variance of photons where hardly one is expected. */
AD_FN num db_loss_at_least_half(num u) {
    if (u.v >= 1) return u;
    if (u.v <= 0) return n_constant(0.5);
    return n_shift(n_scale(n_sqr(u), 0.5), 0.5);
}

AD_FN num db_loss_variance(const db_loss *loss, num expected, double shape_variance,
                           double *second) {
    *second = expected.v > 0 && expected.v < loss->gain;
    const num photons = db_loss_at_least_half(n_scale(expected, 1 / loss->gain));
    return n_shift(n_scale(photons, loss->gain * loss->gain),
                   loss->readout_variance + shape_variance);
}

/* Loss of a squared normalized residual; trust: its slope, second: its second derivative. */
AD_FN num db_loss_of_square(const db_loss *loss, num t, double *trust, double *second) {
    const double k = loss->tuning;
    *trust = 1;
    *second = 0;
    switch (loss->target) {
    case DB_LOSS_HUBER:
        if (t.v <= k * k) return t;
        *trust = k / sqrt(t.v);
        *second = -0.5 * *trust / t.v;
        return n_chain(2 * k * sqrt(t.v) - k * k, *trust, t);
    case DB_LOSS_STUDENT:
        *trust = (k + 1) / (k + t.v);
        *second = -*trust / (k + t.v);
        return n_chain((k + 1) * log1p(t.v / k), *trust, t);
    default: return t;
    }
}

AD_FN db_pixel_cost db_pixel_cost_make(num value, double curvature, double bend, double variance,
                                       double trust) {
    const double least = 0.05 * curvature;
    const db_pixel_cost cost = { value.v,  value.d[0], curvature, bend > least ? bend : least,
                                 variance, trust };
    return cost;
}

/* Below this many expected photons the loss of Poisson counts continues as a parabola: a background may be
 * negative on its way to the best one. */
#define DB_POISSON_LEAST 0.05

AD_FN db_pixel_cost db_poisson_cost(const db_loss *loss, double y, num expected) {
    const double least = loss->fewest > 0 ? loss->fewest : DB_POISSON_LEAST,
                 pedestal = loss->readout_variance / loss->gain;
    const double counted = db_at_least(0, (y + pedestal) / loss->gain);
    const num mean = n_scale(n_shift(expected, pedestal), 1 / loss->gain);
    const num at = mean.v < least ? n_constant(least) : mean;
    const num logarithm = db_loss_log(n_scale(at, 1 / db_at_least(1e-300, counted)));
    num deviance = n_scale(n_shift(n_sub(at, n_scale(logarithm, counted)), -counted), 2);
    double curvature = 1 / at.v, bend = counted / (at.v * at.v);
    if (mean.v < least) {
        const num beyond = n_shift(mean, -least);
        const double slope = 2 * (1 - counted / least);
        curvature = bend = db_at_least(1, counted) / (least * least);
        deviance =
            n_shift(n_add(n_scale(beyond, slope), n_scale(n_sqr(beyond), curvature)), deviance.v);
    }
    const double unit = mean.d[0] * mean.d[0];
    return db_pixel_cost_make(deviance, curvature * unit, bend * unit,
                              loss->gain * loss->gain * at.v, 1);
}

/* Cost with a known variance: a parabola. */
AD_FN db_pixel_cost db_weighted_cost(double y, double weight, double m) {
    const num square = n_sqr(n_shift(n_seed(m, 0), -y));
    return db_pixel_cost_make(n_scale(square, weight), weight, weight, 1 / weight, 1);
}

/* weight: 1/v0, more than 0; shape_variance: of the spots' shape (counts^2). */
AD_FN db_pixel_cost db_pixel_loss(const db_loss *loss, double y, double weight,
                                  double shape_variance, double m) {
    if (loss->target == DB_LOSS_WEIGHTED) return db_weighted_cost(y, weight, m);
    const num expected = n_seed(m, 0);
    if (loss->target == DB_LOSS_POISSON) return db_poisson_cost(loss, y, expected);
    const num square = n_sqr(n_shift(expected, -y));
    double trust, variance_bend, deviance_bend;
    const num variance = db_loss_variance(loss, expected, shape_variance, &variance_bend);
    const num t = n_div(square, variance);
    const num deviance = db_loss_of_square(loss, t, &trust, &deviance_bend);
    const double inverse = 1 / variance.v, growth = variance.d[0] * inverse;
    /* (y - m)^2/v bends by 2 (1 + (y - m) v'/v)^2 / v - (y - m)^2 v''/v^2 */
    const double stretch = 1 + (y - m) * growth;
    const double square_bend = 2 * stretch * stretch * inverse - t.v * variance_bend * inverse;
    const double second = deviance_bend * t.d[0] * t.d[0] + trust * square_bend +
                          variance_bend * inverse - growth * growth;
    return db_pixel_cost_make(n_add(deviance, db_loss_log(n_scale(variance, weight))),
                              trust * (inverse + 0.5 * growth * growth), 0.5 * second, variance.v,
                              trust);
}

#undef REAL
#undef LANES
#undef DIRS

#endif
