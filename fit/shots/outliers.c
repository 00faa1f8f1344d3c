#include "fit/shots/outliers.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double middle(const double *sorted, size_t count) {
    return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

/* Logarithms: shots differ by factors, as the brighter ones show more of what models lack. */
db_status db_outlier_shots_set_aside(db_shots *all) {
    enum { FEWEST = 8 }; /* shots that know what is usual */
    const double limit = all->options->outlier_sigma, least_spread = 0.05;
    double *const list = malloc((all->count + 1) * sizeof *list);
    size_t count = 0;
    if (!list) return db_fail_memory(all->context, "the shots' targets");
    for (size_t i = 0; i < all->count; i++) {
        const db_shot_news *const news = &all->news[i];
        if (news->used && news->target > 0) list[count++] = log(news->target);
    }
    if (count < FEWEST || !(limit > 0)) {
        free(list);
        return DB_OK;
    }
    qsort(list, count, sizeof *list, ascending);
    const double usual = middle(list, count);
    for (size_t i = 0; i < count; i++) list[i] = fabs(list[i] - usual);
    qsort(list, count, sizeof *list, ascending);
    const double spread = fmax(least_spread, 1.4826 * middle(list, count));
    free(list);
    for (size_t i = 0; i < all->count; i++) {
        db_shot_news *const news = &all->news[i];
        if (!news->used || !(news->target > 0)) continue;
        const double far = (log(news->target) - usual) / spread;
        if (far <= limit) continue;
        news->used = 0;
        snprintf(news->reason, sizeof news->reason,
                 "outlier: its target of %.4g per degree of freedom is %.1f robust standard "
                 "deviations above the median %.4g of all shots",
                 news->target, far, exp(usual));
        const db_fit_shots_event event = { .kind = DB_SHOTS_ASIDE,
                                           .shot = all->source->name(all->source->user, i),
                                           .reason = news->reason };
        if (all->options->progress && all->team.rank == 0)
            all->options->progress(all->options->user, &event);
    }
    return DB_OK;
}
