/* Richardson extrapolation of differences of images. */
#include "engine/difference_table.h"

#include <math.h>

typedef double table[DB_DIFFERENCE_LEVELS][DB_DIFFERENCE_LEVELS];

/* Fills t[level][order], order <= level. */
static void fill_table(db_difference_kind kind, const double difference[DB_DIFFERENCE_LEVELS],
                       table t) {
    const double factor = kind == DB_DIFFERENCE_CENTRAL ? DB_DIFFERENCE_RATIO * DB_DIFFERENCE_RATIO
                                                        : DB_DIFFERENCE_RATIO;
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++) {
        double power = 1;
        t[level][0] = difference[level];
        for (int order = 1; order <= level; order++) {
            power *= factor;
            t[level][order] =
                t[level][order - 1] + (t[level][order - 1] - t[level - 1][order - 1]) / (power - 1);
        }
    }
}

static double entry_error(table t, int level, int order) {
    const double value = t[level][order];
    return fmax(fabs(value - t[level][order - 1]), fabs(value - t[level - 1][order - 1]));
}

double db_difference_extrapolate(db_difference_kind kind,
                                 const double difference[DB_DIFFERENCE_LEVELS],
                                 db_table_entry entry, double *error) {
    table t;
    fill_table(kind, difference, t);
    *error = entry_error(t, entry.level, entry.order);
    return t[entry.level][entry.order];
}

db_table_entry db_difference_best_entry(db_difference_kind kind,
                                        double *const difference[DB_DIFFERENCE_LEVELS],
                                        const unsigned char *smooth_from, size_t pixels,
                                        int first) {
    table worst = { { 0 } };
    for (size_t i = 0; i < pixels; i++) {
        double own[DB_DIFFERENCE_LEVELS];
        table t;
        if (smooth_from[i] > first) continue;
        for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++)
            own[level] = difference[level][i];
        fill_table(kind, own, t);
        for (int level = first + 1; level < DB_DIFFERENCE_LEVELS; level++)
            for (int order = 1; order <= level - first; order++)
                worst[level][order] = fmax(worst[level][order], entry_error(t, level, order));
    }
    db_table_entry best = { first + 1, 1 };
    for (int level = first + 1; level < DB_DIFFERENCE_LEVELS; level++)
        for (int order = 1; order <= level - first; order++)
            if (worst[level][order] < worst[best.level][best.order])
                best = (db_table_entry){ level, order };
    return best;
}
