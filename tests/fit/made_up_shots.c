/* Intensities by Wilson's distribution, and noisy measurements of them. */
#include "support/unit_test.h"
#include "fit/made_up_shots.h"

#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double made_up_uniform(uint64_t *random) {
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double made_up_normal(uint64_t *random) {
    const double radius = sqrt(-2 * log(1 - made_up_uniform(random)));
    return radius * cos(6.283185307179586 * made_up_uniform(random));
}

static double fall(double d, double b) { return exp(-b / (2 * d * d)); }

static double mean_at(const db_asu_list *list, uint32_t n) {
    return 100 * list->epsilon[n] * fall((double)list->d[n], 15);
}

static void draw_truth(const db_asu_list *list, double anomalous, uint64_t *random, double *truth) {
    for (uint32_t n = 0; n < list->count; n++) {
        const double mean = mean_at(list, n);
        if (list->mate[n] < n) { /* the partner has been drawn */
            const double partner = truth[list->mate[n]];
            const double change = anomalous * made_up_normal(random) * sqrt(mean * partner);
            truth[n] = fmax(0.01 * mean, partner + change);
        } else if (list->centric[n]) {
            const double x = made_up_normal(random);
            truth[n] = mean * x * x;
        } else
            truth[n] = -mean * log(1 - made_up_uniform(random));
    }
}

/* Of a crystal with as much of h k l as of k h -l. */
static void make_twins(const db_asu_list *list, double *truth) {
    for (uint32_t n = 0; n < list->count; n++) {
        const int turned[3] = { list->hkl[n][1], list->hkl[n][0], -list->hkl[n][2] };
        const uint32_t other = db_asu_number(list, turned);
        if (other > n) truth[n] = truth[other] = 0.5 * (truth[n] + truth[other]);
    }
}

static bad_shot draw_kind(const made_up_options *options, uint64_t *random) {
    double left = made_up_uniform(random);
    for (int kind = 1; kind < 5; kind++)
        if ((left -= options->bad[kind]) < 0) return (bad_shot)kind;
    return GOOD_SHOT;
}

/* The indices that the shot gives a reflection. */
static void index_by(const made_up_options *options, int operator, const int from[3], int to[3]) {
    for (int i = 0; i < 3; i++) {
        to[i] = from[i];
        if (!options->operators) continue;
        const int *const row = options->operators[operator] + 3 * i;
        to[i] = row[0] * from[0] + row[1] * from[1] + row[2] * from[2];
    }
}

static void measure(const db_asu_list *list, const made_up_options *options, const made_up *set,
                    const double *other, size_t shot, uint64_t *random, db_observation *o) {
    const bad_shot kind = set->kind[shot];
    const uint32_t r = (uint32_t)(made_up_uniform(random) * (double)list->count);
    const double b = options->b_spread * made_up_normal(&(uint64_t){ 77 * shot + 3 }),
                 partiality = 0.02 + 0.98 * made_up_uniform(random),
                 g = set->scale[shot] * fall((double)list->d[r], b),
                 light = partiality * options->photons / 100 / set->scale[shot];
    double I = kind == OTHER_CRYSTAL ? other[r]
               : kind == BLANK       ? 0
               : kind == OTHER_HAND  ? set->truth[list->mate[r]]
                                     : set->truth[r];
    I *= fmax(0, 1 + options->relative * made_up_normal(random));
    if (kind == SCATTERED) I *= exp(2.5 * made_up_normal(random));
    if (made_up_uniform(random) < options->outliers) I += 3000 * made_up_uniform(random);
    const double expected = light * g * I,
                 variance = options->background * options->background + expected,
                 counted = expected + sqrt(variance) * made_up_normal(random),
                 guessed = options->background * options->background + fmax(0, counted);
    int hkl[3], turned[3];
    const int o_number = (int)(made_up_uniform(random) * list->group->symmetry.count);
    db_symmetry_turn(&list->group->symmetry, o_number, list->hkl[r], hkl);
    index_by(options, set->operator[shot], hkl, turned);
    *o = (db_observation){ .reflection = db_asu_number(list, turned),
                           .intensity = (float)(counted / light),
                           .sigma = (float)(sqrt(guessed) / light),
                           .partiality = (float)partiality,
                           .light = (float)light };
    for (int i = 0; i < 3; i++) o->hkl[i] = (int16_t)turned[i];
}

void made_up_make(db_context *context, const db_asu_list *list, const made_up_options *options,
                  made_up *set) {
    const size_t all = options->shots * options->each;
    uint64_t random = options->seed;
    double *const other = calloc(list->count, sizeof *other);
    set->truth = calloc(list->count, sizeof *set->truth);
    set->kind = calloc(options->shots, sizeof *set->kind);
    set->operator= calloc(options->shots, sizeof *set->operator);
    set->scale = calloc(options->shots, sizeof *set->scale);
    assert_true(other && set->truth && set->kind && set->operator&& set->scale);
    assert_int_equal(db_observations_make(context, options->shots, all, &set->observations), DB_OK);
    draw_truth(list, options->anomalous, &random, set->truth);
    if (options->twins) make_twins(list, set->truth);
    for (uint32_t n = 0; n < list->count; n++)
        set->truth[n] += options->flat * (mean_at(list, n) - set->truth[n]);
    draw_truth(list, options->anomalous, &random, other);
    for (uint32_t n = 0; n < list->count; n++)
        other[n] += options->alike * (set->truth[n] - other[n]);
    for (size_t s = 0; s < options->shots; s++) {
        set->kind[s] = draw_kind(options, &random);
        set->scale[s] = exp(options->scale_spread * made_up_normal(&random));
        if (options->operator_count > 0)
            set->operator[s] =(int)(made_up_uniform(&random) * (double)options->operator_count);
        for (size_t i = 0; i < options->each; i++)
            measure(list, options, set, other, s, &random,
                    &set->observations.list[s * options->each + i]);
        set->observations.first[s + 1] = (s + 1) * options->each;
    }
    free(other);
}

void made_up_clear(made_up *set) {
    free(set->truth);
    free(set->kind);
    free(set->operator);
    free(set->scale);
    db_observations_clear(&set->observations);
    memset(set, 0, sizeof *set);
}
