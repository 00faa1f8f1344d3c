/* The width of frames: is the light of reflections on frames as if these met each other, though they are said to have gaps or to
 * overlap? (docs/theory/verdict.md, Turns of a series) */
#include "fit/shots/series_turns.h"

#include "base/context_internal.h"
#include "fit/shots/series_state.h"
#include "fit/shots/team.h"

#include <math.h>
#include <stdio.h>
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

static void judge_width(db_shots *all) {
    const double sure = 5; /* standard deviations, which chance does not reach */
    const width_found found = find_way(all->series);
    size_t k = 0;
    if (*all->turns || !(found.way - MOST_WAY > sure * found.error)) return;
    while (!all->summary[k].used) k++;
    snprintf(all->turns, sizeof all->turns,
             "the light of reflections fits frames that each turn by %.4g degree, the step of phi "
             "between frames, and not by osc (between osc, 0, and this step, 1, it lies at %.2f +- "
             "%.1g; expected at most %g): osc or the steps of phi are wrong",
             all->step[k], found.way, found.error, MOST_WAY);
}

db_status db_series_judge_width(db_shots *all) {
    if (all->team.rank == 0 && all->step) judge_width(all);
    return db_team_broadcast(&all->team, all->context, all->turns, sizeof all->turns);
}
