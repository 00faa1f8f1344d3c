/* Scales by the mean intensity of shells of resolution. */
#include "fit/merge/scaling.h"

#include "base/context_internal.h"
#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BRIGHTEST =
    12; /* factor on the mean at a resolution, which one reflection in 10^5 exceeds */
static const double LEAST_LIGHT = 4; /* standard errors of a scale that is not chance */

db_status db_scaling_make(db_context *context, size_t shots, db_scaling *scaling) {
    memset(scaling, 0, sizeof *scaling);
    scaling->shot = calloc(shots + 1, sizeof *scaling->shot);
    if (!scaling->shot) return db_fail_memory(context, "the scales of the shots");
    scaling->shots = shots;
    for (size_t s = 0; s < shots; s++)
        scaling->shot[s] =
            (db_shot_scale){ .scale = 1, .correlation = NAN, .expected = NAN, .misfit = NAN };
    return DB_OK;
}

void db_scaling_clear(db_scaling *scaling) {
    free(scaling->shot);
    memset(scaling, 0, sizeof *scaling);
}

db_shells db_scaling_shells(const db_asu_list *list) {
    return (db_shells){ db_shells_for(list->count, 100),
                        fmax(db_asu_coarsest(list), 1.001 * list->d_min), list->d_min };
}

void db_shell_means(const db_asu_list *list, const db_shells *shells, const double *intensity,
                    double mean[DB_MOST_SHELLS]) {
    double count[DB_MOST_SHELLS] = { 0 };
    memset(mean, 0, DB_MOST_SHELLS * sizeof *mean);
    for (size_t r = 0; r < list->count; r++) {
        if (isnan(intensity[r])) continue;
        const int b = db_shell_of(shells, (double)list->d[r]);
        mean[b] += intensity[r] / list->epsilon[r];
        count[b]++;
    }
    for (int b = 0; b < DB_MOST_SHELLS; b++) mean[b] = count[b] > 0 ? mean[b] / count[b] : NAN;
}

void db_shell_means_raise(const db_shells *shells, double *mean) {
    double most = 0;
    for (int b = 0; b < shells->count; b++) most = fmax(most, mean[b]);
    for (int b = 0; b < shells->count; b++) mean[b] = fmax(mean[b], most > 0 ? 1e-4 * most : 1);
}

typedef struct means_work {
    const db_asu_list *list;
    const db_observations *observations;
    const db_shells *shells;
    double *mean;
    db_scaling *scaling;
} means_work;

static double expected_at(const means_work *w, const db_observation *o) {
    const int shell = db_shell_of(w->shells, (double)w->list->d[o->reflection]);
    return w->mean[shell] * w->list->epsilon[o->reflection];
}

/* Mean of a shot's intensities, each limited to a multiple of their median. */
static double rough_mean(const means_work *w, size_t s, double *room) {
    size_t count = 0;
    double sum = 0;
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++)
        if (w->observations->list[i].reflection != DB_NO_REFLECTION)
            room[count++] = fabs((double)w->observations->list[i].intensity);
    const double most = 20 * (count ? db_median(room, count) : 0);
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
        const db_observation *const o = &w->observations->list[i];
        if (o->reflection != DB_NO_REFLECTION) sum += fmax(-most, fmin(most, (double)o->intensity));
    }
    return count ? sum / (double)count : 0;
}

/* Excludes shots with too few measurements; the others begin with their mean intensity. */
static db_status begin_scales(db_context *context, const means_work *w) {
    size_t most = 0;
    for (size_t s = 0; s < w->observations->shots; s++) {
        const size_t count = w->observations->first[s + 1] - w->observations->first[s];
        if (count > most) most = count;
    }
    double *const room = malloc((most + 1) * sizeof *room);
    if (!room) return db_fail_memory(context, "the scales of the shots");
    for (size_t s = 0; s < w->observations->shots; s++) {
        db_shot_scale *const shot = &w->scaling->shot[s];
        if (shot->excluded) continue;
        const double mean = rough_mean(w, s, room);
        shot->scale = mean > 0 ? mean : 1e-30;
        shot->b = 0;
    }
    free(room);
    return DB_OK;
}

static void average_shells(const means_work *w) {
    double sum[DB_MOST_SHELLS] = { 0 }, weight[DB_MOST_SHELLS] = { 0 };
    for (size_t s = 0; s < w->observations->shots; s++) {
        const db_shot_scale *const shot = &w->scaling->shot[s];
        if (shot->excluded) continue;
        for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
            const db_observation *const o = &w->observations->list[i];
            if (o->reflection == DB_NO_REFLECTION) continue;
            const int shell = db_shell_of(w->shells, (double)w->list->d[o->reflection]);
            const double epsilon = w->list->epsilon[o->reflection], mean = w->mean[shell],
                         error = (double)o->sigma / shot->scale / epsilon,
                         intensity = (double)o->intensity / shot->scale / epsilon,
                         share = 1 / (error * error + mean * mean);
            sum[shell] += share * fmin(intensity, BRIGHTEST * mean);
            weight[shell] += share;
        }
    }
    for (int b = 0; b < w->shells->count; b++) w->mean[b] = weight[b] > 0 ? sum[b] / weight[b] : 0;
    db_shell_means_raise(w->shells, w->mean);
}

static void scale_shot(const means_work *w, size_t s, double *error) {
    db_shot_scale *const shot = &w->scaling->shot[s];
    double sum = 0, weight = 0;
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
        const db_observation *const o = &w->observations->list[i];
        if (o->reflection == DB_NO_REFLECTION) continue;
        const double mean = expected_at(w, o), J = shot->scale * mean,
                     share = 1 / ((double)o->sigma * (double)o->sigma + J * J);
        sum += share * mean * fmin((double)o->intensity, BRIGHTEST * J);
        weight += share * mean * mean;
    }
    *error = weight > 0 ? 1 / sqrt(weight) : INFINITY;
    if (weight > 0) shot->scale = fmax(sum / weight, 0.1 * shot->scale);
}

/* Excludes shots whose scale does not exceed its error. */
static void exclude_dark(const means_work *w) {
    for (size_t s = 0; s < w->observations->shots; s++) {
        db_shot_scale *const shot = &w->scaling->shot[s];
        double error;
        if (shot->excluded) continue;
        scale_shot(w, s, &error);
        if (!(shot->scale > LEAST_LIGHT * error)) shot->excluded = DB_EXCLUDED_DARK;
    }
}

static void exclude_few(const means_work *w) {
    const size_t fewest = 3;
    for (size_t s = 0; s < w->observations->shots; s++) {
        size_t count = 0;
        for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++)
            count += w->observations->list[i].reflection != DB_NO_REFLECTION;
        if (!w->scaling->shot[s].excluded && count < fewest)
            w->scaling->shot[s].excluded = DB_EXCLUDED_FEW;
    }
}

db_status db_scale_by_means(db_context *context, const db_asu_list *list,
                            const db_observations *observations, const db_shells *shells,
                            double *mean, db_scaling *scaling) {
    const int rounds = 8, dark_after = 4;
    const means_work w = { list, observations, shells, mean, scaling };
    for (int b = 0; b < shells->count; b++) mean[b] = 1;
    exclude_few(&w);
    DB_TRY(begin_scales(context, &w));
    for (int round = 0; round < rounds; round++) {
        average_shells(&w);
        if (round == dark_after) {
            exclude_dark(&w);
            continue;
        }
        for (size_t s = 0; s < observations->shots; s++) {
            double error;
            if (!scaling->shot[s].excluded) scale_shot(&w, s, &error);
        }
    }
    return DB_OK;
}
