/* Light of a series: does the model have the light that its frames show? Places and indices may be right even if
 * not (docs/theory/verdict.md, Light of a series). */
#include "fit/shots/series.h"
#include "fit/shots/series_state.h"

#include "base/context_internal.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/verdict/verdict_of_light.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const db_part_light *light_at(const db_series *s, size_t i) {
    const db_part_light *const parts = s->light[s->part[i].shot];
    return &parts[s->part[i].box];
}

/* Light of a box by the model (rival < 0) or with another mosaic spread, for an intensity of 1. */
static double light_of_rival(const db_part_light *part, int rival) {
    return rival < 0 ? part->shape : part->of_rival[rival];
}

/* Squared differences of a reflection's boxes from the model, less those from a rival of another mosaic spread, each with the
 * intensity that is best for the boxes together. A reflection in one box has any light. */
static void compare_spread(const db_series *s, size_t r, int rival, db_frame_light *frame) {
    double best[2] = { 0 }, square[2] = { 0 };
    for (int k = 0; k < 2; k++) {
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const db_part_light *const part = light_at(s, i);
            const double weight = part->pixels ? db_light_compare(part).weight : 0,
                         shape = light_of_rival(part, k ? rival : -1);
            best[k] += weight * shape * part->light;
            square[k] += weight * shape * shape;
        }
        best[k] = square[k] > 0 ? fmax(0, best[k] / square[k]) : 0;
    }
    for (size_t i = s->first[r]; i < s->first[r + 1] && square[1] > 0; i++) {
        const db_part_light *const part = light_at(s, i);
        const db_compared_light p = db_light_compare(part);
        const double model = best[0] * part->shape, other = best[1] * part->of_rival[rival],
                     apart = other - model;
        db_light_margin *const m = &frame[s->part[i].shot].spread[rival];
        if (part->pixels == 0) continue;
        m->excess += p.weight * apart * (2 * p.measured - model - other);
        m->variance += 4 * p.weight * p.weight * apart * apart * p.expected;
    }
}

static void add_reflection(const db_series *s, size_t r, db_frame_light *frame) {
    const size_t first = s->first[r], end = s->first[r + 1];
    double light = 0, boxes = 0;
    for (size_t i = first; i < end; i++) {
        if (light_at(s, i)->pixels == 0) continue;
        light += light_at(s, i)->light;
        boxes++;
    }
    const double share = 1 - 1 / boxes;
    for (int k = 0; k < DB_RIVAL_SPREADS && boxes > 1; k++) compare_spread(s, r, k, frame);
    for (size_t i = first; i < end; i++) {
        const size_t k = s->part[i].shot;
        const db_part_light *const part = light_at(s, i);
        const db_compared_light p = db_light_compare(part);
        db_frame_light_add(part, &frame[k]);
        if (part->pixels > 0 && share > 0)
            db_light_add_margin(&p, fmax(0, light / boxes), share, &frame[k].even);
    }
}

static int is_there(const db_series *s, size_t r) {
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++)
        if (!s->light[s->part[i].shot]) return 0;
    return 1;
}

static void compare_frames(const db_series *s, db_frame_light *frame) {
    for (size_t r = 0; r < s->count; r++)
        if (is_there(s, r)) add_reflection(s, r, frame);
}

db_status db_series_compare_light(db_shots *all) {
    const size_t bytes = all->count * sizeof(db_frame_light);
    db_frame_light *const frame = calloc(all->count + 1, sizeof *frame);
    db_status status = db_need_memory(all->context, frame, "the light of a series");
    status = db_team_common_status(&all->team, all->context, status);
    if (status == DB_OK)
        status = db_records_gather(all, all->series->light_bytes, all->series->light, 0);
    if (status == DB_OK && frame && all->team.rank == 0) compare_frames(all->series, frame);
    if (status == DB_OK) status = db_team_broadcast(&all->team, all->context, frame, bytes);
    for (size_t k = 0; k < all->count && frame && status == DB_OK; k++)
        if (all->team.rank == 0 || db_shots_own(all, k)) all->summary[k].light = frame[k];
    free(frame);
    return status;
}

/* Is a margin certain? In standard deviations of chance that none of thousands of frames reaches. */
static int is_sure(const db_light_margin *m) { return m->excess > 5 * sqrt(m->variance); }

double db_light_explained(const db_frame_light *light) {
    return light->all > 0 ? 1 - light->missed / light->all : (double)NAN;
}

