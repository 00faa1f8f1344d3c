/* Frames of a series, opened together. */
#include "fit/series/series.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Knots of a quantity that varies: evenly from the first to the last shot. */
static size_t knot_count(const db_shots *all) {
    const double intervals = round((double)(all->count - 1) / all->options->knots);
    return 1 + (size_t)fmin(fmax(1, intervals), fmax(1, (double)all->count - 1));
}

/* Values of a local quantity: at knots, or of every frame. */
static size_t values_of(const db_series *s, size_t local) {
    return s->all->varies[s->order.index[s->order.shared + local]] ? knot_count(s->all) : s->count;
}

/* The two knots beside a frame, by weight, or the frame's own value. first: the unknown of the
 * quantity's first value. Returns how many. */
static size_t link_local(const db_series *s, size_t frame, size_t local, size_t first,
                         db_frame_link *link) {
    const size_t at = s->order.shared + local, variable = s->order.variable[at];
    const size_t count = values_of(s, local);
    if (!s->all->varies[s->order.index[at]]) {
        *link = (db_frame_link){ variable, first + frame, 1 };
        return 1;
    }
    const double place =
        (double)s->shot[frame] * (double)(count - 1) / fmax(1, (double)s->all->count - 1);
    const size_t knot = (size_t)fmin(floor(place), (double)count - 2);
    const double beyond = place - (double)knot;
    link[0] = (db_frame_link){ variable, first + knot, 1 - beyond };
    link[1] = (db_frame_link){ variable, first + knot + 1, beyond };
    return 2;
}

static void link_frames(db_series *s) {
    db_frame_link *next = s->link;
    for (size_t k = 0; k < s->count; k++) {
        size_t first = s->order.shared;
        s->frame[k] = (db_frame){ .objective = &s->open[k].objective,
                                  .number = s->shot[k],
                                  .reflection = s->open[k].pixels.boxes.reflection,
                                  .link = next };
        for (size_t i = 0; i < s->order.shared; i++)
            *next++ = (db_frame_link){ s->order.variable[i], i, 1 };
        for (size_t l = 0; l < s->order.local; l++) {
            next += link_local(s, k, l, first, next);
            first += values_of(s, l);
        }
        s->frame[k].link_count = (size_t)(next - s->frame[k].link);
    }
}

size_t db_series_parts(const db_series *s, size_t frame, size_t local,
                       const db_frame_link *part[2]) {
    const size_t variable = s->order.variable[s->order.shared + local];
    size_t count = 0;
    for (size_t l = 0; l < s->frame[frame].link_count; l++)
        if (s->frame[frame].link[l].variable == variable) part[count++] = &s->frame[frame].link[l];
    return count;
}

void db_series_set_local(const db_series *s, const double *value) {
    for (size_t k = 0; k < s->count; k++)
        for (size_t l = 0; l < s->order.local; l++) {
            const db_frame_link *part[2];
            const size_t parts = db_series_parts(s, k, l, part);
            double *const own = &s->all->state[s->shot[k]].best.local[l];
            *own = 0;
            for (size_t p = 0; p < parts; p++) *own += part[p]->weight * value[part[p]->unknown];
        }
}

/* The value at a knot begins with that of the frame nearest to it. */
static void start_local(db_series *s) {
    for (size_t l = 0; l < s->order.local; l++) {
        const size_t variable = s->order.variable[s->order.shared + l];
        for (size_t k = 0; k < s->count; k++) {
            const db_variables *const v = &s->open[k].objective.variables;
            const db_frame_link *part[2];
            const size_t parts = db_series_parts(s, k, l, part);
            for (size_t p = 0; p < parts; p++) {
                db_series_unknown *const u = &s->unknown[part[p]->unknown];
                if (u->index != s->all->parameters && part[p]->weight < 0.5) continue;
                *u = (db_series_unknown){ s->order.index[s->order.shared + l],
                                          s->all->state[s->shot[k]].best.local[l],
                                          v->lower[variable],
                                          v->upper[variable],
                                          v->centre[variable],
                                          v->sigma[variable] };
            }
        }
    }
}

