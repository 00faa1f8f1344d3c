#include "fit/verdict/excited_spots.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>

typedef struct excited {
    double apart; /* from the Ewald sphere; see db_reflection */
    int seen;
} excited;

static int nearer_first(const void *a, const void *b) {
    const double x = ((const excited *)a)->apart, y = ((const excited *)b)->apart;
    return (x > y) - (x < y);
}

/* By how many standard deviations reflections with spots are nearer to the Ewald sphere than those
 * without (Mann & Whitney, Ann. Math. Stat. 18, 50, 1947). */
static double rank(excited *list, size_t count, size_t seen) {
    const double n = (double)seen, m = (double)(count - seen);
    double before = 0, pairs = 0;
    qsort(list, count, sizeof *list, nearer_first);
    for (size_t i = 0; i < count; i++) {
        if (list[i].seen)
            before++;
        else
            pairs += before;
    }
    return seen && seen < count ? (pairs - 0.5 * n * m) / sqrt(n * m * (n + m + 1) / 12)
                                : (double)NAN;
}

db_status db_excited_spots_rank(db_context *context, const db_judged_spots *judged,
                                db_excited_spots *found) {
    const db_spot_pattern *const p = &judged->predicted;
    const db_observed_spots *const spots = &judged->seen;
    const size_t count = p->prediction.count;
    excited *const list = malloc((count + 1) * sizeof *list);
    for (size_t i = 0; i < count && list; i++)
        list[i] = (excited){ p->prediction.reflection[i].apart, 0 };
    for (size_t i = 0; i < spots->count && list; i++) {
        double distance;
        const size_t n = db_spot_pattern_around(p, &spots->spot[i], &distance);
        if (n < count && distance < 0.5 * p->reach[n]) list[n].seen = 1;
    }
    if (!list) return db_fail_memory(context, "the ranking of reflections");
    *found = (db_excited_spots){ .predicted = count };
    for (size_t i = 0; i < count; i++) found->seen += (size_t)list[i].seen;
    found->sigma = rank(list, count, found->seen);
    free(list);
    return DB_OK;
}
