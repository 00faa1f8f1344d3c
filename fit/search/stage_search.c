/* History, unknowns and longest steps of searches. */
#include "fit/search/stage_search.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_fit_course_reserve(db_context *context, db_fit_course *course, size_t evaluations) {
    if (course->room - course->count >= evaluations) return DB_OK;
    const size_t room = course->count + evaluations;
    db_fit_history *const grown = realloc(course->history, room * sizeof *grown);
    if (!grown) return db_fail_memory(context, "the history of the refinement");
    course->history = grown;
    double *const values = realloc(course->values, (room * course->width + 1) * sizeof *values);
    if (!values) return db_fail_memory(context, "the history of the refinement");
    course->values = values;
    course->room = room;
    for (size_t i = 0; i < course->count; i++)
        course->history[i].value = values + i * course->width;
    return DB_OK;
}

db_fit_history *db_fit_course_add(db_fit_course *course, const db_fit_history *now) {
    if (course->count == course->room) return NULL;
    db_fit_history *const entry = &course->history[course->count];
    *entry = *now;
    entry->value = course->values + course->count++ * course->width;
    return entry;
}

int db_fit_course_tell(const db_fit_course *course, const db_fit_history *entry) {
    return course->progress && course->progress(course->user, entry);
}

void db_fit_course_clear(db_fit_course *course) {
    free(course->history);
    free(course->values);
    course->history = NULL;
    course->values = NULL;
    course->count = course->room = 0;
}

/* Longest step of a block's edge, as a part of it: if all three take it, the light is less than doubled. From twice their
 * value intensities still come back by Newton's steps on Poisson's likelihood; from more they fall to 0. */
static const double MOST_GROWTH = 0.25;

db_status db_unknowns_make(db_context *context, const db_fit_settings *settings,
                           const size_t *index, size_t count, db_unknowns *u) {
    *u = (db_unknowns){ .count = count, .settings = settings, .index = index };
    u->lower = malloc((7 * count + db_lm_room(count) + 1) * sizeof *u->lower);
    if (!u->lower) return db_fail_memory(context, "the optimizer");
    u->upper = u->lower + count;
    u->centre = u->upper + count;
    u->sigma = u->centre + count;
    u->scale = u->sigma + count;
    u->longest = u->scale + count;
    u->part = u->longest + count;
    u->room = u->part + count;
    for (size_t i = 0; i < count; i++) {
        const db_fit_parameter *const p = &settings->parameters[index[i]];
        u->scale[i] = isnan(p->scale) ? db_parameter_describe(p->parameter)->scale : p->scale;
        u->longest[i] = 10 * u->scale[i];
        /* widths of nodes go with 1/N: steps of ten cells would never end where large blocks are as good as any */
        u->part[i] = db_facts_of(p->parameter)->kind == DB_KIND_CELLS ? MOST_GROWTH : 0;
        u->lower[i] = fmax(db_facts_of(p->parameter)->least, p->lower);
        u->upper[i] = fmin(db_facts_of(p->parameter)->most, p->upper);
        u->centre[i] = p->prior[0];
        u->sigma[i] = p->prior[1];
    }
    return DB_OK;
}

db_status db_unknowns_of_variables(db_context *context, const db_fit_settings *settings,
                                   const db_variables *v, db_unknowns *u) {
    const size_t size = v->count * sizeof *v->lower;
    DB_TRY(db_unknowns_make(context, settings, v->index, v->count, u));
    memcpy(u->lower, v->lower, size);
    memcpy(u->upper, v->upper, size);
    memcpy(u->centre, v->centre, size);
    memcpy(u->sigma, v->sigma, size);
    return DB_OK;
}

void db_unknowns_clear(db_unknowns *u) {
    free(u->lower);
    free(u->restraint);
    u->lower = u->restraint = NULL;
}

size_t db_unknowns_moving(const db_unknowns *u, size_t first) {
    size_t moving = 0;
    for (size_t i = first; i < u->count; i++) moving += u->lower[i] < u->upper[i];
    return moving;
}

