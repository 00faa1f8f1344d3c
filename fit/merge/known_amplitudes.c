#include "fit/merge/known_amplitudes.h"

#include "base/context_internal.h"

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
