/* Passages: reflections of a series from all their frames together. */
#include "base/context_internal.h"
#include "fit/shots/series.h"
#include "fit/shots/series_state.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_part(size_t shot, const db_part_light *part, double intensity, db_fit_passage *to) {
    const double model = intensity * part->shape;
    to->recorded += part->recorded;
    to->model += model;
    to->photons += part->shape / part->gain;
    to->light += part->light;
    to->light_sigma += part->light_variance;
    to->chi2 += part->chi2;
    to->pixels += part->pixels;
    to->strong += part->strong;
    to->last = shot;
    to->panel = part->panel;
    for (int k = 0; k < 2; k++) to->position[k] += part->shape * part->position[k];
    to->position[2] += part->shape * ((double)shot + 0.5);
}

/* The mean of a coordinate over strong pixels. */
static void mean_place(const db_strong_place *seen, double *at, double *variance) {
    *at = *variance = NAN;
    if (!(seen->counts > 0)) return;
    const double x = seen->first / seen->counts;
    *at = x;
    *variance = fmax(0, seen->square - 2 * x * seen->across + x * x * seen->noise) /
                (seen->counts * seen->counts);
}

/* Place of the observed light of a reflection: on frames, anywhere within each. */
static void find_observed(const db_series *s, size_t r, db_fit_passage *to) {
    db_strong_place seen[3] = { { .counts = 0 } };
    double squares = 0;
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const db_part_light *const parts = s->light[s->part[i].shot];
        const db_part_light *const part = &parts[s->part[i].box];
        if (part->strong == 0 || !(part->light > 0)) continue;
        for (int k = 0; k < 2; k++) {
            seen[k].counts += part->seen[k].counts;
            seen[k].first += part->seen[k].first;
            seen[k].noise += part->seen[k].noise;
            seen[k].across += part->seen[k].across;
            seen[k].square += part->seen[k].square;
        }
        db_strong_place_add(&seen[2], part->light, part->light_variance, s->part[i].shot + 0.5);
        squares += part->light * part->light;
    }
    for (int k = 0; k < 3; k++) mean_place(&seen[k], &to->observed[k], &to->observed_variance[k]);
    if (squares > 0) to->observed_variance[2] += squares / (12 * seen[2].counts * seen[2].counts);
}

static void widen_box(const db_part_light *part, int box[4]) {
    for (int k = 0; k < 2; k++) {
        if (part->from[k] < box[k]) box[k] = part->from[k];
        if (part->to[k] > box[2 + k]) box[2 + k] = part->to[k];
    }
}

/* Makes a passage. Its intensity may be negative: means of intensities that are cut at 0 would be too large. Misfit counts as
 * noise in its error, as for a single shoebox. */
static db_fit_passage passage_of(const db_series *s, size_t r) {
    const db_series_part *const first = &s->part[s->first[r]];
    const double intensity = s->best[r];
    db_fit_passage passage = { .first = first->shot,
                               .square = intensity,
                               .box = { INT_MAX, INT_MAX, 0, 0 } };
    double shape = 0, background = 0;
    memcpy(passage.hkl, first->hkl, sizeof passage.hkl);
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const db_part_light *const parts = s->light[s->part[i].shot];
        add_part(s->part[i].shot, &parts[s->part[i].box], intensity, &passage);
        widen_box(&parts[s->part[i].box], passage.box);
        background += parts[s->part[i].box].background;
        shape += parts[s->part[i].box].shape;
    }
    for (int k = 0; k < 3; k++) passage.position[k] /= shape;
    passage.background = background / fmax(1, (double)passage.pixels);
    find_observed(s, r, &passage);
    passage.light_sigma = sqrt(passage.light_sigma);
    const double degrees = fmax(1, (double)passage.pixels - 1);
    passage.square_sigma = s->curvature[r] > 0
                               ? sqrt(fmax(1, passage.chi2 / degrees) / s->curvature[r])
                               : (double)INFINITY;
    return passage;
}

/* Does the model have light of a reflection? */
static int is_shown(const db_series *s, size_t r) {
    double shape = 0;
    for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
        const db_part_light *const parts = s->light[s->part[i].shot];
        if (!parts) return 0;
        shape += parts[s->part[i].box].shape;
    }
    return shape > 0;
}

static db_status list_passages(const db_shots *all, db_fit_shots_result *result) {
    const db_series *const s = all->series;
    result->passages = calloc(s->count + 1, sizeof *result->passages);
    if (!result->passages) return db_fail_memory(all->context, "the reflections of a series");
    for (size_t r = 0; r < s->count; r++)
        if (is_shown(s, r)) result->passages[result->passage_count++] = passage_of(s, r);
    return DB_OK;
}

/* Sends passages to all processes, which draw frames with them. */
static db_status tell_passages(const db_shots *all, db_fit_shots_result *result) {
    size_t count = result->passage_count;
    DB_TRY(db_team_broadcast(&all->team, all->context, &count, sizeof count));
    if (!result->passages) result->passages = calloc(count + 1, sizeof *result->passages);
    result->passage_count = result->passages ? count : 0;
    const db_status status =
        db_need_memory(all->context, result->passages, "the reflections of a series");
    DB_TRY(db_team_common_status(&all->team, all->context, status));
    return db_team_broadcast(&all->team, all->context, result->passages,
                             count * sizeof *result->passages);
}

void db_series_drop_passages(const db_shots *all, db_fit_shots_result *result) {
    const size_t count = result->passage_count;
    result->passage_count = 0;
    for (size_t n = 0; n < count; n++) {
        const db_fit_passage *const p = &result->passages[n];
        int used = 1;
        for (size_t k = p->first; k <= p->last; k++) used &= all->summary[k].used;
        if (used) result->passages[result->passage_count++] = *p;
    }
}

db_status db_series_passages(db_shots *all, db_fit_shots_result *result) {
    DB_TRY(db_series_compare_light(all));
    DB_TRY(db_series_judge_width(all));
    DB_TRY(db_intensities_judge(all, result));
    const db_status status = all->team.rank == 0 ? list_passages(all, result) : DB_OK;
    DB_TRY(db_workers_common_status(all, status));
    return tell_passages(all, result);
}
