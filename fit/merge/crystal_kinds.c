/* Grows kinds of crystals, one after the other, from shots whose intensities correlate. */
#include "fit/merge/crystal_kinds.h"

#include "base/context_internal.h"
#include "fit/merge/likeness.h"
#include "fit/merge/scaling.h"
#include "fit/merge/shot_ways.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 3, STARTS = 4 };   /* fewest shots of a kind; shots from which a kind is grown */
static const double CERTAIN = 2.5; /* standard deviations */
static const double CLEAR = 1.1;   /* ratio of shots to any other kind that is a clear majority */
static const double RIGHT = 0.3;   /* least correlation of a usable reference */
static const double WIDER = 2;     /* ratio of one tried misfit to the one before */
static const double WIDEST =
    1.5; /* most misfit that is tried: errors as large as intensities are */

typedef struct kinds_work {
    db_context *context;
    const db_asu_list *list;
    const db_observations *observations;
    const db_shells *shells;
    const double *mean;
    db_scaling *scaling;
    db_exclusion *was; /* [shots] exclusions before */
    int *kind;         /* [shots] -1: no kind yet */
    int *likeliest;    /* [shots] kinds by the likeliest misfit */
    double *best;      /* [shots] probability of the kind that grows */
    size_t *order;     /* [shots] */
    int count;         /* number of kinds */
    double misfit;     /* of shot ways */
    double one,
        many; /* log likelihood of all measurements: with the first kind alone, with these kinds */
} kinds_work;

/* The last way: the shot has nothing in common with any kind, and intensities are spread around the mean at their
 * resolution. */
static double likelihood_of_kind(const db_shot_ways *r, size_t s, size_t w) {
    const size_t n = (size_t)r->ways;
    double sum = 0;
    if (w + 1 < n) return db_shot_ways_likelihood(r, s, w);
    for (size_t i = r->first[s]; i < r->first[s + 1]; i++) {
        const double off = (double)r->measured[i].value;
        if (r->number[n * i] == DB_NO_REFLECTION) continue;
        sum -= 0.5 * off * off / (1 / (double)r->measured[i].weight + 1);
    }
    return sum;
}

/* Takes measurements of all shots in use: a way for each kind, with its own sums, and one for none. */
static db_status take_measurements(const kinds_work *w, int kinds, db_shot_ways *r) {
    const size_t n = (size_t)kinds + 1;
    *r = (db_shot_ways){ .list = w->list,
                         .observations = w->observations,
                         .scaling = w->scaling,
                         .ways = kinds + 1,
                         .sums = (size_t)kinds * w->list->count,
                         .misfit = w->misfit,
                         .likelihood = likelihood_of_kind };
    for (int k = 0; k < r->ways; k++) r->prior[k] = -log((double)n);
    DB_TRY(db_shot_ways_make(w->context, r));
    db_shot_ways_take(NULL, w->shells, w->mean, r);
    for (size_t i = 0; i < r->first[w->observations->shots]; i++)
        for (size_t k = 1; k < n; k++) {
            uint32_t *const number = &r->number[i * n + k];
            if (*number == DB_NO_REFLECTION) continue;
            *number = k + 1 < n ? *number + (uint32_t)(k * w->list->count) : DB_NO_REFLECTION;
        }
    return DB_OK;
}

/* Lists shots in use without a kind, from shot `start` on. Returns their number. */
static size_t order_from(const kinds_work *w, int start) {
    size_t count = 0;
    for (size_t s = 0; s < w->observations->shots; s++)
        if (w->scaling->shot[s].excluded == DB_NOT_EXCLUDED) w->order[count++] = s;
    db_shot_ways_shuffle(1 + (uint64_t)start, count, w->order);
    for (size_t s = 0, at = count; s < w->observations->shots; s++)
        if (w->scaling->shot[s].excluded != DB_NOT_EXCLUDED) w->order[at++] = s;
    return count;
}

/* What the likelihoods of all ways lack: measurements have less density if their errors are larger. */
static double density_of_errors(const db_shot_ways *r) {
    double sum = 0;
    for (size_t i = 0; i < r->first[r->observations->shots]; i++)
        if (r->number[(size_t)r->ways * i] != DB_NO_REFLECTION)
            sum -= 0.5 * log(1 / (double)r->measured[i].weight + 1);
    return sum;
}

