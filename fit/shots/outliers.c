/* Exclusion of shots that are far worse than the others, or that contradict shared quantities. */
#include "fit/shots/outliers.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/config/certain.h"
#include "fit/search/agreement.h"
#include "fit/shots/records.h"
#include "fit/shots/series.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Excludes outliers by logarithms: shots differ by factors, because brighter ones show more of the models' faults. So do
 * crystals of a series: a frame is compared with others of its crystal. list: room for a number of each shot. */
static void exclude_far_of(db_shots *all, const db_series_crystal *of, double *list) {
    enum { FEWEST = 8 }; /* fewest shots for a usual value */
    const double limit = all->options->outlier_sigma, least_width = 0.05;
    const size_t end = of->first + of->count;
    size_t count = 0;
    for (size_t i = of->first; i < end; i++)
        if (all->summary[i].used && all->summary[i].target > 0)
            list[count++] = log(all->summary[i].target);
    const double usual = db_median(list, count);
    for (size_t i = 0; i < count; i++) list[i] = fabs(list[i] - usual);
    const double width = fmax(least_width, 1.4826 * db_median(list, count));
    for (size_t i = of->first; i < end && count >= FEWEST && limit > 0; i++) {
        db_shot_summary *const summary = &all->summary[i];
        const double far = (log(summary->target) - usual) / width;
        if (!summary->used || !(summary->target > 0) || far <= limit) continue;
        summary->used = 0;
        snprintf(summary->reason, sizeof summary->reason,
                 "outlier: its target per degree of freedom, %.4g, is %.1f robust standard "
                 "deviations (of its logarithm) above the median, %.4g",
                 summary->target, far, exp(usual));
    }
}

static db_status exclude_far(db_shots *all) {
    double *const list = malloc((all->count + 1) * sizeof *list);
    if (!list) return db_fail_memory(all->context, "the shots' targets");
    for (size_t c = 0; c < all->frames.crystals; c++)
        exclude_far_of(all, &all->frames.crystal[c], list);
    free(list);
    return DB_OK;
}

/* Do the spots of a frame and of its neighbours confirm the model? Uses as many neighbours as needed for enough
 * spots. */
static int is_borne_out(const db_shots *all, size_t frame) {
    const double sure = DB_CERTAIN;
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
        if (!summary->used || summary->wrong != DB_FRAME_UNDECIDED || !is_borne_out(all, i))
            continue; /* one that was excluded before keeps its reason */
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

static void tell_contradiction(db_shots *all, const db_contradiction *c, const size_t *index,
                               const double *value) {
    db_shot_summary *const summary = &all->summary[c->shot];
    const db_fit_parameter *const p = &all->settings.parameters[index[c->quantity]];
    char name[DB_FIT_NAME_SIZE];
    const double at = value[c->quantity];
    db_fit_quantity_name(&all->settings.panel_groups, db_fit_quantity_of(p), name);
    snprintf(summary->reason, sizeof summary->reason,
             "contradicts the other shots: its spots fit %s %.6g +- %.2g %s, theirs %.6g +- %.2g; "
             "with its own values its log likelihood is higher by %.4g, expected at most %g",
             name, at + c->own, c->own_error, db_parameter_describe(p->parameter)->unit,
             at + c->others, c->others_error, c->margin, DB_CERTAIN);
}

/* sums: [count][size] equations of the shots; used: gets flags. */
static db_status find_contradicting(db_shots *all, const size_t *index, size_t shared,
                                    const double *value, const unsigned char *held,
                                    const double *sums, size_t *found) {
    unsigned char *const used = malloc(all->count + 1);
    double *const misfit = malloc((all->count + 1) * sizeof *misfit);
    db_status status = db_need_memory(all->context, used && misfit, "a comparison of shots");
    size_t most = 0;
    for (size_t i = 0; i < all->count && status == DB_OK; i++) {
        used[i] = all->summary[i].used != 0;
        misfit[i] = all->summary[i].target;
        most += used[i];
    }
    for (most = most ? (most - 1) / 2 : 0; *found < most && status == DB_OK;) {
        db_contradiction c;
        status =
            db_contradiction_find(all->context, all->count, shared, sums, used, misfit, held, &c);
        if (status != DB_OK || !(c.margin > DB_CERTAIN)) break;
        used[c.shot] = 0;
        all->summary[c.shot].used = 0;
        ++*found;
        tell_contradiction(all, &c, index, value);
    }
    free(used);
    free(misfit);
    return status;
}

db_status db_shots_exclude_contradicting(db_shots *all, const size_t *index, size_t shared,
                                         const double *value, const unsigned char *held,
                                         size_t *excluded) {
    const size_t row = db_contradiction_size(shared) * sizeof(double);
    double *const sums = calloc(all->count + 1, row);
    db_status status = db_need_memory(all->context, sums, "a comparison of shots");
    *excluded = 0;
    status = db_team_common_status(&all->team, all->context, status);
    for (size_t i = 0; i < all->count && status == DB_OK; i++)
        if (db_shots_own(all, i) && all->summary[i].used)
            memcpy(sums + i * db_contradiction_size(shared), all->state[i].best.sums, row);
    if (status == DB_OK) status = db_records_hear(all, sums, row);
    if (status == DB_OK) status = db_records_collect(all);
    if (status == DB_OK && all->team.rank == 0)
        status = find_contradicting(all, index, shared, value, held, sums, excluded);
    free(sums);
    DB_TRY(tell_excluded(all, status));
    return db_team_broadcast(&all->team, all->context, excluded, sizeof *excluded);
}

db_status db_shots_exclude_wrong(db_shots *all, int is_last, db_wrong_shots *wrong) {
    *wrong = (db_wrong_shots){ 0, 0 };
    if (all->team.rank == 0) exclude_wrong(all, is_last ? 0.05 : 0.5, wrong);
    DB_TRY(tell_excluded(all, DB_OK));
    return db_team_broadcast(&all->team, all->context, wrong, sizeof *wrong);
}
