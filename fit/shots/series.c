/* Intensities of a series: numbered, found, and eliminated. */
#include "fit/shots/series.h"

#include "base/context_internal.h"
#include "fit/linear/linearization.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/objective.h"
#include "fit/shots/records.h"
#include "fit/shots/series_parts.h"
#include "fit/shots/series_state.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"
#include "loss/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_reflection(const void *a, const void *b) {
    const db_series_part *const x = a;
    const db_series_part *const y = b;
    const int order = db_compare_hkl(x->hkl, y->hkl);
    if (order) return order;
    if (x->shot != y->shot) return x->shot < y->shot ? -1 : 1;
    return x->box < y->box ? -1 : x->box > y->box;
}

/* Do two parts of a reflection belong to one passage? A crystal that turns far enough shows a reflection twice; the
 * two intensities differ by absorption and decay. Another sweep shows it again, too. */
static int goes_on(const db_shots *all, const db_series_part *last, const db_series_part *next) {
    return db_compare_hkl(last->hkl, next->hkl) == 0 && next->shot <= last->shot + 1 &&
           all->frames.sweep[last->shot] == all->frames.sweep[next->shot];
}

/* Numbers the boxes of all shots. All processes know all boxes, so their numbers agree. */
static db_status number_boxes(db_shots *all, const db_shown *shown) {
    db_series *const s = all->series;
    size_t count = 0, at = 0;
    for (size_t k = 0; k < all->count; k++) count += shown[k].count;
    s->part = calloc(count + 1, sizeof *s->part);
    s->first = calloc(count + 1, sizeof *s->first);
    if (!s->part || !s->first) return db_fail_memory(all->context, "the reflections of a series");
    for (size_t k = 0; k < all->count; k++) {
        s->boxes[k] = shown[k].count;
        s->number[k] = calloc(shown[k].count + 1, sizeof **s->number);
        if (!s->number[k]) return db_fail_memory(all->context, "the reflections of a series");
        for (size_t b = 0; b < shown[k].count; b++, at++) {
            memcpy(s->part[at].hkl, shown[k].hkl[b], sizeof s->part[at].hkl);
            s->part[at].shot = (uint32_t)k;
            s->part[at].box = (uint32_t)b;
        }
    }
    qsort(s->part, count, sizeof *s->part, by_reflection);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !goes_on(all, &s->part[i - 1], &s->part[i])) s->first[s->count++] = i;
        s->number[s->part[i].shot][s->part[i].box] = (uint32_t)(s->count - 1);
    }
    s->first[s->count] = count;
    return DB_OK;
}

/* Degrees of freedom: the intensity of a reflection takes one, divided among its parts. */
static void count_degrees(const db_shots *all) {
    const db_series *const s = all->series;
    for (size_t k = 0; k < all->count; k++)
        if (db_shots_own(all, k)) all->summary[k].degrees = all->state[k].degrees;
    for (size_t i = 0; i < s->first[s->count]; i++) {
        const db_series_part *const p = &s->part[i];
        const uint32_t r = s->number[p->shot][p->box];
        all->summary[p->shot].degrees += 1 - 1 / (double)(s->first[r + 1] - s->first[r]);
    }
}

static db_status allocate_series(db_shots *all) {
    db_series *const s = all->series;
    const db_schur_order *const order = &s->links->order;
    const size_t n = all->count;
    s->most = db_moving_quantities(&all->settings, order->index, order->shared);
    s->number = calloc(n + 1, sizeof *s->number);
    s->boxes = calloc(n + 1, sizeof *s->boxes);
    s->bytes = calloc(n + 1, sizeof *s->bytes);
    s->linearization = calloc(n + 1, sizeof *s->linearization);
    s->light_bytes = calloc(n + 1, sizeof *s->light_bytes);
    s->light = calloc(n + 1, sizeof *s->light);
    for (int k = 0; k < 2; k++) s->background[k] = calloc(n + 1, sizeof *s->background[k]);
    return db_need_memory(all->context,
                          s->number && s->boxes && s->bytes && s->linearization && s->light_bytes &&
                              s->light && s->background[0] && s->background[1],
                          "a series");
}

