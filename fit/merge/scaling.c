/* Scales of shots and merged means, in turns. */
#include "fit/merge/scaling.h"

#include "base/context_internal.h"
#include "fit/merge/scaling_work.h"

#include <stdlib.h>
#include <string.h>

static const double B_SPREAD = 15; /* standard deviation of B between shots (angstrom^2) */

/* Slope of the weighted deviation by the deviation. */
static double robust_slope(double share) {
    const double left = sqrt(share);
    return left * (5 * left - 4);
}

/* Normal equations of log k and B. */
typedef struct scale_sums {
    double gradient[2], normal[3];
} scale_sums;

static scale_sums sum_scale(const db_scaling_work *w, size_t s) {
    const db_shot_scale *const shot = &w->shot[s];
    scale_sums sums = { { 0 }, { 0 } };
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
        const db_observation *const o = &w->observations->list[i];
        if (o->reflection == DB_NO_REFLECTION) continue;
        const double fall = db_scaling_fall(w, o->reflection), g = db_scaling_at(shot, fall);
        const db_others rest = db_scaling_others(w, s, i);
        const double J = g * rest.mean, off = (double)o->intensity - J,
                     variance = db_scaling_variance(w, o, J) + g * g * rest.variance,
                     share = db_scaling_robust_share(db_scaling_square(o, off, variance),
                                                     DB_SCALING_FAR) /
                             variance;
        sums.gradient[0] += share * J * off;
        sums.gradient[1] -= share * J * off * fall;
        sums.normal[0] += share * J * J;
        sums.normal[1] -= share * J * J * fall;
        sums.normal[2] += share * J * J * fall * fall;
    }
    sums.gradient[1] -= (shot->b - w->gauge[1]) / (B_SPREAD * B_SPREAD);
    sums.normal[2] += 1 / (B_SPREAD * B_SPREAD);
    return sums;
}

/* A step of log k and B of a shot. */
static void step_scale(const db_scaling_work *w, size_t s) {
    db_shot_scale *const shot = &w->shot[s];
    const scale_sums n = sum_scale(w, s);
    if (!(n.normal[0] > 0)) return;
    double log_k = n.gradient[0] / n.normal[0], b = 0;
    if (w->options->refine_b) {
        const double determinant = n.normal[0] * n.normal[2] - n.normal[1] * n.normal[1];
        log_k = (n.gradient[0] * n.normal[2] - n.gradient[1] * n.normal[1]) / determinant;
        b = (n.gradient[1] * n.normal[0] - n.gradient[0] * n.normal[1]) / determinant;
    }
    const double longest = fmax(fabs(log_k), fabs(b) / B_SPREAD),
                 part = longest > 1 ? 1 / longest : 1;
    shot->scale *= exp(part * log_k);
    shot->b += part * b;
}

/* Multiplies all scales by a factor and adds a number to all B, so that their means stay fixed; updates the sums. */
static void end_normalized(db_scaling_work *w) {
    double log_k = 0, b = 0, count = 0;
    for (size_t s = 0; s < w->observations->shots; s++) {
        if (!db_scaling_uses(w, s)) continue;
        log_k += log(w->shot[s].scale);
        b += w->shot[s].b;
        count++;
    }
    if (!(count > 0)) return;
    const db_shot_scale move = { .scale = exp(w->gauge[0] - log_k / count),
                                 .b = w->options->refine_b ? w->gauge[1] - b / count : 0 };
    for (size_t s = 0; s < w->observations->shots; s++) {
        w->shot[s].scale *= move.scale;
        w->shot[s].b += move.b;
        w->added[s].scale *= move.scale;
        w->added[s].b += move.b;
    }
    for (uint32_t r = 0; r < w->list->count; r++) {
        const double g = db_scaling_at(&move, db_scaling_fall(w, r));
        w->sum[r] *= g;
        w->weight[r] *= g * g;
        w->usual[r] *= g * g;
        w->full[r] *= g * g;
    }
}

