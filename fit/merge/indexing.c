/* Resolves the indexing ambiguity: expectation maximization from several random orders of the
 * shots. */
#include "fit/merge/indexing.h"

#include "base/context_internal.h"
#include "fit/merge/scaling.h"
#include "fit/merge/shot_ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Log probability of the measurements if the crystal has all rotations of the lattice, so that all ways are equal:
 * reflections that ways make of each other are one. */
static double as_if_alike(db_shot_ways *r) {
    const size_t n = (size_t)r->ways, all = r->first[r->observations->shots];
    db_shot_ways one = *r;
    double total = 0;
    one.ways = 1;
    one.number = malloc((all + 1) * sizeof *one.number);
    one.probability = malloc((r->observations->shots + 1) * sizeof *one.probability);
    if (one.number && one.probability) {
        for (size_t i = 0; i < all; i++) {
            one.number[i] = r->number[i * n];
            for (size_t w = 1; w < n; w++)
                if (r->number[i * n + w] < one.number[i]) one.number[i] = r->number[i * n + w];
        }
        for (size_t s = 0; s < r->observations->shots; s++) one.probability[s] = 1;
        db_shot_ways_add_all(&one);
        for (size_t s = 0; s < r->observations->shots; s++) {
            db_shot_ways_add(&one, s, -1);
            total += db_shot_ways_likelihood(&one, s, 0);
            db_shot_ways_add(&one, s, 1);
        }
    } else
        total = NAN;
    free(one.number);
    free(one.probability);
    return total;
}

db_status db_indexing_search(db_context *context, db_shot_ways *r, double *gain) {
    enum { STARTS = 4 }; /* orders of the shots */
    const size_t shots = r->observations->shots, size = shots * (size_t)r->ways;
    size_t *const order = calloc(shots + 1, sizeof *order);
    double *const best = malloc((size + 1) * sizeof *best);
    double highest = -INFINITY;
    if (!order || !best) {
        free(order);
        free(best);
        return db_fail_memory(context, "the indexing of the shots");
    }
    for (int start = 0; start < STARTS; start++) {
        for (size_t s = 0; s < shots; s++) order[s] = s;
        db_shot_ways_shuffle(1 + (uint64_t)start, shots, order);
        db_shot_ways_forget(r);
        size_t first = 0;
        while (first < shots && !db_shot_ways_has(r, order[first])) first++;
        const double total = db_shot_ways_sweep(r, order, first < shots ? order[first] : shots);
        if (total <= highest) continue;
        highest = total;
        memcpy(best, r->probability, size * sizeof *best);
    }
    memcpy(r->probability, best, size * sizeof *best);
    free(order);
    free(best);
    const double alike = as_if_alike(r);
    *gain = highest - alike;
    return isnan(alike) ? db_fail_memory(context, "the indexing of the shots") : DB_OK;
}

/* The way by which all shots are turned, once they agree: to the reference, or so that most shots stay unchanged; if others are
 * as many, the first one. */
static int common_way(const db_shot_ways *r, const db_indexings *ways, const db_space_group *group,
                      const double *reference, const db_shells *shells) {
    size_t count[DB_MOST_INDEXINGS] = { 0 };
    int most = -1, best = 0;
    double highest = -INFINITY, usual[DB_MOST_SHELLS], error;
    if (reference) db_shell_means(r->list, shells, reference, usual);
    for (size_t s = 0; s < r->observations->shots; s++) {
        if (!db_shot_ways_has(r, s)) continue;
        if (most < 0) most = db_shot_ways_best(r, s);
        count[db_shot_ways_best(r, s)]++;
    }
    for (int w = 0; w < r->ways; w++)
        if (most < 0 || count[w] > count[most]) most = w;
    for (int w = 0; w < r->ways; w++) {
        if (!reference) {
            if (db_indexings_product(ways, group, most, w) == 0) return w;
            continue;
        }
        const double agrees =
            db_shot_ways_likeness(r, 0, &ways->way[w], reference, shells, usual, &error);
        if (agrees <= highest) continue;
        highest = agrees;
        best = w;
    }
    return best;
}

