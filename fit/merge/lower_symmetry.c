/* Compares a space group with its subgroups by the intensities of shots. */
#include "fit/merge/indexing.h"

#include "base/context_internal.h"
#include "fit/config/certain.h"
#include "fit/merge/scaling.h"
#include "fit/merge/shot_ways.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rotations of a group, as bits. */
typedef uint64_t rotation_set;
enum { MOST_ROTATIONS = 48, MOST_SUBGROUPS = 64, ROUNDS = 8 };
static const double SETTLED = 1.1; /* misfit of errors that fit */

/* Number of the rotation that another one follows, in a group. */
static int product_of_rotations(const db_symmetry *symmetry, int a, int b) {
    int both[9];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            both[3 * i + k] = 0;
            for (int j = 0; j < 3; j++)
                both[3 * i + k] +=
                    symmetry->rotation[a][3 * i + j] * symmetry->rotation[b][3 * j + k];
        }
    for (int o = 0; o < symmetry->count; o++)
        if (memcmp(both, symmetry->rotation[o], sizeof both) == 0) return o;
    return 0;
}

/* The subgroup that two rotations generate. */
static rotation_set generate_subgroup(const db_symmetry *symmetry, int a, int b) {
    rotation_set set = (rotation_set)1 << a | (rotation_set)1 << b, before = 0;
    while (set != before) {
        before = set;
        for (int i = 0; i < symmetry->count; i++)
            for (int k = 0; k < symmetry->count; k++)
                if (before >> i & before >> k & 1)
                    set |= (rotation_set)1 << product_of_rotations(symmetry, i, k);
    }
    return set;
}

/* Subgroups that are in no other one but the group. Two rotations generate each subgroup of a crystal's rotations. */
static int largest_subgroups(const db_symmetry *symmetry, rotation_set list[MOST_SUBGROUPS]) {
    const rotation_set all = ((rotation_set)1 << (symmetry->count & 63)) - 1;
    int count = 0;
    if (symmetry->count > MOST_ROTATIONS) return 0;
    for (int a = 0; a < symmetry->count; a++)
        for (int b = 0; b <= a; b++) {
            const rotation_set set = generate_subgroup(symmetry, a, b);
            int kept = 0, is_new = set != all;
            for (int i = 0; i < count; i++) is_new &= (set | list[i]) != list[i];
            for (int i = 0; i < count; i++)
                if (!is_new || (set | list[i]) != set) list[kept++] = list[i];
            count = kept;
            if (is_new && count < MOST_SUBGROUPS) list[count++] = set;
        }
    return count;
}

static void keep_rotations(const db_space_group *group, rotation_set set, db_space_group *kept) {
    *kept = *group;
    kept->symmetry.count = 0;
    for (int o = 0; o < group->symmetry.count; o++) {
        if (!(set >> o & 1)) continue;
        const int to = kept->symmetry.count++;
        memcpy(kept->symmetry.rotation[to], group->symmetry.rotation[o],
               sizeof group->symmetry.rotation[o]);
        memcpy(kept->shift[to], group->shift[o], sizeof group->shift[o]);
    }
}

/* Ways of indexing by rotations that the group has and its subgroup lacks. */
static void ways_of_group(const db_asu_list *list, const db_space_group *subgroup,
                          db_indexings *ways) {
    db_indexings all;
    db_indexings_find(list->cell, subgroup, DB_INDEXING_STRAIN, &all);
    ways->count = 0;
    for (int w = 0; w < all.count; w++) {
        db_indexings beside = { .count = 2, .way = { all.way[0], all.way[w] } };
        if (w == 0 || db_indexings_product(&beside, list->group, 1, 0) == 0)
            ways->way[ways->count++] = all.way[w];
    }
}

/* Is a gain of log probability surely no chance, beside a factor e for each shot, and are most shots decided? */
static int tells(const db_shot_ways *r, double gain) {
    size_t all;
    const size_t decided = db_indexing_decided(r, &all);
    return gain > DB_CERTAIN + (double)all && 2 * decided > all;
}

/* What other shots say of measurements. */
typedef struct shot_agreement {
    double
        misfit; /* mean square of distances from what others say, over its expectation; at least 1 */
    double gain; /* log probability, minus that of intensities which the shots do not share */
} shot_agreement;

