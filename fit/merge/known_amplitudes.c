#include "fit/merge/known_amplitudes.h"

#include "base/context_internal.h"
#include "fit/config/crystal_system.h"

#include <dualbragg/expert/symmetry.h>

#include <math.h>
#include <stdlib.h>

static int coarser_first(const void *a, const void *b) {
    const double x = ((const db_ordered_intensity *)a)->d_spacing,
                 y = ((const db_ordered_intensity *)b)->d_spacing;
    return (x < y) - (x > y);
}

double db_intensity_order(db_ordered_intensity *list, size_t count) {
    enum { GROUP = 8 };
    double sum = 0, variance = 0;
    qsort(list, count, sizeof *list, coarser_first);
    for (size_t first = 0; first + GROUP <= count; first += GROUP) {
        for (size_t i = first; i < first + GROUP; i++)
            for (size_t k = first; k < i; k++) {
                const double order = (list[i].calculated - list[k].calculated) *
                                     (list[i].measured - list[k].measured);
                sum += (order > 0) - (order < 0);
            }
        variance += GROUP * (GROUP - 1) * (2 * GROUP + 5) / 18.0;
    }
    return variance > 0 ? sum / sqrt(variance) : (double)NAN;
}

double db_listed_square(const db_structure_factors *factors, const int hkl[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int from = hkl[i] - factors->min[i];
        if (from < 0 || from >= factors->extent[i]) return 0;
        at = at * (size_t)factors->extent[i] + (size_t)from;
    }
    return factors->amplitude ? factors->amplitude[at] * factors->amplitude[at] : 0;
}

db_status db_indexings_of_amplitudes(db_context *context, const db_fit_settings *settings,
                                     const double cell[6], db_indexings *indexings) {
    static const db_space_group none = { .number = 1, .centring_count = 1 };
    const char *const name = settings->amplitude_group;
    db_space_group *const group = malloc(sizeof *group);
    if (!group) return db_fail_memory(context, "the space group");
    const db_status status =
        *name ? db_space_group_of_cell(context, name, cell, group) : DB_ERROR_INPUT;
    if (status != DB_ERROR_MEMORY)
        db_indexings_find(cell, status == DB_OK ? group : &none, DB_INDEXING_STRAIN, indexings);
    free(group);
    return status == DB_ERROR_MEMORY ? status : DB_OK;
}

typedef struct kinds {
    size_t listed, reverse, obverse;
} kinds;

/* Of every step-th row of a list. */
static kinds count_kinds(const db_structure_factors *f, size_t step) {
    const size_t rows = (size_t)f->extent[0] * (size_t)f->extent[1];
    kinds count = { 0 };
    for (size_t row = 0; row < rows; row += step) {
        const double *const F = f->amplitude + row * (size_t)f->extent[2];
        int hkl[3] = { f->min[0] + (int)(row / (size_t)f->extent[1]),
                       f->min[1] + (int)(row % (size_t)f->extent[1]) };
        for (int i = 0; i < f->extent[2]; i++) {
            hkl[2] = f->min[2] + i;
            if (!(F[i] > 0) || F[i] == f->default_F) continue;
            count.listed++;
            count.obverse += !db_centring_forbids('R', hkl);
            count.reverse += !db_centring_forbids('r', hkl);
        }
    }
    return count;
}

static int is_reverse(const kinds *count) {
    return 10 * count->reverse > 9 * count->listed && 2 * count->obverse < count->listed;
}

db_status db_refuse_reverse_list(db_context *context, const char *name,
                                 const db_structure_factors *factors, const char *symmetry) {
    if (!factors->amplitude) return DB_OK;
    const size_t enough = 1000, rows = (size_t)factors->extent[0] * (size_t)factors->extent[1];
    kinds count = count_kinds(factors, rows / enough + 1); /* each shot of a list asks */
    if (count.listed && !is_reverse(&count)) return DB_OK;
    count = count_kinds(factors, 1);
    if (!is_reverse(&count)) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "%s: of %zu amplitudes %zu have reverse indices of R (h - k + l = 3n), %zu "
                   "obverse ones (-h + k + l = 3n), which the symmetry %s has here: expected "
                   "obverse indices; write -h,-k,l in place of h,k,l",
                   name, count.listed, count.reverse, count.obverse, symmetry);
}