static void turn_shot(const db_asu_list *list, const db_indexing *way, size_t s,
                      db_observations *observations) {
    for (size_t i = observations->first[s]; i < observations->first[s + 1]; i++) {
        db_observation *const o = &observations->list[i];
        const int hkl[3] = { o->hkl[0], o->hkl[1], o->hkl[2] };
        int turned[3];
        o->reflection =
            db_indexing_apply(way, hkl, turned) ? db_asu_number(list, turned) : DB_NO_REFLECTION;
        for (int k = 0; k < 3; k++) o->hkl[k] = (int16_t)turned[k];
    }
}

/* Can the shot also be indexed another way that spots do not distinguish from the first? */
static int is_open(const db_shot_ways *r, const db_indexings *ways, size_t s, int then) {
    const double *const p = r->probability + s * (size_t)r->ways;
    double exact = 0;
    for (int w = 0; w < r->ways; w++) {
        const int both = db_indexings_product(ways, r->list->group, w, then);
        if (both > 0 && db_indexing_is_exact(&ways->way[both])) exact += p[w];
    }
    return exact > 1 - DB_INDEXING_CERTAIN;
}

static size_t crystal_of(const db_indexing_options *options, size_t s) {
    return options->crystal ? options->crystal[s] : s;
}

size_t db_indexing_decided(const db_shot_ways *r, size_t *all) {
    size_t decided = 0;
    *all = 0;
    for (size_t s = 0; s < r->observations->shots; s++) {
        if (!db_shot_ways_has(r, s)) continue;
        decided += r->probability[s * (size_t)r->ways + (size_t)db_shot_ways_best(r, s)] >=
                   DB_INDEXING_CERTAIN;
        ++*all;
    }
    return decided;
}

/* Do measurements tell the ways of most crystals? A single one defines the way. */
static int are_told(const db_shot_ways *r, double gain) {
    size_t all;
    const size_t decided = db_indexing_decided(r, &all);
    return all == 1 || (gain > (double)all && 2 * decided > all);
}

/* Sets way and probability of each shot, those of its crystal, if most are decided; then turns them. */
static void decide_ways(const db_shot_ways *r, const db_indexing_options *options, int then,
                        db_observations *observations, db_scaling *scaling,
                        db_indexing_result *result) {
    result->end = are_told(r, result->gain) ? DB_INDEXING_RESOLVED : DB_INDEXING_ALIKE;
    for (size_t s = 0; s < observations->shots; s++) {
        const size_t c = crystal_of(options, s);
        const int in_use = scaling->shot[s].excluded == DB_NOT_EXCLUDED;
        if (!db_shot_ways_has(r, c)) continue;
        const int own = db_shot_ways_best(r, c),
                  both = db_indexings_product(&result->ways, r->list->group, own, then);
        result->probability[s] = r->probability[c * (size_t)r->ways + (size_t)own];
        if (result->end == DB_INDEXING_ALIKE) continue;
        if (result->probability[s] < DB_INDEXING_CERTAIN) {
            if (!in_use || !is_open(r, &result->ways, c, then)) continue;
            scaling->shot[s].excluded = DB_EXCLUDED_UNDECIDED;
            result->undecided++;
        } else if ((result->way[s] = both >= 0 ? both : own) != 0) {
            turn_shot(r->list, &result->ways.way[result->way[s]], s, observations);
            result->changed += (size_t)in_use;
        }
    }
}

/* The measurements of each crystal as those of one shot, brought to one scale. */
static db_status join_shots(db_context *context, const db_indexing_options *options,
                            const db_observations *of, const db_scaling *scaling,
                            db_observations *joined, db_scaling *as_one) {
    DB_TRY(db_observations_make(context, options->crystals, of->first[of->shots], joined));
    db_status status = db_scaling_make(context, options->crystals, as_one);
    size_t at = 0;
    for (size_t c = 0; c < options->crystals && status == DB_OK; c++) {
        for (size_t s = 0; s < of->shots; s++) {
            if (options->crystal[s] != c || scaling->shot[s].excluded != DB_NOT_EXCLUDED) continue;
            for (size_t i = of->first[s]; i < of->first[s + 1]; i++, at++) {
                joined->list[at] = of->list[i];
                joined->list[at].intensity /= (float)scaling->shot[s].scale;
                joined->list[at].sigma /= (float)scaling->shot[s].scale;
            }
        }
        joined->first[c + 1] = at;
        as_one->shot[c].scale = 1;
        if (at == joined->first[c]) as_one->shot[c].excluded = DB_EXCLUDED_BEFORE;
    }
    if (status != DB_OK) db_observations_clear(joined);
    return status;
}