/* Means of shells from merged intensities. */
static void average_shells(db_scaling_work *w) {
    double sum[DB_MOST_SHELLS] = { 0 }, weight[DB_MOST_SHELLS] = { 0 };
    for (uint32_t r = 0; r < w->list->count; r++) {
        if (!(w->weight[r] > 0)) continue;
        const double epsilon = w->list->epsilon[r],
                     share = epsilon * epsilon / (1 / w->weight[r] + db_scaling_spread(w, r));
        sum[w->shell[r]] += share * w->sum[r] / w->weight[r] / epsilon;
        weight[w->shell[r]] += share;
    }
    for (int b = 0; b < w->shells.count; b++)
        if (weight[b] > 0) w->mean[b] = sum[b] / weight[b];
    db_shell_means_raise(&w->shells, w->mean);
}

/* Adds a shot to the next sums, and its deviations to the histogram. */
static void add_shot(db_scaling_work *w, size_t s) {
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
        const db_observation *const o = &w->observations->list[i];
        const uint32_t r = o->reflection;
        if (r == DB_NO_REFLECTION) continue;
        const double g = db_scaling_at(&w->shot[s], db_scaling_fall(w, r)),
                     J = g * db_scaling_mean(w, r), variance = db_scaling_variance(w, o, J);
        const db_others rest = db_scaling_others(w, s, i);
        double robust = 1;
        if (rest.precision > 0) {
            /* the weights of the others decide nothing here: else of two that disagree one would count, and it would make the
             * other one seem wrong for ever */
            const double off = (double)o->intensity - g * rest.measured,
                         of_mean = 1 + g * g / rest.full / variance,
                         noise = db_scaling_noise(o, w->dark[w->shell[r]], J);
            robust = db_scaling_robust_share(db_scaling_square(o, off, variance * of_mean), w->far);
            if (db_scaling_photons(o, noise) >= DB_SCALING_FEWEST_PHOTONS)
                db_deviations_add(w->deviations, db_partiality_range((double)o->partiality),
                                  J * J / noise, off * off / (noise * of_mean));
        }
        if (w->agreed) {
            const double off = (double)o->intensity - g * w->agreed[r].agreed;
            robust = db_scaling_robust_share(db_scaling_square(o, off, variance), w->far);
        }
        w->share[i] = (float)(robust / variance);
        w->variance[i] = (float)variance;
        const double share = (double)w->share[i]; /* so that the shot can be removed again */
        w->next_sum[r] += share * g * (double)o->intensity;
        w->next_weight[r] += share * g * g;
        w->next_usual[r] +=
            robust * g * g / db_scaling_variance(w, o, g * db_scaling_expected(w, r));
        w->next_full[r] += g * g / (double)w->variance[i];
    }
}

static void swap(double **a, double **b) {
    double *const kept = *a;
    *a = *b;
    *b = kept;
}

/* Means with the present scales, and the error model by deviations from them. */
static void merge_again(db_scaling_work *w) {
    memset(w->deviations, 0, sizeof *w->deviations);
    memset(w->next_sum, 0, w->list->count * sizeof *w->next_sum);
    memset(w->next_weight, 0, w->list->count * sizeof *w->next_weight);
    memset(w->next_usual, 0, w->list->count * sizeof *w->next_usual);
    memset(w->next_full, 0, w->list->count * sizeof *w->next_full);
    for (size_t s = 0; s < w->observations->shots; s++)
        if (db_scaling_uses(w, s)) add_shot(w, s);
    memcpy(w->added, w->shot, w->observations->shots * sizeof *w->added);
    swap(&w->sum, &w->next_sum);
    swap(&w->weight, &w->next_weight);
    swap(&w->usual, &w->next_usual);
    swap(&w->full, &w->next_full);
    average_shells(w);
    w->added_errors = w->errors;
    if (!db_error_model_fit(w->deviations, &w->errors) && w->few)
        db_error_model_of_few(w->deviations, &w->errors);
}

