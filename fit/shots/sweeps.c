/* Sweeps of a series: runs of frames on which a crystal turns on, on one setting of the goniometer. */
#include "fit/shots/series.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"
#include "fit/config/orientation.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <stdlib.h>
#include <string.h>

/* How the crystal stands and turns on a frame. */
typedef struct turning {
    double setting[9], axis[3], phi, width;
    int known; /* 0: the frame is not in use */
} turning;

static turning turning_of(const db_experiment *e) {
    turning t = { .known = 1,
                  .phi = e->goniometer.phi,
                  .width = e->goniometer.phi_step * e->goniometer.phi_steps };
    db_orientation_setting(&e->crystal, t.setting);
    memcpy(t.axis, e->goniometer.spindle_axis, sizeof t.axis);
    return t;
}

/* Is a frame of the sweep of the one before: on the same setting of the goniometer, farther on the way on which it
 * turns? */
static int is_of_sweep(const turning *before, const turning *next) {
    const double same = 0.5;    /* degree */
    const double farther = 0.5; /* of the width of a frame */
    const int is_set = db_dot(before->axis, next->axis) > cos(same * DB_DEGREE) &&
                       db_orientation_between(next->setting, before->setting) < same;
    const double way = next->width < 0 ? -1 : 1, on = way * (next->phi - before->phi);
    return is_set && (on > farther * fabs(next->width) || next->width == 0);
}

/* Least turn between frames in use of a sweep, from frame `first` on; *end: gets the frame behind it. */
static double least_step(const db_shots *all, const turning *list, size_t first, size_t *end) {
    const turning *before = NULL;
    double least = 0;
    for (*end = first; *end < all->count && all->frames.sweep[*end] == all->frames.sweep[first];
         ++*end) {
        const turning *const next = &list[*end];
        const double step = before && next->known ? fabs(next->phi - before->phi) : 0;
        if (step > 0 && !(least > 0 && least <= step)) least = step;
        if (next->known) before = next;
    }
    return least;
}

static void find_steps(const db_shots *all, const turning *list) {
    for (size_t first = 0, end; first < all->count; first = end) {
        const double least = least_step(all, list, first, &end);
        for (size_t k = first; k < end; k++) all->frames.step[k] = least;
    }
}

db_status db_sweeps_find(db_shots *all) {
    turning *const list = calloc(all->count + 1, sizeof *list);
    if (!all->frames.sweep) all->frames.sweep = calloc(all->count + 1, sizeof *all->frames.sweep);
    if (!all->frames.step) all->frames.step = calloc(all->count + 1, sizeof *all->frames.step);
    if (!all->frames.is_dark)
        all->frames.is_dark = calloc(all->count + 1, sizeof *all->frames.is_dark);
    db_status status = db_need_memory(
        all->context, list && all->frames.sweep && all->frames.step && all->frames.is_dark,
        "sweeps");
    status = db_workers_common_status(all, status);
    for (size_t k = 0; k < all->count && list; k++)
        if (db_shots_own(all, k) && all->summary[k].used)
            list[k] = turning_of(&all->state[k].start);
    if (status == DB_OK) status = db_records_hear(all, list, sizeof *list);
    if (status == DB_OK)
        status = db_team_broadcast(&all->team, all->context, list, all->count * sizeof *list);
    const turning *before = NULL;
    size_t last = 0;
    for (size_t k = 0; k < all->count && list && status == DB_OK; k++) {
        if (k > 0) all->frames.sweep[k] = all->frames.sweep[k - 1];
        if (!list[k].known) continue;
        const size_t crystal = db_shots_crystal(all, k);
        if (before && (crystal != last || !is_of_sweep(before, &list[k]))) all->frames.sweep[k]++;
        before = &list[k];
        last = crystal;
    }
    if (list && status == DB_OK) find_steps(all, list);
    free(list);
    return status;
}