static shot_agreement agreement_of_shots(db_shot_ways *r) {
    double sum = 1, count = 1, gain = 0;
    db_shot_ways_add_all(r);
    for (size_t s = 0; s < r->observations->shots; s++) {
        const size_t n = (size_t)r->ways,
                     w = db_shot_ways_has(r, s) ? (size_t)db_shot_ways_best(r, s) : 0;
        db_shot_ways_add(r, s, -1);
        gain += db_shot_ways_likelihood(r, s, w);
        for (size_t i = r->first[s]; i < r->first[s + 1]; i++) {
            const uint32_t number = r->number[i * n + w];
            if (number == DB_NO_REFLECTION) continue;
            const double value = (double)r->measured[i].value,
                         variance = 1 / (double)r->measured[i].weight;
            gain += 0.5 * value * value / (variance + 1);
            if (!(r->weight[number] > 1)) continue;
            const double known = 1 / (r->weight[number] + 1), off = value - known * r->sum[number];
            sum += off * off / (variance + known);
            count++;
        }
        db_shot_ways_add(r, s, 1);
    }
    return (shot_agreement){ fmax(1, sum / count), gain };
}

/* Compares a group with a subgroup: if the crystal has the subgroup alone, shots were indexed in several ways, and agree in it
 * once they are indexed in one. Wrong partialities make measurements scatter more than their errors, which means of many
 * shots forgive least; so errors are first widened to the scatter that is left in the subgroup. */
static db_status compare_subgroup(db_context *context, const db_asu_list *list, rotation_set set,
                                  const db_shells *shells, const double *mean,
                                  const db_observations *observations, const db_scaling *scaling,
                                  db_lower_symmetry *lower) {
    const size_t count = observations->first[observations->shots];
    db_space_group group;
    db_indexings ways;
    db_asu_list low;
    double gain = 0;
    keep_rotations(list->group, set, &group);
    ways_of_group(list, &group, &ways);
    if (ways.count < 2) return DB_OK; /* it lacks only inversions */
    DB_TRY(db_asu_list_make_in(context, list->cell, &group, list->d_min, list->anomalous, &low));
    db_observations renumbered = { observations->shots, observations->first,
                                   malloc((count + 1) * sizeof *renumbered.list) };
    db_shot_ways r = { .list = &low,
                       .observations = &renumbered,
                       .scaling = scaling,
                       .ways = ways.count,
                       .hands = 1,
                       .misfit = DB_USUAL_MISFIT,
                       .likelihood = db_shot_ways_likelihood };
    db_status status =
        renumbered.list ? DB_OK : db_fail_memory(context, "the indexing of the shots");
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        db_observation *const o = &renumbered.list[i];
        *o = observations->list[i];
        const int hkl[3] = { o->hkl[0], o->hkl[1], o->hkl[2] };
        if (o->reflection != DB_NO_REFLECTION) o->reflection = db_asu_number(&low, hkl);
    }
    if (status == DB_OK) status = db_shot_ways_make(context, &r);
    if (status == DB_OK) {
        db_shot_ways_take(&ways, shells, mean, &r);
        for (int w = 0; w < r.ways; w++) r.prior[w] = -log(r.ways);
        status = db_indexing_search(context, &r, &gain);
    }
    for (int k = 0; k < ROUNDS && status == DB_OK && tells(&r, gain); k++) {
        const size_t measured = r.first[observations->shots];
        const shot_agreement agreement = agreement_of_shots(&r);
        if (!tells(&r, agreement.gain)) break;
        if (agreement.misfit < SETTLED) {
            if (gain > lower->gain)
                *lower = (db_lower_symmetry){ gain, group.symmetry.count, ways.way[1] };
            break;
        }
        for (size_t i = 0; i < measured; i++) r.measured[i].weight /= (float)agreement.misfit;
        status = db_indexing_search(context, &r, &gain);
    }
    db_shot_ways_clear(&r);
    free(renumbered.list);
    db_asu_list_clear(&low);
    return status;
}