/* Means with the present scales, of the measurements of each reflection that agree with its likeliest intensity. */
static db_status merge_agreed(db_context *context, db_scaling_work *w) {
    db_agreement *const agreed = calloc(w->list->count + 1, sizeof *agreed);
    if (!agreed) return db_fail_memory(context, "measurements that agree");
    for (uint32_t r = 0; r < w->list->count; r++) {
        agreed[r].middle = db_scaling_expected(w, r);
        agreed[r].width = sqrt(db_scaling_spread(w, r));
    }
    for (size_t s = 0; s < w->observations->shots; s++) {
        if (!db_scaling_uses(w, s)) continue;
        for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
            const db_observation *const o = &w->observations->list[i];
            const uint32_t r = o->reflection;
            if (r == DB_NO_REFLECTION) continue;
            const double g = db_scaling_at(&w->shot[s], db_scaling_fall(w, r)),
                         variance = db_scaling_variance(w, o, g * db_scaling_mean(w, r));
            db_agreement_add(&agreed[r], (double)o->intensity / g, variance / (g * g));
        }
    }
    db_agreements_find(agreed, w->list->count);
    w->agreed = agreed;
    merge_again(w);
    w->agreed = NULL;
    free(agreed);
    return DB_OK;
}

/* Movement of scales since their shots were added: standard deviation of their logarithms, in the middle of
 * reciprocal space. */
static double movement(const db_scaling_work *w) {
    const double square = pow(w->list->d_min, -2), fall = 0.3 * square;
    double sum = 0, square_sum = 0, count = 0;
    for (size_t s = 0; s < w->observations->shots; s++) {
        if (!db_scaling_uses(w, s)) continue;
        const double change =
            log(db_scaling_at(&w->shot[s], fall) / db_scaling_at(&w->added[s], fall));
        sum += change;
        square_sum += change * change;
        count++;
    }
    return count > 0 ? sqrt(fmax(0, square_sum / count - sum * sum / (count * count))) : 0;
}

/* Scales with the present means, then means with the scales. Returns the movement of the scales. */
static double pass_over_shots(db_scaling_work *w) {
    for (size_t s = 0; s < w->observations->shots && !w->options->held; s++)
        if (db_scaling_uses(w, s)) step_scale(w, s);
    if (!w->options->held) end_normalized(w);
    const double moved = movement(w);
    merge_again(w);
    return moved;
}

/* ---- merged values */

/* Sums over the measurements of a reflection. */
typedef struct error_sums {
    double expected, found; /* (w g)^2 times variance, and times squared deviation */
    double leverage;        /* (w g^2)^2 */
    double slope;           /* w g^2, with the slope of weighted deviations by the mean */
    double known; /* number of measurements, less if their scatter is that of few photons */
    double best;  /* largest robust weight, 0 to 1 */
    double count; /* of measurements, wrong ones included */
} error_sums;

static void sum_errors(const db_scaling_work *w, const db_merged *merged, error_sums *sums) {
    for (size_t s = 0; s < w->observations->shots; s++) {
        if (!db_scaling_uses(w, s)) continue;
        for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
            const db_observation *const o = &w->observations->list[i];
            const uint32_t r = o->reflection;
            if (r == DB_NO_REFLECTION) continue;
            const double g = db_scaling_at(&w->added[s], db_scaling_fall(w, r)),
                         weight = (double)w->share[i] * g, J = g * db_scaling_mean(w, r),
                         variance = db_scaling_variance_by(w, &w->added_errors, o, J),
                         off = (double)o->intensity - g * merged->intensity[r];
            sums[r].expected += weight * weight * variance;
            sums[r].found += weight * weight * off * off;
            sums[r].leverage += weight * weight * g * g;
            /* a squared deviation over its mean has the variance 2, and 2 + 1/photons if these make it (Poisson) */
            sums[r].known +=
                1 / (1 + 0.5 / db_scaling_photons(o, db_scaling_noise(o, w->dark[w->shell[r]], J)));
            const double share = fmin(1, (double)w->share[i] * variance);
            sums[r].slope += g * g / variance * robust_slope(share);
            sums[r].best = fmax(sums[r].best, share);
            sums[r].count++;
            merged->multiplicity[r] += share > 0.01;
        }
    }
}

/* Errors: expected errors of the measurements, times the excess scatter between shots, of a reflection alone as
 * far as it was measured often, else of its shell. Deviations are from a mean that follows the measurements, by
 * their leverage; measurements with low weight determine the mean less than their weights say (P. J. Huber, Ann.
 * Math. Stat. 35 (1964) 73). */
