/* Sums over shots for scaling: means of reflections, with and without one of the shots. */
#ifndef DB_FIT_MERGE_SCALING_WORK_H
#define DB_FIT_MERGE_SCALING_WORK_H

#include "fit/merge/agreement.h"
#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/shot_scales.h"

#include <math.h>

typedef struct db_scaling_work {
    const db_asu_list *list;
    const db_scaling_options *options;
    const db_observations *observations;
    db_shells shells;
    double mean[DB_MOST_SHELLS]; /* intensity, relative to epsilon */
    double dark[DB_MOST_SHELLS]; /* usual noise of the background (photons^2) */
    unsigned char *shell;        /* [reflections] */
    double *sums;                /* memory of the eight that follow; owned */
    double *sum, *weight;        /* [reflections]: sums of w g J and w g^2 with g = scale at d */
    double *usual;               /* [reflections]: sums of w g^2 with w at usual intensities */
    double *full;                /* [reflections]: sums of w g^2 if no measurement were wrong */
    double *next_sum, *next_weight, *next_usual, *next_full;
    const db_agreement *agreed; /* [reflections], if the next sums follow from it; else NULL */
    float *share, *variance;    /* [measurements]: w in the sums; 1 / w without robust weights */
    db_shot_scale *shot;        /* [shots] */
    db_shot_scale *added;       /* [shots]: scale and B in the sums */
    const unsigned char *joins; /* [shots] 1: in this run, of all shots or of a half */
    double gauge[2];            /* mean of log k and B of shots in use */
    double far;                 /* standard deviations beyond which measurements are rejected */
    int is_half;                /* errors are those of all, unless many measurements tell others */
    int few;                    /* 1: few measurements tell errors, too */
    db_error_model errors;
    db_error_model added_errors; /* of the weights in the sums */
    db_deviations *deviations;
} db_scaling_work;

/* Knowledge of a reflection from other shots. */
typedef struct db_others {
    double mean, variance;      /* with the expected intensity at this resolution */
    double measured, precision; /* from measurements only; precision 0: none */
    double full;                /* precision if none of them were wrong */
} db_others;

/* A measurement far off makes others seem wrong, too, but less so: the farthest are rejected first. */
#define DB_SCALING_FARTHEST 200.0
#define DB_SCALING_FAR 6.0 /* standard deviations beyond which measurements are rejected */

/* Least noise (photons^2) for the median of squared deviations: fewer photons are far from Gauss's distribution. */
#define DB_SCALING_FEWEST_PHOTONS 10.0

/* Weight of a measurement, from its squared deviation from the others over its variance. */
static inline double db_scaling_robust_share(double square, double far) {
    const double least = 1e-9, left = 1 - square / (far * far); /* least: if there are no others */
    return left > 0 ? fmax(least, left * left) : least;
}

static inline int db_scaling_uses(const db_scaling_work *w, size_t shot) {
    return w->joins[shot] && w->shot[shot].excluded == DB_NOT_EXCLUDED;
}

static inline double db_scaling_expected(const db_scaling_work *w, uint32_t r) {
    return w->mean[w->shell[r]] * w->list->epsilon[r];
}

/* Variance of intensities around the mean at their resolution (Wilson). */
static inline double db_scaling_spread(const db_scaling_work *w, uint32_t r) {
    const double mean = db_scaling_expected(w, r);
    return mean * mean * (w->list->centric[r] ? 2 : 1);
}

static inline double db_scaling_fall(const db_scaling_work *w, uint32_t r) {
    const double d = (double)w->list->d[r];
    return 1 / (2 * d * d);
}

static inline double db_scaling_at(const db_shot_scale *shot, double fall) {
    return shot->scale * (shot->b != 0 ? exp(-shot->b * fall) : 1);
}