/* Scales of shots by their means; those that are not in use stay so. */
static db_status scale_again(db_context *context, const db_asu_list *list,
                             const db_observations *observations, const db_shells *shells,
                             const db_scaling *known, double *mean, db_scaling *scaling) {
    DB_TRY(db_scaling_make(context, known->shots, scaling));
    for (size_t s = 0; s < known->shots; s++) scaling->shot[s].excluded = known->shot[s].excluded;
    return db_scale_by_means(context, list, observations, shells, mean, scaling);
}

db_status db_lower_symmetry_find(db_context *context, const db_asu_list *list,
                                 const db_observations *observations, const db_scaling *known,
                                 db_lower_symmetry *lower) {
    rotation_set set[MOST_SUBGROUPS];
    double mean[DB_MOST_SHELLS];
    const db_shells shells = db_scaling_shells(list);
    const int count = largest_subgroups(&list->group->symmetry, set);
    db_scaling scaling = { 0 };
    *lower = (db_lower_symmetry){ 0 };
    if (!count) return DB_OK;
    db_status status = scale_again(context, list, observations, &shells, known, mean, &scaling);
    for (int i = 0; i < count && status == DB_OK; i++)
        status =
            compare_subgroup(context, list, set[i], &shells, mean, observations, &scaling, lower);
    db_scaling_clear(&scaling);
    return status;
}

/* A measurement of a crystal, and its reflections in the group and in a subgroup. Its value is the logarithm of a relative
 * intensity, but 0 for none, so that relative errors are equal; relative to the mean and the spread of all values. */
typedef struct mate {
    uint32_t reflection[2];
    double value, variance; /* variance: by the noise of pixels alone */
} mate;

typedef struct mates {
    mate *list;
    size_t *first;        /* [crystals + 1] in the list */
    double *sum, *weight; /* [reflections] of a crystal */
    size_t crystals;
} mates;

static db_status make_mates(db_context *context, size_t crystals, size_t count, size_t reflections,
                            mates *m) {
    m->crystals = crystals;
    m->list = malloc((count + 1) * sizeof *m->list);
    m->first = calloc(crystals + 1, sizeof *m->first);
    m->sum = malloc((2 * reflections + 1) * sizeof *m->sum);
    m->weight = m->sum ? m->sum + reflections : NULL;
    return db_need_memory(context, m->list && m->first && m->sum, "symmetry mates");
}

static void clear_mates(mates *m) {
    free(m->list);
    free(m->first);
    free(m->sum);
}

static mate mate_of(uint32_t in_group, uint32_t in_subgroup, db_relative_intensity measured) {
    const double steep =
                     5, /* of an intensity of 0: smaller ones than its inverse are almost alike */
        place = steep * ((double)measured.value + 1);
    return (mate){ .reflection = { in_group, in_subgroup },
                   .value = asinh(place),
                   .variance = steep * steep / ((double)measured.weight * (1 + place * place)) };
}

static void normalize_mates(mates *m) {
    const size_t count = m->first[m->crystals];
    double sum = 0, square = 0, weight = 0;
    for (size_t i = 0; i < count; i++) {
        const double share = 1 / (1 + m->list[i].variance), value = m->list[i].value;
        sum += share * value;
        square += share * value * value;
        weight += share;
    }
    const double mean = sum / fmax(weight, DBL_MIN),
                 spread = fmax(square / fmax(weight, DBL_MIN) - mean * mean, DBL_EPSILON);
    for (size_t i = 0; i < count; i++) {
        m->list[i].value = (m->list[i].value - mean) / sqrt(spread);
        m->list[i].variance /= spread;
    }
}

/* Takes measurements whose mean intensity at their resolution is known, crystal after crystal. */
static void take_mates(const db_asu_list *list, const db_asu_list *low,
                       const db_indexing_options *options, const db_observations *o,
                       const double *intensity, mates *m) {
    const db_shells shells = db_scaling_shells(list);
    double mean[DB_MOST_SHELLS];
    size_t at = 0;
    db_shell_means(list, &shells, intensity, mean);
    for (size_t c = 0; c < m->crystals; c++) {
        for (size_t s = 0; s < o->shots; s++)
            for (size_t i = o->first[s]; i < o->first[s + 1] && options->crystal[s] == c; i++) {
                const db_observation *const one = &o->list[i];
                const uint32_t r = one->reflection;
                if (r == DB_NO_REFLECTION) continue;
                const double usual = mean[db_shell_of(&shells, (double)list->d[r])];
                const int hkl[3] = { one->hkl[0], one->hkl[1], one->hkl[2] };
                const uint32_t in_low = db_asu_number(low, hkl);
                if (!(usual > 0) || in_low == DB_NO_REFLECTION) continue;
                m->list[at++] = mate_of(r, in_low, db_relative_of(list, one, usual, 0));
            }
        m->first[c + 1] = at;
    }
    normalize_mates(m);
}

