/* The width of frames: is the light of reflections on frames as if these met each other, though they are said to have gaps or to
 * overlap, or the other way round? (docs/theory/verdict.md, Turns of a series) */
#include "fit/shots/series.h"

#include "base/context_internal.h"
#include "fit/shots/series_state.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 2
}; /* frames that meet; a wider mosaic spread, which makes up for a part of that */
static const int rival_of[COLUMNS] = { DB_RIVAL_MEETING, DB_RIVAL_WIDER };

/* Equations of least squares: how far towards each rival is the light of boxes? */
typedef struct width_equations {
    double pull[COLUMNS], matrix[COLUMNS][COLUMNS];
} width_equations;

static int is_comparable(const db_part_light *part) {
    return part && part->pixels > 0 && part->of_rival[DB_RIVAL_MEETING] > 0;
}

static const db_part_light *compared_part(const db_series *s, size_t i) {
    const db_part_light *const parts = s->light[s->part[i].shot];
    return parts && is_comparable(&parts[s->part[i].box]) ? &parts[s->part[i].box] : NULL;
}

/* Light of a reflection's boxes by the model, and as its rivals change it, if the intensity is always the best one. */
static width_equations equations_of(const db_series *s, size_t r) {
    width_equations e = { .pull = { 0 } };
    double square = 0, light = 0, across[COLUMNS] = { 0 };
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const db_part_light *const part = compared_part(s, i);
        if (!part) continue;
        const double weight = db_light_compare(part).weight;
        square += weight * part->shape * part->shape;
        light += weight * part->shape * part->light;
        for (int k = 0; k < COLUMNS; k++)
            across[k] += weight * part->shape * part->of_rival[rival_of[k]];
    }
    const double intensity = square > 0 ? fmax(0, light / square) : 0;
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const db_part_light *const part = compared_part(s, i);
        double column[COLUMNS];
        if (!part || !(square > 0)) continue;
        const double weight = db_light_compare(part).weight;
        for (int k = 0; k < COLUMNS; k++)
            column[k] =
                intensity * (part->of_rival[rival_of[k]] - across[k] / square * part->shape);
        for (int k = 0; k < COLUMNS; k++) {
            e.pull[k] += weight * column[k] * (part->light - intensity * part->shape);
            for (int l = 0; l < COLUMNS; l++) e.matrix[k][l] += weight * column[k] * column[l];
        }
    }
    return e;
}

/* x of the matrix x = pull. Without a mosaic spread there is no wider one, and its equation is empty. */
static void solve_widths(const width_equations *e, const double pull[COLUMNS], double x[COLUMNS]) {
    if (e->matrix[1][1] == 0) {
        x[0] = pull[0] / e->matrix[0][0];
        x[1] = 0;
        return;
    }
    const double det = e->matrix[0][0] * e->matrix[1][1] - e->matrix[0][1] * e->matrix[1][0];
    x[0] = (e->matrix[1][1] * pull[0] - e->matrix[0][1] * pull[1]) / det;
    x[1] = (e->matrix[0][0] * pull[1] - e->matrix[1][0] * pull[0]) / det;
}

/* How far the light has gone from the model towards frames that meet (1), and its error by the scatter of reflections. */
typedef struct width_found {
    double way, error;
} width_found;

static width_found find_way(const db_series *s) {
    width_equations sum = { .pull = { 0 } };
    double x[COLUMNS], square = 0;
    for (size_t r = 0; r < s->count; r++) {
        const width_equations one = equations_of(s, r);
        for (int k = 0; k < COLUMNS; k++) {
            sum.pull[k] += one.pull[k];
            for (int l = 0; l < COLUMNS; l++) sum.matrix[k][l] += one.matrix[k][l];
        }
    }
    solve_widths(&sum, sum.pull, x);
    for (size_t r = 0; r < s->count; r++) {
        const width_equations one = equations_of(s, r);
        double rest[COLUMNS], change[COLUMNS];
        for (int k = 0; k < COLUMNS; k++)
            rest[k] = one.pull[k] - one.matrix[k][0] * x[0] - one.matrix[k][1] * x[1];
        solve_widths(&sum, rest, change);
        square += change[0] * change[0];
    }
    return (width_found){ x[0], sqrt(square) };
}

/* A wrong width has gone nearly half of the way or more, since quantities that were refined beside it make up for the rest; right
 * widths have gone no way (docs/results/verdict.md, Wrong angles of a series). */
static const double MOST_WAY = 0.25;

static const double SURE = 5; /* standard deviations, which chance does not reach */

static double step_of_used(const db_shots *all) {
    size_t k = 0;
    while (!all->summary[k].used) k++;
    return all->frames.step[k];
}

static void judge_width(db_shots *all) {
    const width_found found = find_way(all->series);
    if (*all->frames.turns || !(found.way - MOST_WAY > SURE * found.error)) return;
    snprintf(all->frames.turns, sizeof all->frames.turns,
             "the light of reflections fits frames that each turn by %.4g degree, the step of phi "
             "between frames, and not by osc (between osc, 0, and this step, 1, it lies at %.2f +- "
             "%.1g; expected at most %g): osc or the steps of phi are wrong",
             step_of_used(all), found.way, found.error, MOST_WAY);
}

/* A reflection that frames which meet have recorded as a whole. If they do, the sum of its light is the same wherever its passage
 * lies beside their ends, for passages of any shape; if not, a gap takes a part of it, or an overlap counts a part twice. */
typedef struct whole_light {
    double resolution;  /* d spacing (angstrom) */
    double light, dark; /* counts above the local background; variance without the light's own */
    double gain, shape; /* counts per photon; counts of the model for an intensity of 1 */
    double apart;       /* narrower frames would have 1 + apart times as many */
} whole_light;