static void find_errors(const db_scaling_work *w, const error_sums *sums, db_merged *merged) {
    /* Measurements that equal in weight: to those of a reflection the misfit of its shell, to those of a shell the misfit 1
     * that the error model expects. */
    const double others = 10;
    double top[DB_MOST_SHELLS] = { 0 }, bottom[DB_MOST_SHELLS] = { 0 },
           weight[DB_MOST_SHELLS] = { 0 }, slope[DB_MOST_SHELLS] = { 0 };
    for (size_t r = 0; r < w->list->count; r++) {
        const double n = merged->multiplicity[r];
        if (n < 2) continue;
        weight[w->shell[r]] += n;
        slope[w->shell[r]] += n * sums[r].slope / w->weight[r];
        top[w->shell[r]] += sums[r].known * sums[r].found / sums[r].expected;
        bottom[w->shell[r]] +=
            sums[r].known * (1 - sums[r].leverage / (w->weight[r] * w->weight[r]));
    }
    for (size_t r = 0; r < w->list->count; r++) {
        const int shell = w->shell[r];
        if (!(w->weight[r] > 0)) continue;
        const double free = 1 - sums[r].leverage / (w->weight[r] * w->weight[r]),
                     usual = (others + top[shell]) / (others + bottom[shell]),
                     own = sums[r].found / sums[r].expected,
                     /* if no two agree, the shell does not know how wrong they are */
            of_shell = others * sums[r].best,
                     misfit = (of_shell * usual + sums[r].known * own) /
                              (of_shell + sums[r].known * fmax(0, free));
        const double loss = slope[shell] > 0 ? fmin(2, weight[shell] / slope[shell]) : 1;
        merged->sigma[r] =
            loss * sqrt(sums[r].expected * (sums[r].count > 1 ? misfit : usual)) / w->weight[r];
    }
}

static db_status take_means(db_context *context, const db_scaling_work *w, db_merged *merged) {
    error_sums *const sums = calloc(w->list->count + 1, sizeof *sums);
    if (!sums) return db_fail_memory(context, "the errors of merged intensities");
    for (size_t r = 0; r < w->list->count; r++)
        if (w->weight[r] > 0) merged->intensity[r] = w->sum[r] / w->weight[r];
    sum_errors(w, merged, sums);
    find_errors(w, sums, merged);
    free(sums);
    return DB_OK;
}

/* Rejects measurements far from the mean of at least three others. */
static void mark_rejected(const db_scaling_work *w, const db_merged *merged, db_scaling *scaling,
                          db_observations *observations) {
    const uint32_t fewest = 4;
    for (size_t s = 0; s < observations->shots; s++) {
        scaling->shot[s].rejected = 0;
        for (size_t i = observations->first[s]; i < observations->first[s + 1]; i++) {
            db_observation *const o = &observations->list[i];
            const uint32_t r = o->reflection;
            o->flags &= (uint16_t)~DB_OBSERVATION_REJECTED;
            if (r == DB_NO_REFLECTION || !db_scaling_uses(w, s)) continue;
            const double g = db_scaling_at(&w->added[s], db_scaling_fall(w, r)),
                         variance = db_scaling_variance_by(w, &w->added_errors, o,
                                                           g * db_scaling_mean(w, r));
            if ((double)w->share[i] * variance > 0.01 || merged->multiplicity[r] + 1 < fewest)
                continue;
            o->flags |= DB_OBSERVATION_REJECTED;
            scaling->shot[s].rejected++;
        }
    }
}

/* ---- runs */

void db_scaling_find_dark(const db_observations *observations, const unsigned char *shell,
                          double dark[DB_MOST_SHELLS]) {
    const double most = DB_SCALING_FEWEST_PHOTONS; /* of more the measurement itself knows enough */
    double count[DB_MOST_SHELLS] = { 0 };
    memset(dark, 0, DB_MOST_SHELLS * sizeof *dark);
    for (size_t i = 0; i < observations->first[observations->shots]; i++) {
        const db_observation *const o = &observations->list[i];
        if (o->reflection == DB_NO_REFLECTION || !(o->light > 0)) continue;
        dark[shell[o->reflection]] += fmin(most, db_scaling_photons(o, db_scaling_noise(o, 0, 0)));
        count[shell[o->reflection]]++;
    }
    for (int b = 0; b < DB_MOST_SHELLS; b++) dark[b] /= fmax(1, count[b]);
}

