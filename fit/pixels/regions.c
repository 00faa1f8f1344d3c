/* Regions of neighbouring places. */
#include "fit/pixels/regions.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const db_place *const x = a;
    const db_place *const y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static double extent(const db_place *list, size_t count, int axis) {
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, list[i].q[axis]);
        most = fmax(most, list[i].q[axis]);
    }
    return most - least;
}

void db_regions_cut(db_place *list, size_t count, int regions) {
    if (regions < 2) return;
    int longest = 0;
    for (int axis = 1; axis < 3; axis++)
        if (extent(list, count, axis) > extent(list, count, longest)) longest = axis;
    for (size_t i = 0; i < count; i++) list[i].key = list[i].q[longest];
    qsort(list, count, sizeof *list, ascending);
    db_regions_cut(list, count / 2, regions / 2);
    db_regions_cut(list + count / 2, count - count / 2, regions / 2);
}