/* Grows a kind from several shots, and keeps the most probable one: *members shots. Returns by *likelihood its log
 * probability. */
static db_status grow_kind(const kinds_work *w, size_t *members, double *likelihood) {
    const double most = 0.9; /* of the shots: no other start finds more */
    const size_t shots = w->observations->shots;
    double highest = -INFINITY;
    db_shot_ways r;
    *members = 0;
    db_status status = take_measurements(w, 1, &r);
    for (int start = 0; start < STARTS && status == DB_OK; start++) {
        size_t found = 0;
        const size_t count = order_from(w, start);
        if (count < FEWEST || (double)*members > most * (double)count) break;
        db_shot_ways_forget(&r);
        const double total = db_shot_ways_sweep(&r, w->order, w->order[0]);
        if (total <= highest) continue;
        highest = total;
        for (size_t s = 0; s < shots; s++) {
            w->best[s] = db_shot_ways_has(&r, s) ? r.probability[2 * s] : 0;
            found += w->best[s] > 0.5;
        }
        *members = found;
    }
    *likelihood = highest + (status == DB_OK ? density_of_errors(&r) : 0);
    db_shot_ways_clear(&r);
    return status;
}

/* Grows kinds, each from the shots that are left, until none is found. */
static db_status grow_all(kinds_work *w) {
    for (size_t s = 0; s < w->observations->shots; s++) w->kind[s] = -1;
    for (w->count = 0; w->count < DB_MOST_KINDS;) {
        size_t members;
        double likelihood;
        DB_TRY(grow_kind(w, &members, &likelihood));
        if (w->count == 0) w->one = likelihood;
        if (members < FEWEST) break;
        for (size_t s = 0; s < w->observations->shots; s++) {
            if (!(w->scaling->shot[s].excluded == DB_NOT_EXCLUDED && w->best[s] > 0.5)) continue;
            w->kind[s] = w->count;
            /* until the end of the search */
            w->scaling->shot[s].excluded = DB_EXCLUDED_OTHER_CRYSTAL;
        }
        w->count++;
    }
    for (size_t s = 0; s < w->observations->shots; s++) w->scaling->shot[s].excluded = w->was[s];
    return DB_OK;
}

static double compare_kinds(const db_shot_ways *r, int a, int b, double *error) {
    const size_t n = r->list->count;
    db_likeness c = { 0 };
    for (size_t h = 0; h < n; h++) {
        const double own = r->weight[(size_t)a * n + h], other = r->weight[(size_t)b * n + h];
        if (own > 0 && other > 0)
            db_likeness_add(&c, r->sum[(size_t)a * n + h] / own, 1 / own,
                            r->sum[(size_t)b * n + h] / other, 1 / other);
    }
    return db_likeness_value(&c, error);
}

/* Agreement of the shots of a kind, each with all others. */
static double agree_in_kind(const kinds_work *w, db_shot_ways *r, int kind, double *error) {
    db_likeness c = { 0 };
    for (size_t s = 0; s < w->observations->shots; s++) {
        if (w->kind[s] != kind) continue;
        db_shot_ways_add(r, s, -1);
        for (size_t i = r->first[s]; i < r->first[s + 1]; i++) {
            const uint32_t number = r->number[i * (size_t)r->ways + (size_t)kind];
            const double least = 1e-3; /* of rounding */
            if (number == DB_NO_REFLECTION || !(r->weight[number] > least)) continue;
            db_likeness_add(&c, (double)r->measured[i].value, 1 / (double)r->measured[i].weight,
                            r->sum[number] / r->weight[number], 1 / r->weight[number]);
        }
        db_shot_ways_add(r, s, 1);
    }
    return db_likeness_value(&c, error);
}

/* Sums of all kinds by their shots. */
static void sum_kinds(const kinds_work *w, db_shot_ways *r) {
    db_shot_ways_forget(r);
    for (size_t s = 0; s < w->observations->shots; s++) {
        if (w->kind[s] < 0) continue;
        r->probability[s * (size_t)r->ways + (size_t)w->kind[s]] = 1;
        db_shot_ways_add(r, s, 1);
    }
}