static void clear_work(db_scaling_work *w) {
    free(w->shell);
    free(w->sums);
    free(w->share);
    free(w->added);
    free(w->deviations);
}

static db_status make_room(db_context *context, db_scaling_work *w) {
    const size_t n = w->list->count + 1, all = w->observations->first[w->observations->shots] + 1;
    double **const sum[] = { &w->sum,      &w->weight,      &w->usual,      &w->full,
                             &w->next_sum, &w->next_weight, &w->next_usual, &w->next_full };
    w->shell = calloc(n, 1);
    w->sums = calloc(n * sizeof sum / sizeof *sum, sizeof *w->sums);
    w->share = calloc(2 * all, sizeof *w->share);
    w->added = calloc(w->observations->shots + 1, sizeof *w->added);
    w->deviations = calloc(1, sizeof *w->deviations);
    if (!w->shell || !w->sums || !w->share || !w->added || !w->deviations)
        return db_fail_memory(context, "the scales of the shots");
    w->variance = w->share + all;
    for (size_t k = 0; k < sizeof sum / sizeof *sum; k++) *sum[k] = w->sums + k * n;
    for (size_t r = 0; r < w->list->count; r++)
        w->shell[r] = (unsigned char)db_shell_of(&w->shells, (double)w->list->d[r]);
    db_scaling_find_dark(w->observations, w->shell, w->dark);
    return DB_OK;
}

static db_status iterate_scales(db_context *context, db_scaling_work *w, int judges,
                                int *iterations) {
    const double converged = 1e-3;
    const int most = 40;
    const int first_verdict = 5; /* pass after which scales are good enough to judge shots */
    const int repeats = 2;       /* passes after the last choice of measurements that agree */
    int after = 0;
    w->far = DB_SCALING_FARTHEST;
    DB_TRY(merge_agreed(context, w));
    w->few = w->options->held &&
             !w->is_half; /* scales that are fitted make few deviations larger or smaller */
    for (*iterations = 1; *iterations < most; ++*iterations) {
        const int falls = w->far > DB_SCALING_FAR;
        w->far = fmax(DB_SCALING_FAR, w->far / 1.5);
        const double change = pass_over_shots(w);
        after += w->far <= DB_SCALING_FAR;
        if (falls && w->far <= DB_SCALING_FAR) DB_TRY(merge_agreed(context, w));
        const int settled = change < converged && after > repeats;
        const int due = judges && (settled || *iterations % first_verdict == 0);
        size_t excluded = 0;
        db_status status = DB_OK;
        if (due && w->options->hands) excluded = db_scaling_find_other_hands(context, w, &status);
        if (due && !excluded && status == DB_OK) excluded = db_scaling_judge(context, w, &status);
        DB_TRY(status);
        if (excluded) merge_again(w);
        if (settled && !excluded) break;
    }
    return DB_OK;
}

/* Means of shells at the start, where all measurements are on one scale. */
static void begin_held(db_scaling_work *w) {
    const db_observations *const o = w->observations;
    double sum[DB_MOST_SHELLS] = { 0 }, count[DB_MOST_SHELLS] = { 0 };
    for (size_t i = 0; i < o->first[o->shots]; i++) {
        const uint32_t r = o->list[i].reflection;
        if (r == DB_NO_REFLECTION) continue;
        sum[w->shell[r]] += (double)o->list[i].intensity / w->list->epsilon[r];
        count[w->shell[r]]++;
    }
    for (int b = 0; b < w->shells.count; b++) w->mean[b] = count[b] > 0 ? sum[b] / count[b] : 0;
    db_shell_means_raise(&w->shells, w->mean);
}