static db_status make_values(db_shots *all) {
    db_series *const s = all->series;
    for (int k = 0; k < 2; k++)
        if (!(s->value[k] = calloc(s->count + 1, sizeof *s->value[k])))
            return db_fail_memory(all->context, "the intensities of a series");
    for (size_t k = 0; k < all->count; k++)
        for (int i = 0; i < 2 && db_shots_own(all, k); i++)
            if (!(s->background[i][k] = calloc(s->boxes[k] + 1, sizeof **s->background[i])))
                return db_fail_memory(all->context, "the backgrounds of a series");
    s->begun = calloc(s->count + 1, sizeof *s->begun);
    s->best = calloc(s->count + 1, sizeof *s->best);
    s->curvature = calloc(s->count + 1, sizeof *s->curvature);
    s->change = calloc(all->count + 1, sizeof *s->change);
    return db_need_memory(all->context, s->begun && s->best && s->curvature && s->change,
                          "the intensities of a series");
}

db_status db_series_begin(db_shots *all, const db_joint_links *links, int stage, int only_light) {
    db_shown *boxes = NULL;
    all->series = calloc(1, sizeof *all->series);
    db_status status = db_need_memory(all->context, all->series, "a series");
    if (status == DB_OK) {
        all->series->links = links;
        all->series->stage = stage;
        status = allocate_series(all);
    }
    status = db_workers_common_status(all, status);
    if (status == DB_OK && !only_light) status = db_shown_refuse_blank(all);
    if (status == DB_OK) status = db_shown_lend(all, 1, &boxes);
    if (status == DB_OK) {
        status = number_boxes(all, boxes);
        if (status == DB_OK) status = make_values(all);
        status = db_workers_common_status(all, status);
    }
    db_shown_return(all, boxes);
    if (status != DB_OK || only_light) return status;
    count_degrees(all);
    return db_records_collect(all);
}

void db_series_end(db_shots *all) {
    db_series *const s = all->series;
    if (!s) return;
    for (size_t k = 0; k < all->count; k++) {
        if (s->number) free(s->number[k]);
        if (s->linearization) free(s->linearization[k]);
        if (s->light) free(s->light[k]);
        for (int i = 0; i < 2; i++)
            if (s->background[i]) free(s->background[i][k]);
    }
    for (int k = 0; k < 2; k++) {
        free(s->value[k]);
        free(s->background[k]);
    }
    free(s->begun);
    free(s->number);
    free(s->boxes);
    free(s->bytes);
    free(s->linearization);
    free(s->light_bytes);
    free(s->light);
    free(s->best);
    free(s->curvature);
    free(s->change);
    free(s->first);
    free(s->part);
    free(s);
    all->series = NULL;
}

size_t db_series_reflections(const db_shots *all) { return all->series->count; }

/* Is chi2 a polynomial of second order in intensities? */
static int is_quadratic(const db_shots *all) {
    const int target = all->settings.stages[all->series->stage].target;
    return (target < 0 ? all->settings.target : (db_fit_target)target) == DB_FIT_WEIGHTED;
}

/* Hands the objective the backgrounds of a shot, which are best to first order. */
static void give_backgrounds(const db_series *s, size_t shot, db_objective *objective) {
    for (size_t b = 0; b < objective->blocks.count; b++) {
        const db_part_background *const from = &s->background[0][shot][b];
        double *const linear = objective->solution[b].linear;
        for (int i = 1; i < DB_LINEAR; i++)
            linear[i] = from->at[i - 1] + from->step[i - 1] +
                        from->slope[i - 1] * (linear[0] - from->intensity);
    }
    objective->work->fresh = 0;
}

static void give_intensities(const db_series *s, size_t shot, int at_start,
                             db_objective *objective) {
    for (size_t b = 0; b < objective->blocks.count; b++)
        objective->solution[b].linear[0] = s->value[!at_start][s->number[shot][b]];
}

void db_series_give(const db_shots *all, size_t shot, int at_start, db_objective *objective) {
    give_intensities(all->series, shot, at_start, objective);
    if (!at_start && !is_quadratic(all)) give_backgrounds(all->series, shot, objective);
}

/* A pass that finds intensities. */
typedef struct search {
    const db_shots *all;
    const double *unknown; /* values of the unknowns; NULL: the start */
    int first; /* 1: from intensities of 0 to the least chi2 with weights from the data */
    int known; /* 1: backgrounds of boxes are nearly known */
} search;

