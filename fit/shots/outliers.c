/* Exclusion of shots that are far worse than the others, or that contradict shared quantities. */
#include "fit/shots/outliers.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/search/agreement.h"
#include "fit/shots/records.h"
#include "fit/shots/series.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Excludes outliers by logarithms: shots differ by factors, because brighter ones show more of the models' faults. */
static db_status exclude_far(db_shots *all) {
    enum { FEWEST = 8 }; /* fewest shots for a usual value */
    const double limit = all->options->outlier_sigma, least_width = 0.05;
    double *const list = malloc((all->count + 1) * sizeof *list);
    size_t count = 0;
    if (!list) return db_fail_memory(all->context, "the shots' targets");
    for (size_t i = 0; i < all->count; i++)
        if (all->summary[i].used && all->summary[i].target > 0)
            list[count++] = log(all->summary[i].target);
    const double usual = db_median(list, count);
    for (size_t i = 0; i < count; i++) list[i] = fabs(list[i] - usual);
    const double width = fmax(least_width, 1.4826 * db_median(list, count));
    free(list);
    for (size_t i = 0; i < all->count && count >= FEWEST && limit > 0; i++) {
        db_shot_summary *const summary = &all->summary[i];
        const double far = (log(summary->target) - usual) / width;
        if (!summary->used || !(summary->target > 0) || far <= limit) continue;
        summary->used = 0;
        snprintf(summary->reason, sizeof summary->reason,
                 "outlier: its target of %.4g per degree of freedom is %.1f robust standard "
                 "deviations above the median %.4g of all shots",
                 summary->target, far, exp(usual));
    }
    return DB_OK;
}

/* Do the spots of a frame and of its neighbours confirm the model? Uses as many neighbours as needed for enough
 * spots. */
static int is_borne_out(const db_shots *all, size_t frame) {
    const double sure = -DB_AGREEMENT_SIGNIFICANT;
    double sum[3] = { 0 };
    size_t spots = 0, near;
    for (size_t n = 0; n < 2 * all->count && spots < DB_ENOUGH_JUDGED; n++) {
        if (!db_series_near(all, frame, n, &near)) continue;
        spots += all->summary[near].judged;
        for (int k = 0; k < 3; k++) sum[k] += all->summary[near].margin[k];
    }
    const double most = fmin(sure, DB_MARGIN_PER_SPOT * (double)spots);
    return sum[0] >= sure && sum[1] >= most && sum[2] >= most;
}

static void decide_frames(db_shots *all) {
    for (size_t i = 0; i < all->count; i++) {
        db_shot_summary *const summary = &all->summary[i];
        if (summary->wrong != DB_FRAME_UNDECIDED || !is_borne_out(all, i)) continue;
        summary->wrong = DB_SHOT_RIGHT;
        summary->reason[0] = '\0';
    }
}

static int is_wrong(const db_shot_summary *summary) { return summary->used && summary->wrong; }

/* Excludes wrong shots, unless they are more than a fraction of all: then none is excluded. */
static void exclude_wrong(db_shots *all, double most, db_wrong_shots *left) {
    db_wrong_shots found = { 0, 0 };
    decide_frames(all);
    db_series_judge_light(all);
    for (size_t i = 0; i < all->count; i++)
        if (is_wrong(&all->summary[i]) && found.count++ == 0) found.first = i;
    if ((double)found.count > most * (double)all->used) {
        *left = found;
        return;
    }
    for (size_t i = 0; i < all->count; i++)
        if (is_wrong(&all->summary[i])) all->summary[i].used = 0;
}

/* Tells all processes which of their shots rank 0 has excluded. */
static db_status tell_excluded(db_shots *all, db_status status) {
    DB_TRY(db_team_common_status(&all->team, all->context, status));
    DB_TRY(db_records_return(all));
    DB_TRY(db_records_count(all));
    db_shots_report_excluded(all);
    return DB_OK;
}

db_status db_shots_exclude_outliers(db_shots *all) {
    return tell_excluded(all, all->team.rank == 0 ? exclude_far(all) : DB_OK);
}

db_status db_shots_exclude_wrong(db_shots *all, int is_last, db_wrong_shots *wrong) {
    *wrong = (db_wrong_shots){ 0, 0 };
    if (all->team.rank == 0) exclude_wrong(all, is_last ? 0.05 : 0.5, wrong);
    DB_TRY(tell_excluded(all, DB_OK));
    return db_team_broadcast(&all->team, all->context, wrong, sizeof *wrong);
}
