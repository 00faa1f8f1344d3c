/* One value for each reflection of a list: means of repeated and equivalent entries, no systematic
 * absences. */
#include "base/context_internal.h"
#include "io/reflections/reflection_list.h"

#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The entries of one reflection: a stretch of the sorted list. */
typedef struct stretch {
    const db_listed_reflection *first;
    size_t count;
} stretch;

typedef struct repeats {
    size_t reflections;        /* with more than one entry */
    int weighted;              /* 1: by sigmas, each of them */
    double deviations, values; /* sums of magnitudes */
} repeats;

static int compare_indices(const int a[3], const int b[3]) {
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Orders by indices, then by value and sigma, so that sums do not depend on the order in the file. */
static int by_index(const void *a, const void *b) {
    const db_listed_reflection *const x = a;
    const db_listed_reflection *const y = b;
    const int order = compare_indices(x->index, y->index);
    if (order) return order;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->sigma > y->sigma) - (x->sigma < y->sigma);
}

/* Replaces an index by the largest of its equivalents. */
static void represent(const db_symmetry *symmetry, int index[3]) {
    int best[3], turned[3];
    memcpy(best, index, sizeof best);
    for (int o = 0; o < symmetry->count; o++) {
        db_symmetry_turn(symmetry, o, index, turned);
        if (compare_indices(turned, best) > 0) memcpy(best, turned, sizeof best);
    }
    memcpy(index, best, sizeof best);
}

/* 1 if all have a sigma whose square neither overflows nor is 0. */
static int has_sigmas(const stretch *s) {
    for (size_t i = 0; i < s->count; i++)
        if (!(s->first[i].sigma > 1e-100 && s->first[i].sigma < 1e100)) return 0;
    return 1;
}

static db_listed_reflection mean_of(const stretch *s, int weighted) {
    db_listed_reflection mean = s->first[0];
    double weights = 0, sum = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double sigma = s->first[i].sigma, weight = weighted ? 1 / (sigma * sigma) : 1;
        weights += weight;
        sum += weight * s->first[i].value;
    }
    mean.value = sum / weights;
    mean.sigma = weighted ? 1 / sqrt(weights) : NAN;
    return mean;
}

static db_listed_reflection merge_stretch(const stretch *s, repeats *r) {
    if (s->count == 1) return s->first[0];
    const int weighted = has_sigmas(s);
    const db_listed_reflection mean = mean_of(s, weighted);
    r->weighted &= weighted;
    r->reflections++;
    for (size_t i = 0; i < s->count; i++) {
        r->deviations += fabs(s->first[i].value - mean.value);
        r->values += fabs(s->first[i].value);
    }
    return mean;
}

static void tell_repeats(db_context *context, const char *path, size_t entries, size_t count,
                         const repeats *r) {
    if (!r->reflections) return;
    db_notice(context,
              "%s: %zu entries of %zu reflections: the repeated and equivalent entries of %zu of "
              "them become their mean%s, from which they differ by %.3g %%",
              path, entries, count, r->reflections, r->weighted ? ", weighted by 1/sigma^2" : "",
              r->values > 0 ? 100 * r->deviations / r->values : 0.0);
}

/* Keeps the list's order of indices. */
static void drop_absences(db_context *context, const char *path, db_reflection_list *list) {
    size_t kept = 0, dropped = 0;
    const size_t count = list->count;
    for (size_t i = 0; i < count; i++) {
        if (!db_space_group_absent(&list->group, list->items[i].index))
            list->items[kept++] = list->items[i];
        else
            dropped += list->items[i].value != 0;
    }
    list->count = kept;
    if (dropped)
        db_notice(context,
                  "%s: %zu of %zu reflections are systematically absent in %s: they are left out",
                  path, dropped, count, *list->group.name ? list->group.name : "its space group");
}

db_status db_reflection_list_merge(db_context *context, const char *path,
                                   db_reflection_list *list) {
    repeats r = { .weighted = 1 };
    const size_t entries = list->count;
    for (size_t i = 0; i < entries; i++) represent(&list->group.symmetry, list->items[i].index);
    if (entries) qsort(list->items, entries, sizeof *list->items, by_index);
    list->count = 0;
    for (size_t i = 0; i < entries;) {
        stretch s = { &list->items[i], 1 };
        while (i + s.count < entries &&
               compare_indices(s.first[s.count].index, s.first->index) == 0)
            s.count++;
        i += s.count;
        list->items[list->count++] = merge_stretch(&s, &r);
    }
    tell_repeats(context, path, entries, list->count, &r);
    drop_absences(context, path, list);
    return list->count ? DB_OK
                       : db_fail(context, DB_ERROR_INPUT,
                                 "%s: all %zu reflections are systematically absent in %s", path,
                                 entries, list->group.name);
}
