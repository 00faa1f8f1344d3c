/* Shells of resolution with about as many reflections each: equal volumes of reciprocal space. */
#ifndef DB_FIT_MERGE_SHELLS_H
#define DB_FIT_MERGE_SHELLS_H

#include <math.h>
#include <stddef.h>

enum { DB_MOST_SHELLS = 40 };

typedef struct db_shells {
    int count;
    double low, high; /* d_max and d_min (angstrom) */
} db_shells;

/* Number of shells with about so many reflections each: at least 1 and at most 20. */
static inline int db_shells_for(size_t reflections, size_t each) {
    const size_t count = reflections / each;
    return count < 1 ? 1 : count > 20 ? 20 : (int)count;
}

static inline double db_shells_cube(double d) { return 1 / (d * d * d); }

/* Shell from 0, the lowest resolution; a resolution outside belongs to the first or last shell. */
static inline int db_shell_of(const db_shells *shells, double d) {
    const double first = db_shells_cube(shells->low), last = db_shells_cube(shells->high);
    const double place = shells->count * (db_shells_cube(d) - first) / (last - first);
    return place > 0 ? place < shells->count ? (int)place : shells->count - 1 : 0;
}

/* Resolution (angstrom) at which a shell begins; it ends where the next one begins. */
static inline double db_shell_limit(const db_shells *shells, int shell) {
    const double first = db_shells_cube(shells->low), last = db_shells_cube(shells->high);
    return 1 / cbrt(first + (last - first) * shell / shells->count);
}

#endif