/* 0: it is not whole; or so faint that it may be listed only because most of its light came to one frame. */
static int find_whole(const db_shots *all, size_t r, whole_light *to) {
    const double whole = 0.98, seen = 0.1; /* part of its light which shows by itself */
    const db_series *const s = all->series;
    const db_part_light *brightest = NULL;
    double recorded = 0, narrower = 0;
    *to = (whole_light){ .light = 0 };
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const db_part_light *const parts = s->light[s->part[i].shot];
        const db_part_light *const part = parts ? &parts[s->part[i].box] : NULL;
        if (!part || part->pixels == 0) continue;
        recorded += part->recorded;
        narrower += part->of_rival[DB_RIVAL_NARROWER];
        to->light += part->excess;
        to->dark += fmax(0, part->dark_variance);
        to->shape += part->shape;
        if (!brightest || part->shape > brightest->shape) brightest = part;
    }
    if (!(recorded > whole) || !(narrower > 0) || !(to->shape > 0)) return 0;
    to->resolution = brightest->resolution;
    to->gain = brightest->gain;
    to->apart = narrower / to->shape - 1;
    const double noise = sqrt(fmax(0, brightest->dark_variance) / brightest->pixels);
    return seen * to->light * brightest->third / brightest->shape >
           all->settings.strong_sigma * noise;
}

static int finest_last(const void *a, const void *b) {
    const whole_light *const x = a, *const y = b;
    return x->resolution < y->resolution ? 1 : x->resolution > y->resolution ? -1 : 0;
}

/* Sums for the way of the light to narrower frames, in units of these: pull, normal, and squared pulls after a step. */
typedef struct gap_sums {
    double pull, normal, square;
} gap_sums;

/* Adds reflections of similar resolution, which have a common mean intensity; each differs from it by about as much (A. J. C.
 * Wilson, Acta Cryst. 2, 318, 1949). */
static void add_shell(const whole_light *list, size_t count, double step, gap_sums *sums) {
    double light = 0, shape = 0, square = 0, across = 0, best = 0;
    for (size_t i = 0; i < count; i++) {
        light += list[i].light;
        shape += list[i].shape;
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            const whole_light *const p = &list[i];
            const double mean = light / shape * p->shape,
                         weight = 1 / (mean * mean + p->gain * mean + p->dark);
            if (pass == 0) {
                square += weight * p->shape * p->shape;
                across += weight * p->shape * p->shape * p->apart;
                best += weight * p->shape * p->light;
                continue;
            }
            const double model = best / square * p->shape,
                         column = model * (p->apart - across / square);
            const double pull = weight * column * (p->light - model - step * column);
            sums->pull += pull;
            sums->normal += weight * column * column;
            sums->square += pull * pull;
        }
}

static gap_sums sum_shells(const whole_light *list, size_t count, size_t shells, double step) {
    gap_sums sums = { 0, 0, 0 };
    for (size_t k = 0; k < shells; k++) {
        const size_t from = k * count / shells, to = (k + 1) * count / shells;
        add_shell(list + from, to - from, step, &sums);
    }
    return sums;
}

/* Frames that meet: how far has the light gone towards narrower ones (1)? Negative: to wider ones, which overlap. */
static width_found find_gaps(const db_shots *all, whole_light *list) {
    enum { FEWEST = 64 }; /* reflections of a shell of resolution */
    size_t count = 0;
    for (size_t r = 0; r < all->series->count; r++)
        count += (size_t)find_whole(all, r, &list[count]);
    const size_t shells = count / FEWEST;
    if (shells == 0) return (width_found){ 0, INFINITY };
    qsort(list, count, sizeof *list, finest_last);
    const gap_sums model = sum_shells(list, count, shells, 0);
    const double way = model.normal > 0 ? model.pull / model.normal : 0,
                 free = (double)count / (double)(count - shells - 1);
    const gap_sums there = sum_shells(list, count, shells, way);
    return (width_found){ way, model.normal > 0 ? sqrt(free * there.square) / model.normal
                                                : (double)INFINITY };
}

/* Thin frames change the light of all passages alike. What is left does not tell frames that meet from frames of twice the width
 * or of none, and a trifle, such as which faint reflections are listed, would be taken for such a width. */
static void judge_gaps(db_shots *all, whole_light *list) {
    const width_found found = find_gaps(all, list);
    if (*all->frames.turns || !(SURE * found.error < 1 / (1 - DB_NARROWER)) ||
        !(fabs(found.way) > SURE * found.error) || !(fabs(found.way) > MOST_WAY))
        return;
    const double step = step_of_used(all), by = (1 - DB_NARROWER) * step;
    snprintf(all->frames.turns, sizeof all->frames.turns,
             "the light of whole reflections fits frames that each turn by about %.2g degree (+- "
             "%.1g), and not by the step of phi, %.4g: frames %s, although osc says that they "
             "meet; correct osc",
             step - by * found.way, by * found.error, step,
             found.way > 0 ? "leave gaps" : "overlap");
}

/* Of rank 0. */
static db_status judge_widths(db_shots *all) {
    whole_light *const list = calloc(all->series->count + 1, sizeof *list);
    if (!list) return db_fail_memory(all->context, "whole reflections of a series");
    judge_width(all);
    judge_gaps(all, list);
    free(list);
    return DB_OK;
}

db_status db_series_judge_width(db_shots *all) {
    DB_TRY(db_workers_common_status(all, all->team.rank == 0 && all->frames.step ? judge_widths(all)
                                                                                 : DB_OK));
    return db_team_broadcast(&all->team, all->context, all->frames.turns, sizeof all->frames.turns);
}