int db_series_near(const db_shots *all, size_t frame, size_t n, size_t *near) {
    const size_t away = (n + 1) / 2;
    const int before = n % 2;
    const db_series_crystal *const own = &all->frames.crystal[db_shots_crystal(all, frame)];
    if (before ? frame < own->first + away : frame + away >= own->first + own->count) return 0;
    *near = before ? frame - away : frame + away;
    return all->summary[*near].used;
}

/* Does a frame lack most of its light, together with as many neighbours as needed for enough spots? Frames with
 * only ends of reflections decide little. Shots that are no series have no neighbours. */
static int is_dark(const db_shots *all, size_t frame) {
    db_light_margin sum = { 0, 0 };
    size_t spots = 0, near;
    const size_t most = all->options->series ? 2 * all->count : 1;
    for (size_t n = 0; n < most && spots < DB_FEWEST_LIT; n++) {
        if (!db_series_near(all, frame, n, &near)) continue;
        spots += all->summary[near].light.spots;
        sum.excess += all->summary[near].light.none.excess;
        sum.variance += all->summary[near].light.none.variance;
    }
    return all->summary[frame].light.none.excess > 0 && is_sure(&sum);
}

static void mark_dark(db_shot_summary *summary, const char *why) {
    summary->wrong = DB_SHOT_WRONG;
    snprintf(summary->reason, sizeof summary->reason,
             "the model explains %.0f %% of the light of its spots%s: mosaic spread, size of the "
             "blocks or orientation is wrong",
             100 * fmax(0, db_light_explained(&summary->light)), why);
}

/* Frames of a series whose light is likelier with another mosaic spread. */
static void judge_spread(db_shots *all, int rival) {
    static const char *const name[DB_RIVAL_SPREADS] = { "half", "twice" };
    db_light_margin sum = { 0, 0 };
    for (size_t k = 0; k < all->count; k++) {
        if (!all->summary[k].used) continue;
        sum.excess += all->summary[k].light.spread[rival].excess;
        sum.variance += all->summary[k].light.spread[rival].variance;
    }
    for (size_t k = 0; k < all->count && is_sure(&sum); k++) {
        db_shot_summary *const summary = &all->summary[k];
        if (!summary->used || summary->wrong || !(summary->light.spread[rival].excess > 0))
            continue;
        summary->wrong = DB_SHOT_WRONG;
        snprintf(summary->reason, sizeof summary->reason,
                 "the mosaic spread is wrong: with %s this spread, chi2 of the light of "
                 "reflections on all frames is lower by %.0f (standard deviation by chance %.0f); "
                 "refine mosaic_variance",
                 name[rival], sum.excess, sqrt(sum.variance));
    }
}

/* Spots of all shots in use; those as bright as in the model. */
static void count_spots(const db_shots *all, size_t count[2]) {
    count[0] = count[1] = 0;
    for (size_t k = 0; k < all->count; k++) {
        if (!all->summary[k].used) continue;
        count[0] += all->summary[k].light.spots;
        count[1] += all->summary[k].light.alike;
    }
}

db_status db_intensities_judge(const db_shots *all, db_fit_shots_result *result) {
    size_t count[2];
    count_spots(all, count);
    DB_TRY(db_team_broadcast(&all->team, all->context, count, sizeof count));
    result->light_spots = count[0];
    db_light_judge(count[0], count[1], &result->light_part, &result->intensities_usable);
    return DB_OK;
}

/* Are intensities of the frames in use known not to be usable? Few spots do not say so. */
static int lacks_intensities(const db_shots *all) {
    size_t count[2];
    double part;
    int usable;
    count_spots(all, count);
    db_light_judge(count[0], count[1], &part, &usable);
    return !usable;
}

void db_series_judge_light(db_shots *all) {
    db_light_margin sum = { 0, 0 };
    for (size_t k = 0; k < all->count; k++) {
        db_shot_summary *const summary = &all->summary[k];
        if (!summary->used) continue;
        sum.excess += summary->light.even.excess;
        sum.variance += summary->light.even.variance;
        if (!summary->wrong && is_dark(all, k)) mark_dark(summary, "; expected at least 50 %");
    }
    for (size_t k = 0; k < all->count && is_sure(&sum); k++) {
        db_shot_summary *const summary = &all->summary[k];
        if (summary->used && !summary->wrong && summary->light.even.excess > 0)
            mark_dark(summary,
                      ", hardly better than with equal light of a reflection on all its frames");
    }
    for (int rival = 0; rival < DB_RIVAL_SPREADS && lacks_intensities(all); rival++)
        judge_spread(all, rival);
}