/* Removes a kind; its shots are of none. */
static void drop_kind(kinds_work *w, int kind) {
    w->count--;
    for (size_t s = 0; s < w->observations->shots; s++)
        w->kind[s] = w->kind[s] == kind ? -1 : w->kind[s] == w->count ? kind : w->kind[s];
}

/* Gives each shot again its most probable kind, with all others given. */
static void let_compete(kinds_work *w, db_shot_ways *r) {
    (void)order_from(w, 0);
    w->many = db_shot_ways_sweep(r, w->order, w->observations->shots) + density_of_errors(r);
    for (size_t s = 0; s < w->observations->shots; s++) {
        const double *const p = r->probability + s * (size_t)r->ways;
        int best = 0;
        if (!db_shot_ways_has(r, s)) continue;
        for (int k = 1; k < r->ways; k++)
            if (p[k] > p[best]) best = k;
        w->kind[s] = best < w->count ? best : -1;
    }
}

/* Drops a kind whose shots agree only by chance, or as noise does. Returns 1 if it dropped one. */
static int drop_one(kinds_work *w, db_shot_ways *r) {
    const double least = 0.5; /* least correlation of a kind's shots with each other */
    for (int k = 0; k < w->count; k++) {
        double error;
        size_t members = 0;
        for (size_t s = 0; s < w->observations->shots; s++) members += w->kind[s] == k;
        if (members >= FEWEST && agree_in_kind(w, r, k, &error) - CERTAIN * error > least) continue;
        drop_kind(w, k);
        return 1;
    }
    return 0;
}

/* Agreement of a kind with a reference, if it is certain, else 0. */
static double agreement_of_kind(const kinds_work *w, const db_shot_ways *r, int kind,
                                const double *reference, const double *usual) {
    double error;
    const double found = db_shot_ways_likeness(r, (size_t)kind * w->list->count, NULL, reference,
                                               w->shells, usual, &error);
    return found - CERTAIN * error > RIGHT ? found : 0;
}

/* Number of the kind to keep. */
static int choose_kind(const kinds_work *w, const db_shot_ways *r, const double *reference,
                       db_crystal_kinds *kinds) {
    size_t shots[DB_MOST_KINDS] = { 0 };
    double highest = 0, usual[DB_MOST_SHELLS];
    int best = 0;
    if (reference) db_shell_means(w->list, w->shells, reference, usual);
    for (size_t s = 0; s < w->observations->shots; s++)
        if (w->kind[s] >= 0) shots[w->kind[s]]++;
    for (int k = 1; k < w->count; k++)
        if (shots[k] > shots[best]) best = k;
    for (int k = 0; k < w->count && reference; k++) {
        const double found = agreement_of_kind(w, r, k, reference, usual);
        if (found <= highest) continue;
        highest = found;
        best = k;
        kinds->by_reference = 1;
    }
    kinds->clear = 1;
    for (int k = 0; k < w->count; k++)
        if (k != best && (double)shots[best] < CLEAR * (double)shots[k])
            kinds->clear = kinds->by_reference;
    return best;
}

/* Sets the result, and excludes shots. */
static void conclude_kinds(const kinds_work *w, const db_shot_ways *r, int best,
                           db_crystal_kinds *kinds) {
    int place[DB_MOST_KINDS], next = 1;
    for (int k = 0; k < w->count; k++) place[k] = k == best ? 0 : next++;
    kinds->count = w->count;
    for (int k = 0; k < w->count; k++) {
        double error;
        kinds->correlation[place[k]] = k == best ? 1 : compare_kinds(r, best, k, &error);
    }
    for (size_t s = w->observations->shots; s-- > 0;) {
        if (w->kind[s] < 0) continue;
        const int to = place[w->kind[s]];
        kinds->shots[to]++;
        kinds->first[to] = s;
        if (to) w->scaling->shot[s].excluded = DB_EXCLUDED_OTHER_CRYSTAL;
    }
}