db_status db_unknowns_restrain(db_context *context, const double *row, double sigma,
                               db_unknowns *u) {
    const size_t n = u->count + 1;
    if (!(sigma > 0)) return DB_OK;
    if (!u->restraint) u->restraint = calloc(n * n, sizeof *u->restraint);
    if (!u->restraint) return db_fail_memory(context, "the priors of curves");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && fabs(row[i]) > 0; k++)
            u->restraint[i * n + k] += row[i] * row[k] / (sigma * sigma);
    return DB_OK;
}

/* Half the slope at x by an unknown, or by the 1 behind them. */
static double pull_of_row(const db_unknowns *u, size_t i, const double *x) {
    const double *const row = u->restraint + i * (u->count + 1);
    double sum = row[u->count];
    for (size_t k = 0; k < u->count; k++) sum += row[k] * x[k];
    return sum;
}

void db_unknowns_add_curvature(const db_unknowns *u, double *normal) {
    const size_t n = u->count;
    for (size_t i = 0; i < n; i++) {
        normal[i * n + i] += 1 / (u->sigma[i] * u->sigma[i]);
        for (size_t k = 0; k < n && u->restraint; k++)
            normal[i * n + k] += u->restraint[i * (n + 1) + k];
    }
}

void db_unknowns_add_priors(const db_unknowns *u, const double *x, double *loss, double *gradient,
                            double *normal) {
    db_add_priors(u->count, u->centre, u->sigma, x, loss, gradient, NULL);
    if (normal) db_unknowns_add_curvature(u, normal);
    if (!u->restraint) return;
    *loss += pull_of_row(u, u->count, x);
    for (size_t i = 0; i < u->count; i++) {
        const double pull = pull_of_row(u, i, x);
        *loss += pull * x[i];
        if (gradient) gradient[i] += 2 * pull;
    }
}

double db_unknown_near(const db_unknowns *u, size_t i) {
    const double bound[2] = { fabs(u->lower[i]), fabs(u->upper[i]) };
    double near = 1e-6 * u->scale[i];
    for (int k = 0; k < 2; k++)
        if (bound[k] > 0) near = fmin(near, 1e-3 * bound[k]);
    return near;
}

int db_unknown_held(const db_unknowns *u, size_t i, double value, double slope) {
    const double near = db_unknown_near(u, i);
    if (value <= u->lower[i] + near && slope > 0) return -1;
    return value >= u->upper[i] - near && slope < 0;
}

db_status db_farthest_block(const db_objective *objective, double *pixels) {
    const db_detector *const detector = &objective->experiment.detector;
    db_fit_geometry geometry;
    *pixels = 0;
    DB_TRY(db_fit_geometry_of(objective->context, &objective->experiment, &geometry));
    for (size_t b = 0; b < objective->blocks.count; b++) {
        const db_region *const r = &objective->blocks.region[b];
        const double at[3] = { r->fast_start + 0.5 * r->fast_count,
                               r->slow_start + 0.5 * r->slow_count, 1 };
        double place[3];
        db_apply(geometry.panel[r->panel].position, at, place);
        const double along = db_dot(place, geometry.direction);
        for (int i = 0; i < 3; i++) place[i] -= along * geometry.direction[i];
        *pixels = fmax(*pixels, db_length(place) / detector->panels[r->panel].pixel_size[0]);
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

double db_longest_step(const db_objective *objective, const db_fit_parameter *parameter,
                       double farthest, double most) {
    const db_experiment *const e = &objective->experiment;
    const double shift = 0.5 * fmax(2, objective->settings->shoebox_half_width);
    const double turn = shift / fmax(farthest, 1); /* radian; relative */
    const double value = db_parameter_get(e, parameter->parameter),
                 pixel = e->detector.panels[0].pixel_size[0];
    switch (db_facts_of(parameter->parameter)->lever) {
    case DB_LEVER_NONE: return most;
    case DB_LEVER_STRETCH: return fmin(most, turn * value);
    case DB_LEVER_TURN: return fmin(most, turn / DB_DEGREE);
    case DB_LEVER_BEAM:
        return fmin(most, 500 * shift / hypot(farthest, e->detector.distance / pixel));
    case DB_LEVER_SHIFT: return fmin(most, shift * pixel);
    case DB_LEVER_SIZE: return fmin(most, 0.5 * value);
    }
    return most;
}