/* Eliminates the background from the sums of a box, and keeps it. Returns the excess of the loss over its minimum. */
static double eliminate_background(const double linear[DB_LINEAR], db_block_sums *sums,
                                   db_part_background *to) {
    double step[DB_LINEAR] = { 0 }, slope[DB_LINEAR] = { 1 };
    const double fall = db_eliminate(DB_LINEAR, 1, sums->gradient, sums->normal, DB_LINEAR);
    to->intensity = linear[0];
    for (size_t i = 1; i < DB_LINEAR; i++) {
        const double *const row = sums->normal + i * DB_LINEAR;
        step[i] = db_eliminated_step(row, i, sums->gradient[i], step);
        slope[i] = db_eliminated_step(row, i, 0, slope);
        to->at[i - 1] = linear[i];
        to->step[i - 1] = step[i];
        to->slope[i - 1] = slope[i];
    }
    return fall;
}

/* Eliminates the backgrounds of a frame's boxes. Returns the largest excess of a box's loss over its minimum. */
static double eliminate_backgrounds(const db_series *s, size_t shot, db_objective *objective) {
    double most = 0;
    for (size_t b = 0; b < objective->blocks.count; b++)
        most = fmax(most, eliminate_background(objective->solution[b].linear,
                                               &objective->work->linear_sums[b],
                                               &s->background[0][shot][b]));
    return most;
}

/* Sums by the intensities, with backgrounds at their best values. If these are nearly known, one evaluation suffices. */
static db_status eliminate_here(const db_series *s, size_t shot, const double *value,
                                db_objective *objective) {
    const double near = 0.01; /* excess of the loss at a tenth of a standard error */
    DB_TRY(db_objective_render(objective, value, DB_OBJECTIVE_LOSS));
    for (int solve = 0; solve < 2; solve++) {
        DB_TRY(db_objective_run_boxes(objective, DB_BOXES_AS_BEFORE, solve, DB_BOXES_LINEAR));
        if (!(eliminate_backgrounds(s, shot, objective) > near)) break;
    }
    return DB_OK;
}

/* Adds slopes and curvatures of a frame's boxes, their backgrounds eliminated, by its intensities. */
static db_status add_slopes(const db_shots *all, size_t shot, const search *how,
                            const double *value, db_objective *objective, double *sum) {
    const db_series *const s = all->series;
    if (how->first) objective->loss_of.target = DB_LOSS_WEIGHTED;
    if (!how->first) give_intensities(s, shot, !how->unknown, objective);
    if (how->known) give_backgrounds(s, shot, objective);
    objective->sums_only = 1;
    if (how->known) {
        DB_TRY(eliminate_here(s, shot, value, objective));
    } else {
        DB_TRY(db_objective_evaluate(objective, value, DB_OBJECTIVE_LOSS));
        DB_TRY(db_objective_run_boxes(objective, DB_BOXES_AS_BEFORE, 0, DB_BOXES_LINEAR));
        (void)eliminate_backgrounds(s, shot, objective);
    }
    for (size_t b = 0; b < objective->blocks.count; b++) {
        const db_block_sums *const sums = &objective->work->linear_sums[b];
        sum[s->number[shot][b]] += 0.5 * sums->gradient[0];
        sum[s->count + s->number[shot][b]] += sums->normal[0];
    }
    return DB_OK;
}

static db_status look_at_start(const db_shots *all, db_context *context, size_t shot,
                               const search *how, const db_open_shot *open, double *sum) {
    db_objective before;
    DB_TRY(db_shot_objective_at_start(all, context, shot, open, &before));
    const db_status status = add_slopes(all, shot, how, NULL, &before, sum);
    db_objective_destroy(&before);
    return status;
}

static db_status look(void *user, db_context *context, size_t shot, db_open_shot *open,
                      double *sum) {
    const search *const how = user;
    const db_series *const s = how->all->series;
    const db_schur_order *const order = &s->links->order;
    db_status status;
    if (how->unknown) {
        db_joint_links_values(s->links, shot, how->unknown, open->linked);
        for (size_t l = 0; l < order->shared; l++)
            open->value[order->variable[l]] = open->linked[l] + open->shift[l];
        status = add_slopes(how->all, shot, how, open->value, &open->objective, sum);
    } else {
        status = look_at_start(how->all, context, shot, how, open, sum);
    }
    return status == DB_ERROR_INPUT ? DB_OK
                                    : status; /* the next evaluation fails, too, and tells */
}