/* Drops kinds that are none, and assigns shots again. */
static db_status tell_apart(kinds_work *w) {
    int again = 1;
    while (w->count > 1 && again) {
        db_shot_ways r;
        const db_status status = take_measurements(w, w->count, &r);
        if (status == DB_OK) {
            sum_kinds(w, &r);
            again = drop_one(w, &r);
            if (!again) {
                let_compete(w, &r);
                sum_kinds(w, &r);
                again = drop_one(w, &r);
            }
        }
        db_shot_ways_clear(&r);
        DB_TRY(status);
    }
    return DB_OK;
}

/* The likeliest kinds. Errors that are taken for too small split one crystal into many, since no shot agrees with another;
 * errors that are too large make one of two. */
static db_status find_likeliest(kinds_work *w) {
    double highest = -INFINITY, misfit = DB_USUAL_MISFIT;
    int count = 1;
    for (w->misfit = misfit; w->misfit < WIDEST; w->misfit *= WIDER) {
        DB_TRY(grow_all(w));
        DB_TRY(tell_apart(w));
        const double found = w->count > 1 ? w->many : w->one;
        if (!(found > highest)) break;
        highest = found;
        misfit = w->misfit;
        count = w->count;
        memcpy(w->likeliest, w->kind, w->observations->shots * sizeof *w->kind);
    }
    w->misfit = misfit;
    w->count = count;
    memcpy(w->kind, w->likeliest, w->observations->shots * sizeof *w->kind);
    return DB_OK;
}

static db_status find_kinds(kinds_work *w, const double *reference, db_crystal_kinds *kinds) {
    db_shot_ways r;
    for (size_t s = 0; s < w->observations->shots; s++) w->was[s] = w->scaling->shot[s].excluded;
    DB_TRY(find_likeliest(w));
    if (w->count < 2) return DB_OK;
    const db_status status = take_measurements(w, w->count, &r);
    if (status == DB_OK) {
        sum_kinds(w, &r);
        conclude_kinds(w, &r, choose_kind(w, &r, reference, kinds), kinds);
    }
    db_shot_ways_clear(&r);
    return status;
}

db_status db_find_other_crystals(db_context *context, const db_asu_list *list,
                                 const double *reference, const db_observations *observations,
                                 db_scaling *scaling, db_crystal_kinds *kinds) {
    const size_t n = observations->shots + 1;
    const db_shells shells = db_scaling_shells(list);
    double mean[DB_MOST_SHELLS];
    *kinds = (db_crystal_kinds){ .count = 1, .clear = 1 };
    DB_TRY(db_scale_by_means(context, list, observations, &shells, mean, scaling));
    kinds_work w = { .context = context,
                     .list = list,
                     .observations = observations,
                     .shells = &shells,
                     .mean = mean,
                     .scaling = scaling,
                     .was = calloc(n, sizeof *w.was),
                     .kind = calloc(n, sizeof *w.kind),
                     .likeliest = calloc(n, sizeof *w.likeliest),
                     .best = calloc(n, sizeof *w.best),
                     .order = calloc(n, sizeof *w.order) };
    const db_status status = w.was && w.kind && w.likeliest && w.best && w.order
                                 ? find_kinds(&w, reference, kinds)
                                 : db_fail_memory(context, "the crystals of the shots");
    free(w.was);
    free(w.kind);
    free(w.likeliest);
    free(w.best);
    free(w.order);
    return status;
}

void db_crystal_kinds_line(const db_crystal_kinds *kinds, char line[DB_KINDS_LINE]) {
    size_t at = 0;
    line[0] = '\0';
    if (kinds->count < 2) return;
    at += (size_t)snprintf(line, DB_KINDS_LINE,
                           "the shots show %d crystals with different intensities: ", kinds->count);
    for (int k = 0; k < kinds->count && at < DB_KINDS_LINE; k++)
        at += (size_t)snprintf(line + at, DB_KINDS_LINE - at, "%s%zu like shot %zu", k ? ", " : "",
                               kinds->shots[k], kinds->first[k] + 1);
    if (at >= DB_KINDS_LINE) return;
    (void)snprintf(line + at, DB_KINDS_LINE - at,
                   kinds->by_reference ? "; the first group agrees with the reference and is kept"
                   : kinds->clear
                       ? "; the first group is the largest and is kept"
                       : "; no group is clearly the largest: the first is kept; to decide, give a "
                         "reference (intensities.reference) or list the shots of one crystal");
}