/* Other shots than the one of measurement i, which is in the sums. */
static inline db_others db_scaling_others(const db_scaling_work *w, size_t shot, size_t i) {
    const db_observation *const o = &w->observations->list[i];
    const uint32_t r = o->reflection;
    const double prior = 1 / db_scaling_spread(w, r),
                 g = db_scaling_at(&w->added[shot], db_scaling_fall(w, r)),
                 share = (double)w->share[i];
    double sum = w->sum[r] - share * g * (double)o->intensity,
           weight = w->weight[r] - share * g * g;
    if (!(weight > 1e-12 * w->weight[r])) sum = weight = 0;
    return (db_others){ .mean = (sum + prior * db_scaling_expected(w, r)) / (weight + prior),
                        .variance = 1 / (weight + prior),
                        .measured = weight > 0 ? sum / weight : 0,
                        .precision = weight,
                        .full = fmax(weight, w->full[r] - g * g / (double)w->variance[i]) };
}

/* Expected intensity, for variances: the mean of Wilson's distribution given all shots. The weight of the shots is that at
 * usual intensities: what they measured must not decide it, or a reflection without a photon would be known without an
 * error. Of photons alone, off the axes, it is (their number + 1) / (exposure + 1 / usual intensity). */
static inline double db_scaling_mean(const db_scaling_work *w, uint32_t r) {
    const double prior = 1 / db_scaling_spread(w, r),
                 measured = w->weight[r] > 0 ? fmax(0, w->sum[r] / w->weight[r]) : 0;
    return (w->usual[r] * measured + prior * db_scaling_expected(w, r)) / (w->usual[r] + prior);
}

/* Noise of pixels for the expected intensity J: measured counts are noisy themselves, and bright measurements would seem
 * less certain than faint ones. What is left is the background's; dark: usual noise of it (photons^2). Less is left if the
 * errors of pixels do not follow their counts, as those of less than half a photon. */
static inline double db_scaling_noise(const db_observation *o, double dark, double J) {
    const double variance = (double)o->sigma * (double)o->sigma, light = (double)o->light;
    if (!(light > 0)) return variance;
    const double left = variance - fmax(0, (double)o->intensity) / light;
    return fmax(left, dark / (light * light)) + fmax(0, J) / light;
}

/* Noise of pixels in photons squared; infinite: unknown. */
static inline double db_scaling_photons(const db_observation *o, double noise) {
    return o->light > 0 ? noise * (double)o->light * (double)o->light : (double)INFINITY;
}

/* Squared deviation of a measurement over its variance, to find wrong ones. One photon is not wrong where hardly one is
 * expected: the noise of photons is that of the measured ones, if these are more. */
static inline double db_scaling_square(const db_observation *o, double off, double variance) {
    const double more = o->light > 0 ? fmax(0, off) / (double)o->light : 0;
    return off * off / (variance + more);
}

/* Variance of a measurement whose expected value is J, by an error model; by the present one. */
static inline double db_scaling_variance_by(const db_scaling_work *w, const db_error_model *errors,
                                            const db_observation *o, double J) {
    return db_error_variance(errors, db_partiality_range((double)o->partiality),
                             db_scaling_noise(o, w->dark[w->shell[o->reflection]], J), J);
}
static inline double db_scaling_variance(const db_scaling_work *w, const db_observation *o,
                                         double J) {
    return db_scaling_variance_by(w, &w->errors, o, J);
}

/* Usual noise of the background by shells (photons^2). shell: [reflections] */
void db_scaling_find_dark(const db_observations *observations, const unsigned char *shell,
                          double dark[DB_MOST_SHELLS]);

/* Correlations and misfits of the shots in use with the others in the sums; excludes some. Returns their number. */
size_t db_scaling_judge(db_context *context, db_scaling_work *w, db_status *status);

/* Excludes shots whose Bijvoet differences surely have the other hand than most (docs/theory/merging.md, Hands).
 * Returns their number; 0 for a list without mates. Overwrites the next sums. */
size_t db_scaling_find_other_hands(db_context *context, db_scaling_work *w, db_status *status);

#endif