/* Takes up to `steps` steps of the intensities. The first step starts from 0, unless intensities are nearly known.
 * least: lower limit of the intensities in standard errors. Ends when no step exceeds a tenth of a standard error. */
static db_status take_steps(db_shots *all, const double *unknown, int known, int steps,
                            double least) {
    const double enough = 0.1;
    db_series *const s = all->series;
    double *const value = s->value[unknown != NULL];
    double *const total = malloc((2 * s->count + 1) * sizeof *total);
    db_status status = db_workers_need_memory(all, total, "the intensities of a series");
    double longest = INFINITY;
    if (!known) memset(value, 0, s->count * sizeof *value);
    for (int k = 0; k < steps && longest > enough && status == DB_OK && total; k++) {
        search how = { all, unknown, k == 0 && !known, k > 0 || known };
        status = db_open_shots_sum(all, "intensities", s->stage, &s->links->order, look, &how,
                                   2 * s->count, total);
        longest = 0;
        for (size_t r = 0; r < s->count && status == DB_OK; r++) {
            const double curvature = total[s->count + r], before = value[r];
            if (!(curvature > 0)) continue;
            value[r] = fmax(least / sqrt(curvature),
                            db_series_step(before, total[r] / curvature, steps > 1));
            longest = fmax(longest, fabs(value[r] - before) * sqrt(curvature));
        }
    }
    free(total);
    return status;
}

static int steps_of(const db_shots *all) { return is_quadratic(all) ? 1 : 12; }

/* Copies the set of backgrounds number `from` to number `to`. */
static void copy_backgrounds(const db_shots *all, int from, int to) {
    const db_series *const s = all->series;
    for (size_t k = 0; k < all->count; k++)
        if (s->background[from][k])
            memcpy(s->background[to][k], s->background[from][k],
                   s->boxes[k] * sizeof **s->background[from]);
}

db_status db_series_start(db_shots *all, const double *unknown) {
    db_series *const s = all->series;
    DB_TRY(
        take_steps(all, unknown, 0, steps_of(all), 1)); /* so dark reflections have slopes, too */
    memcpy(s->begun, s->value[1], s->count * sizeof *s->begun);
    copy_backgrounds(all, 0, 1);
    return DB_OK;
}

db_status db_series_approach(db_shots *all, const double *unknown) {
    db_series *const s = all->series;
    memcpy(s->value[1], s->begun, s->count * sizeof *s->begun);
    copy_backgrounds(all, 1, 0);
    return is_quadratic(all) ? DB_OK : take_steps(all, unknown, 1, steps_of(all), 0);
}

db_status db_series_solve(db_shots *all, const double *unknown) {
    DB_TRY(take_steps(all, NULL, 0, steps_of(all), 0));
    return is_quadratic(all) ? take_steps(all, unknown, 0, 1, 0) : db_series_approach(all, unknown);
}

static db_linearization linearization_of(const db_shots *all, size_t shot) {
    const db_series *const s = all->series;
    return db_linearization_in(s->boxes[shot], 0, s->links->order.shared, s->most,
                               s->linearization[shot]);
}

db_status db_series_note(const db_shots *all, db_context *context, size_t shot,
                         const db_open_shot *open) {
    db_series *const s = all->series;
    s->bytes[shot] = db_linearization_size(s->boxes[shot], 0, s->links->order.shared, s->most);
    if (!s->linearization[shot]) s->linearization[shot] = malloc(s->bytes[shot]);
    if (!s->linearization[shot])
        return db_fail_memory(context, "what a frame says of its reflections");
    const db_linearization linearization = linearization_of(all, shot);
    db_shot_linearize(open, &s->links->order, &linearization);
    return DB_OK;
}

/* Sums of a reflection by the unknowns that it depends on, with its intensity at its best value. */
typedef struct reflection {
    double pull, curvature;
    double change;         /* best intensity minus rendered intensity */
    double factor;         /* best over rendered intensity; 1 if chi2 is not quadratic */
    double *cross, *slope; /* [unknowns] */
    size_t count, *touched;
    unsigned char *is_touched; /* [unknowns] */
} reflection;