/* Sets the start of a run's scales, whose mean stays. */
static void set_gauge(db_scaling_work *w, const db_scaling *scaling, int is_half) {
    double count = 0;
    w->gauge[0] = w->gauge[1] = 0;
    for (size_t s = 0; s < scaling->shots && is_half; s++) {
        if (!db_scaling_uses(w, s)) continue;
        w->gauge[0] += log(scaling->shot[s].scale);
        w->gauge[1] += scaling->shot[s].b;
        count++;
    }
    for (int i = 0; i < 2 && count > 0; i++) w->gauge[i] /= count;
}

/* Runs the shots of one half, with their own scales, which start at means of shells. */
static db_status run_half(db_context *context, const db_scaling_work *of_all, int half,
                          const db_scaling *scaling, const double *start,
                          const unsigned char *joins, db_merged *merged) {
    db_scaling_work w = { .list = of_all->list,
                          .options = of_all->options,
                          .observations = of_all->observations,
                          .shells = of_all->shells,
                          .joins = joins,
                          .is_half = 1,
                          .errors = of_all->errors };
    db_merged own = { 0 };
    int iterations;
    w.shot = calloc(scaling->shots + 1, sizeof *w.shot);
    db_status status =
        w.shot ? make_room(context, &w) : db_fail_memory(context, "half of the shots");
    if (status == DB_OK) status = db_merged_make(context, w.list->count, &own);
    if (status == DB_OK) {
        memcpy(w.shot, scaling->shot, scaling->shots * sizeof *w.shot);
        memcpy(w.mean, of_all->mean, sizeof w.mean);
        set_gauge(&w, scaling, 1);
        for (size_t s = 0; s < scaling->shots; s++) {
            w.shot[s].scale = start[s];
            w.shot[s].b = w.gauge[1];
        }
        if (!w.options->held) end_normalized(&w);
        status = iterate_scales(context, &w, 0, &iterations);
    }
    if (status == DB_OK) status = take_means(context, &w, &own);
    if (status == DB_OK) {
        memcpy(merged->half[half], own.intensity, own.count * sizeof *own.intensity);
        memcpy(merged->half_sigma[half], own.sigma, own.count * sizeof *own.sigma);
        memcpy(merged->half_multiplicity[half], own.multiplicity,
               own.count * sizeof *own.multiplicity);
    }
    db_merged_clear(&own);
    free(w.shot);
    clear_work(&w);
    return status;
}

db_status db_scale_shots(db_context *context, const db_asu_list *list,
                         const db_scaling_options *options, uint64_t seed,
                         db_observations *observations, db_scaling *scaling, db_merged *merged) {
    const size_t shots = observations->shots;
    db_scaling_work w = { .list = list,
                          .options = options,
                          .observations = observations,
                          .shells = db_scaling_shells(list),
                          .shot = scaling->shot };
    for (int r = 0; r < DB_PARTIALITY_RANGES; r++) {
        w.errors.noise[r] = 1;
        w.errors.relative[r] = 0.04;
    }
    unsigned char *const joins = malloc(shots + 1);
    double *const start = calloc(shots + 1, sizeof *start);
    w.joins = joins;
    db_status status = db_need_memory(context, joins && start, "the scales of the shots");
    if (status == DB_OK) memset(joins, 1, shots);
    if (status == DB_OK) status = make_room(context, &w);
    if (status == DB_OK && options->held)
        begin_held(&w);
    else if (status == DB_OK)
        status = db_scale_by_means(context, list, observations, &w.shells, w.mean, scaling);
    for (size_t s = 0; s < shots && status == DB_OK; s++) start[s] = scaling->shot[s].scale;
    if (status == DB_OK) status = iterate_scales(context, &w, !options->held, &scaling->iterations);
    if (status == DB_OK) status = take_means(context, &w, merged);
    if (status == DB_OK) mark_rejected(&w, merged, scaling, observations);
    scaling->errors = w.errors;
    clear_work(&w); /* make room for the halves */
    for (int half = 0; half < 2 && status == DB_OK; half++) {
        for (size_t s = 0; s < shots; s++) joins[s] = db_half_of_shot(seed, s) == half;
        status = run_half(context, &w, half, scaling, start, joins, merged);
    }
    free(joins);
    free(start);
    return status;
}