/* Knots that only frames left aside would touch stay where the nearest of the others begins. */
static void start_bare_knots(db_series *s) {
    const size_t none = s->all->parameters;
    size_t first = s->order.shared;
    for (size_t l = 0; l < s->order.local; l++) {
        const size_t end = first + values_of(s, l);
        for (size_t u = first; u < end; u++) {
            size_t near = u;
            if (s->unknown[u].index != none) continue;
            for (size_t away = 1; near == u && away < end - first; away++)
                if (u >= first + away && s->unknown[u - away].index != none)
                    near = u - away;
                else if (u + away < end && s->unknown[u + away].index != none)
                    near = u + away;
            s->unknown[u] = s->unknown[near];
            s->unknown[u].lower = s->unknown[u].upper = s->unknown[u].start;
        }
        first = end;
    }
}

/* Scales of frames are relative to that of the first, since intensities are free. */
static void hold_first_scale(db_series *s) {
    for (size_t l = 0; l < s->order.local && s->count; l++) {
        const size_t index = s->order.index[s->order.shared + l];
        const db_frame_link *part[2] = { NULL };
        if (s->all->settings.parameters[index].parameter != DB_SCALE) continue;
        const size_t parts = db_series_parts(s, 0, l, part);
        if (!parts) continue;
        const size_t nearest = parts == 2 && part[1]->weight > part[0]->weight;
        db_series_unknown *const u = &s->unknown[part[nearest]->unknown];
        u->lower = u->upper = u->start;
    }
}

static void start_shared(db_series *s) {
    const db_variables *const v = &s->open[0].objective.variables;
    for (size_t i = 0; i < s->order.shared; i++) {
        const db_fit_parameter *const p = &s->all->settings.parameters[s->order.index[i]];
        const size_t variable = s->order.variable[i];
        const double lower = fmax(v->lower[variable], p->lower),
                     upper = fmin(v->upper[variable], p->upper);
        s->unknown[i] =
            (db_series_unknown){ s->order.index[i],
                                 fmin(fmax(s->all->common[s->order.index[i]], lower), upper),
                                 lower,
                                 upper,
                                 p->prior[0],
                                 p->prior[1] };
    }
}

static db_status allocate(db_series *s) {
    const size_t links = s->order.shared + 2 * s->order.local;
    s->unknowns = s->order.shared;
    for (size_t l = 0; l < s->order.local; l++) s->unknowns += values_of(s, l);
    if (s->unknowns > DB_FIT_MOST_PARAMETERS)
        return db_fail(s->all->context, DB_ERROR_UNSUPPORTED,
                       "a series of %zu frames has %zu unknowns, of which at most %d can be "
                       "refined: expected fewer knots (shots.knots), or more that frames share",
                       s->count, s->unknowns, (int)DB_FIT_MOST_PARAMETERS);
    s->unknown = calloc(s->unknowns + 1, sizeof *s->unknown);
    s->frame = calloc(s->count + 1, sizeof *s->frame);
    s->link = calloc(s->count * links + 1, sizeof *s->link);
    for (size_t u = 0; u < s->unknowns && s->unknown; u++)
        s->unknown[u].index = s->all->parameters; /* none yet */
    return s->unknown && s->frame && s->link ? DB_OK : db_fail_memory(s->all->context, "a series");
}

static db_status open_frames(db_series *s) {
    db_shots *const all = s->all;
    s->shot = calloc(all->count + 1, sizeof *s->shot);
    s->open = calloc(all->count + 1, sizeof *s->open);
    if (!s->shot || !s->open) return db_fail_memory(all->context, "the frames of a series");
    for (size_t i = 0; i < all->count; i++) {
        if (!all->summary[i].used) continue;
        s->shot[s->count] = i;
        DB_TRY(db_open_shot_create(all, all->context, i, s->stage, &s->order, &s->open[s->count]));
        s->count++;
    }
    return DB_OK;
}

db_status db_series_open(db_shots *all, int stage, db_series *series) {
    memset(series, 0, sizeof *series);
    series->all = all;
    series->stage = stage;
    series->order = db_arrow_order_make(&all->settings, stage, all->shared);
    db_status status = open_frames(series);
    if (status == DB_OK) status = allocate(series);
    if (status == DB_OK) {
        link_frames(series);
        start_shared(series);
        start_local(series);
        start_bare_knots(series);
        hold_first_scale(series);
        status = db_frames_make(all->context, series->frame, series->count, series->unknowns,
                                &series->frames);
    }
    if (status != DB_OK) db_series_close(series);
    return status;
}

void db_series_close(db_series *series) {
    db_frames_clear(&series->frames);
    for (size_t k = 0; k < series->count; k++) db_open_shot_destroy(&series->open[k]);
    free(series->shot);
    free(series->open);
    free(series->frame);
    free(series->link);
    free(series->unknown);
    memset(series, 0, sizeof *series);
}