static void touch(reflection *r, size_t unknown) {
    if (r->is_touched[unknown]) return;
    r->is_touched[unknown] = 1;
    r->cross[unknown] = r->slope[unknown] = 0;
    r->touched[r->count++] = unknown;
}

/* The best intensity, not below 0; passages keep the step beyond 0, and curvatures, unlike those of the search, that do not
 * depend on the counts of faint pixels. The promised decrease of chi2 counts only if chi2 is quadratic: otherwise steps may
 * have ended far from the best intensity, and the promise may be anything. Derivatives of a quadratic chi2 by the unknowns
 * are known at any intensity J, as J times derivatives by the light: half slopes are J (s + J c), mixed second
 * derivatives J c, second derivatives J^2 n. */
static void find_best(const db_shots *all, size_t h, int quadratic, double *loss, reflection *r) {
    const db_series *const s = all->series;
    const double rendered = s->value[1][h];
    r->pull = r->curvature = 0;
    for (size_t i = s->first[h]; i < s->first[h + 1]; i++) {
        const db_series_part *const p = &s->part[i];
        const db_linearization linearization = linearization_of(all, p->shot);
        *loss += (double)linearization.loss[p->box];
        r->pull += (double)linearization.pull[p->box];
        r->curvature += (double)linearization.curvature[p->box];
    }
    const double step = r->curvature > 0 ? -r->pull / r->curvature : 0;
    s->best[h] = rendered + step;
    s->curvature[h] = r->curvature;
    r->change = fmax(-rendered, step);
    r->factor = quadratic && rendered > 0 ? 1 + r->change / rendered : 1;
    if (quadratic) *loss += r->change * (2 * r->pull + r->curvature * r->change);
}

/* The light of a frame: its scale, and least squares for the next one. */
typedef struct frame_light {
    double scale, light, square;
} frame_light;

/* The best intensity of a reflection for the scales of frames, and what the losses of its frames change by both. */
static void change_reflection(const db_shots *all, size_t h, frame_light *frames) {
    const db_series *const s = all->series;
    const double rendered = s->value[1][h];
    double light = 0, square = 0;
    for (int pass = 0; pass < 2; pass++) {
        const double best = square > 0 ? fmax(0, light / square) : rendered;
        for (size_t i = s->first[h]; i < s->first[h + 1]; i++) {
            const db_series_part *const p = &s->part[i];
            const db_linearization linearization = linearization_of(all, p->shot);
            const double pull = (double)linearization.pull[p->box],
                         curvature = (double)linearization.curvature[p->box],
                         measured = curvature * rendered - pull;
            frame_light *const frame = &frames[p->shot];
            if (pass == 0) {
                light += frame->scale * measured;
                square += frame->scale * frame->scale * curvature;
                continue;
            }
            const double change = frame->scale * best - rendered;
            s->change[p->shot] += change * (2 * pull + curvature * change);
            frame->light += best * measured;
            frame->square += best * best * curvature;
        }
    }
}

/* Do scales of frames wait for a later stage? */
static int scales_wait(const db_shots *all) {
    const db_fit_settings *const settings = &all->settings;
    const size_t stage = (size_t)all->series->stage;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (p->parameter == DB_SCALE && !db_fit_parameter_in_stage(p, stage) &&
            p->stages >> stage != 0)
            return 1;
    }
    return 0;
}

/* Losses of frames with the best intensities; and with the best scales, found by turns, if these wait: a frame is no outlier
 * because it is brighter. */
static db_status find_changes(const db_shots *all) {
    const db_series *const s = all->series;
    const int rounds = scales_wait(all) ? 20 : 0;
    frame_light *const frames = calloc(all->count + 1, sizeof *frames);
    for (size_t k = 0; k < all->count && frames; k++) frames[k].scale = 1;
    for (int round = 0; round <= rounds && frames; round++) {
        for (size_t k = 0; k < all->count; k++) {
            frame_light *const frame = &frames[k];
            const double scale =
                frame->square > 0 ? fmax(0, frame->light / frame->square) : frame->scale;
            *frame = (frame_light){ scale, 0, 0 };
            s->change[k] = 0;
        }
        for (size_t h = 0; h < s->count; h++) change_reflection(all, h, frames);
    }
    free(frames);
    return db_need_memory(all->context, frames != NULL, "the light of frames");
}