/* Searches the ways of all crystals, or holds that of a single one, which nothing else defines. Returns their number. */
static size_t find_ways(db_context *context, db_shot_ways *r, double *gain, db_status *status) {
    size_t last = 0, all = 0;
    for (size_t c = 0; c < r->observations->shots; c++)
        if (db_shot_ways_has(r, c)) {
            last = c;
            all++;
        }
    if (all == 1)
        r->probability[last * (size_t)r->ways] = 1;
    else
        *status = db_indexing_search(context, r, gain);
    return all;
}

static db_status resolve_ways(db_context *context, const db_asu_list *list,
                              const db_indexing_options *options, const double *reference,
                              const db_shells *shells, const double *mean,
                              db_observations *observations, db_scaling *scaling,
                              db_indexing_result *result) {
    db_observations joined = *observations; /* of crystals */
    db_scaling as_one = *scaling;
    if (options->crystal)
        DB_TRY(join_shots(context, options, observations, scaling, &joined, &as_one));
    db_shot_ways r = { .list = list,
                       .observations = &joined,
                       .scaling = &as_one,
                       .ways = result->ways.count,
                       .most = DB_MOST_OF_SHOT,
                       .misfit = DB_USUAL_MISFIT,
                       .likelihood = db_shot_ways_likelihood };
    size_t found = 0;
    if (options->crystal) r.most *= observations->shots / options->crystals;
    db_status status = db_shot_ways_make(context, &r);
    if (status == DB_OK) {
        db_shot_ways_take(&result->ways, shells, mean, &r);
        for (int w = 0; w < r.ways; w++) r.prior[w] = -log(r.ways);
        found = find_ways(context, &r, &result->gain, &status);
    }
    if (status == DB_OK && (found != 1 || reference)) {
        db_shot_ways_add_all(&r);
        const int then = common_way(&r, &result->ways, list->group, reference, shells);
        decide_ways(&r, options, then, observations, scaling, result);
    }
    db_shot_ways_clear(&r);
    if (!options->crystal) return status;
    db_observations_clear(&joined);
    db_scaling_clear(&as_one);
    return status;
}

db_status db_indexing_result_make(db_context *context, const db_asu_list *list, size_t shots,
                                  db_indexing_result *result) {
    memset(result, 0, sizeof *result);
    db_indexings_find(list->cell, list->group, DB_INDEXING_STRAIN, &result->ways);
    result->shots = shots;
    result->way = calloc(shots + 1, sizeof *result->way);
    result->probability = malloc((shots + 1) * sizeof *result->probability);
    if (!result->way || !result->probability) {
        db_indexing_result_clear(result);
        return db_fail_memory(context, "the indexing of the shots");
    }
    for (size_t s = 0; s < shots; s++) result->probability[s] = NAN;
    return DB_OK;
}

db_status db_indexing_resolve(db_context *context, const db_asu_list *list,
                              const db_indexing_options *options, const double *reference,
                              db_observations *observations, db_scaling *scaling,
                              db_indexing_result *result, db_crystal_kinds *kinds) {
    double mean[DB_MOST_SHELLS];
    const db_shells shells = db_scaling_shells(list);
    DB_TRY(db_indexing_result_make(context, list, observations->shots, result));
    db_status status = db_scale_by_means(context, list, observations, &shells, mean, scaling);
    if (status == DB_OK && result->ways.count > 1)
        status = resolve_ways(context, list, options, reference, &shells, mean, observations,
                              scaling, result);
    if (status == DB_OK && kinds)
        status = db_find_other_crystals(context, list, reference, observations, scaling, kinds);
    if (status != DB_OK) db_indexing_result_clear(result);
    return status;
}

void db_indexing_result_clear(db_indexing_result *result) {
    free(result->way);
    free(result->probability);
    memset(result, 0, sizeof *result);
}