/* Log probability of all measurements if those of a reflection of each crystal share an intensity, whose value
 * has the variance 1. which: reflections of the group, or of the subgroup. */
static double probability_of_mates(const mates *m, int which, size_t reflections, double misfit) {
    double total = 0;
    for (size_t c = 0; c < m->crystals; c++) {
        memset(m->sum, 0, reflections * sizeof *m->sum);
        memset(m->weight, 0, reflections * sizeof *m->weight);
        for (size_t i = m->first[c]; i < m->first[c + 1]; i++) {
            const uint32_t r = m->list[i].reflection[which];
            const double value = m->list[i].value, variance = m->list[i].variance + misfit;
            m->sum[r] += value / variance;
            m->weight[r] += 1 / variance;
            total -= 0.5 * (value * value / variance + log(variance));
        }
        for (size_t r = 0; r < reflections; r++)
            total += 0.5 * (m->sum[r] * m->sum[r] / (1 + m->weight[r]) - log(1 + m->weight[r]));
    }
    return total;
}

/* That with the likeliest misfit. */
static double likeliest_of_mates(const mates *m, int which, size_t reflections) {
    double highest = -INFINITY;
    for (double factor = 1.0 / 64; factor <= 64; factor *= 2)
        highest =
            fmax(highest, probability_of_mates(m, which, reflections, factor * DB_USUAL_MISFIT));
    return highest;
}

static db_status compare_mates(db_context *context, const db_asu_list *list,
                               const db_indexing_options *options, rotation_set set,
                               const db_observations *observations, const double *intensity,
                               db_lower_symmetry *lower) {
    db_space_group group;
    db_indexings ways;
    db_asu_list low;
    mates m = { .list = NULL };
    keep_rotations(list->group, set, &group);
    ways_of_group(list, &group, &ways);
    if (ways.count < 2) return DB_OK; /* it lacks only inversions */
    DB_TRY(db_asu_list_make_in(context, list->cell, &group, list->d_min, list->anomalous, &low));
    const size_t most = low.count > list->count ? low.count : list->count;
    const db_status status =
        make_mates(context, options->crystals, observations->first[observations->shots], most, &m);
    if (status == DB_OK) {
        take_mates(list, &low, options, observations, intensity, &m);
        const double gain =
            likeliest_of_mates(&m, 1, low.count) - likeliest_of_mates(&m, 0, list->count);
        if (gain > DB_CERTAIN && gain > lower->gain)
            *lower = (db_lower_symmetry){ gain, group.symmetry.count, ways.way[1] };
    }
    clear_mates(&m);
    db_asu_list_clear(&low);
    return status;
}

db_status db_lower_symmetry_of_mates(db_context *context, const db_asu_list *list,
                                     const db_indexing_options *options,
                                     const db_observations *observations, const double *intensity,
                                     db_lower_symmetry *lower) {
    rotation_set set[MOST_SUBGROUPS];
    const int count = largest_subgroups(&list->group->symmetry, set);
    *lower = (db_lower_symmetry){ 0 };
    for (int i = 0; i < count; i++)
        DB_TRY(compare_mates(context, list, options, set[i], observations, intensity, lower));
    return DB_OK;
}

db_status db_lower_symmetry_refuse(db_context *context, const db_asu_list *list, const char *what,
                                   const db_lower_symmetry *lower) {
    char text[DB_INDEXING_TEXT];
    if (!(lower->gain > 0)) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "model.symmetry: %s has %d rotations, but the intensities of the %s agree "
                   "better with %d of them, without %s (ln of the probability is higher by %.1f): "
                   "expected a space group without this rotation; or intensities.reindex: no",
                   list->group->name, list->group->symmetry.count, what, lower->rotations,
                   db_indexing_text(&lower->lost, text), lower->gain);
}