/* Sums of a pass. Their index is the unknown, except in `frame`. */
typedef struct totals {
    const db_joint_links *links;
    const double *step; /* of the unknowns, to where slopes of reflections are; NULL: none */
    double *frame;      /* [shots][db_schur_sums_size of linked variables]: sums of each frame */
    double *sums, *of_reflections;
    double *
        begins; /* [shots][unknowns]: slopes of reflections, kept with their first frame; NULL: not wanted */
} totals;

/* Adds what a step of the unknowns changes of a box's slopes. */
static void step_part(const db_shots *all, const db_series_part *p, const totals *t,
                      reflection *r) {
    const db_linearization linearization = linearization_of(all, p->shot);
    const float *row =
        linearization.normal + p->box * (linearization.most * (linearization.most + 1) / 2);
    const uint16_t *const place = linearization.place + p->box * linearization.most;
    const size_t count = linearization.moved[p->box];
    double by[DB_BLOCK_MOST] = { 0 }, change[DB_BLOCK_MOST] = { 0 };
    db_joint_link link[DB_MOST_LINKS];
    for (size_t i = 0; i < count; i++)
        for (size_t k = db_joint_links_of(t->links, p->shot, place[i], link); k-- > 0;)
            by[i] += link[k].weight * t->step[link[k].unknown];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++, row++) {
            change[i] += (double)*row * by[j];
            if (j < i) change[j] += (double)*row * by[i];
        }
    for (size_t i = 0; i < count; i++)
        for (size_t k = db_joint_links_of(t->links, p->shot, place[i], link); k-- > 0;)
            r->slope[link[k].unknown] += link[k].weight * r->factor * r->factor * change[i];
}

/* Adds a box, with its intensity at the best value, to the sums of its frame and of its reflection. */
static void add_part(const db_shots *all, const db_series_part *p, const totals *t, double *frame,
                     reflection *r) {
    const db_series *const s = all->series;
    const db_linearization linearization = linearization_of(all, p->shot);
    const size_t at = p->box * linearization.most, m = s->links->order.shared;
    const float *row =
        linearization.normal + p->box * (linearization.most * (linearization.most + 1) / 2);
    const uint16_t *const place = linearization.place + at;
    double *const normal = frame + 1 + m;
    db_joint_link link[DB_MOST_LINKS];
    for (size_t i = 0; i < linearization.moved[p->box]; row += ++i) {
        const double mixed = r->factor * (double)linearization.mixed[at + i],
                     slope = r->factor * (double)linearization.slope[at + i] + mixed * r->change;
        frame[1 + place[i]] += 2 * slope;
        for (size_t j = 0; j <= i; j++)
            normal[db_triangle_at(place[i], place[j])] += r->factor * r->factor * (double)row[j];
        for (size_t k = db_joint_links_of(t->links, p->shot, place[i], link); k-- > 0;) {
            touch(r, link[k].unknown);
            r->cross[link[k].unknown] += link[k].weight * mixed;
            r->slope[link[k].unknown] += link[k].weight * slope;
        }
    }
}

static void add_products(size_t n, const reflection *r, double factor, const double *vector,
                         double *sums) {
    double *const to = sums + 1 + n;
    for (size_t a = 0; a < r->count; a++)
        for (size_t b = 0; b < r->count; b++) {
            const size_t u = r->touched[a], v = r->touched[b];
            if (u >= v) to[db_triangle_at(u, v)] += factor * vector[u] * vector[v];
        }
}

/* The same of a reflection, whose intensity follows the step. */
static void step_reflection(const db_shots *all, size_t h, int moves, const totals *t,
                            reflection *r) {
    const db_series *const s = all->series;
    double change = 0;
    for (size_t i = s->first[h]; i < s->first[h + 1]; i++) step_part(all, &s->part[i], t, r);
    for (size_t i = 0; i < r->count && moves; i++)
        change -= r->cross[r->touched[i]] * t->step[r->touched[i]] / r->curvature;
    for (size_t i = 0; i < r->count; i++)
        r->slope[r->touched[i]] += r->cross[r->touched[i]] * change;
}

static void add_reflection(const db_shots *all, size_t h, int quadratic, reflection *r, totals *t) {
    const db_series *const s = all->series;
    const size_t n = t->links->unknowns, size = db_schur_sums_size(s->links->order.shared);
    for (size_t i = 0; i < r->count; i++) r->is_touched[r->touched[i]] = 0;
    r->count = 0;
    find_best(all, h, quadratic, &t->sums[0], r);
    for (size_t i = s->first[h]; i < s->first[h + 1]; i++)
        add_part(all, &s->part[i], t, t->frame + s->part[i].shot * size, r);
    const int moves = s->value[1][h] + r->change > 0 && r->curvature > 0; /* else held at 0 */
    if (moves) add_products(n, r, -1 / r->curvature, r->cross, t->sums);
    if (!t->begins) return;
    if (t->step) step_reflection(all, h, moves, t, r);
    add_products(n, r, 1, r->slope, t->of_reflections);
    double *const begins = t->begins + s->part[s->first[h]].shot * n;
    for (size_t i = 0; i < r->count; i++) begins[r->touched[i]] += r->slope[r->touched[i]];
}

static void add_frames(size_t frames, size_t n, const double *frame, double *sums) {
    double *to = sums + 1 + n;
    for (size_t u = 0; u < n; u++)
        for (size_t v = 0; v <= u; v++, to++)
            for (size_t k = 0; k < frames; k++) *to += frame[k * n + u] * frame[k * n + v];
}

static void add_all(const db_shots *all, reflection *r, totals *t, double *const pulls[2]) {
    const db_series *const s = all->series;
    const size_t n = t->links->unknowns, size = db_schur_sums_size(t->links->order.shared);
    for (size_t h = 0; h < s->count; h++) add_reflection(all, h, is_quadratic(all), r, t);
    for (size_t k = 0; k < all->count; k++)
        db_joint_links_add(t->links, k, t->frame + k * size, t->sums);
    if (pulls) add_frames(all->count, n, t->begins, pulls[0]);
}

db_status db_series_sum_here(const db_shots *all, const db_joint_links *links, const double *step,
                             double *sums, double *const pulls[2]) {
    const size_t n = links->unknowns, size = db_schur_sums_size(links->order.shared);
    double *const numbers =
        calloc(2 * n + all->count * (size + (pulls ? n : 0)) + 1, sizeof *numbers);
    reflection r = { .cross = numbers,
                     .touched = calloc(n + 1, sizeof *r.touched),
                     .is_touched = calloc(n + 1, 1) };
    const int missing = !numbers || !r.touched || !r.is_touched;
    if (!missing) {
        totals t = { links, step, numbers + 2 * n, sums, pulls ? pulls[1] : NULL, NULL };
        if (pulls) t.begins = t.frame + all->count * size;
        r.slope = numbers + n;
        add_all(all, &r, &t, pulls);
    }
    free(numbers);
    free(r.touched);
    free(r.is_touched);
    return db_need_memory(all->context, !missing, "the reflections of a series");
}

/* Of rank 0. */
static db_status sum_and_compare(const db_shots *all, double *sums, double *const pulls[2]) {
    const db_series *const s = all->series;
    DB_TRY(db_series_sum_here(all, s->links, NULL, sums, pulls));
    memset(s->change, 0, all->count * sizeof *s->change);
    return is_quadratic(all) ? find_changes(all) : DB_OK;
}

db_status db_series_sum(db_shots *all, double *sums, double *const pulls[2]) {
    db_series *const s = all->series;
    const size_t bytes = db_schur_sums_size(s->links->unknowns) * sizeof *sums;
    DB_TRY(db_records_gather(all, s->bytes, s->linearization, 0));
    DB_TRY(db_workers_common_status(all, all->team.rank == 0 ? sum_and_compare(all, sums, pulls)
                                                             : DB_OK));
    DB_TRY(db_team_broadcast(&all->team, all->context, sums, bytes));
    DB_TRY(db_team_broadcast(&all->team, all->context, s->change, all->count * sizeof *s->change));
    for (int k = 0; k < 2 && pulls; k++)
        DB_TRY(db_team_broadcast(&all->team, all->context, pulls[k], bytes));
    return DB_OK;
}

void db_series_correct_targets(db_shots *all) {
    for (size_t k = 0; k < all->count; k++)
        if (all->summary[k].used && db_shots_own(all, k))
            all->summary[k].target += all->series->change[k] / all->state[k].degrees;
}
