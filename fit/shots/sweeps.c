/* Sweeps of a series: runs of frames on which the crystal turns on, on one setting of the goniometer. */
#include "fit/shots/sweeps.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/workers.h"

#include <stdlib.h>
#include <string.h>

/* How the crystal stands and turns on a frame. */
typedef struct turning {
    double frame[3], axis[3], phi, width;
} turning;

static turning turning_of(const db_experiment *e) {
    turning t = { .phi = e->goniometer.phi,
                  .width = e->goniometer.phi_step * e->goniometer.phi_steps };
    memcpy(t.frame, e->crystal.misset_frame, sizeof t.frame);
    memcpy(t.axis, e->goniometer.spindle_axis, sizeof t.axis);
    return t;
}

/* Is a frame of the sweep of the one before: on the same setting of the goniometer, farther on the way on which it
 * turns? */
static int is_of_sweep(const turning *before, const turning *next) {
    const double same = 0.5;    /* degree */
    const double farther = 0.5; /* of the width of a frame */
    int is_set = db_dot(before->axis, next->axis) > cos(same * DB_DEGREE);
    const double way = next->width < 0 ? -1 : 1, on = way * (next->phi - before->phi);
    for (int i = 0; i < 3; i++)
        is_set &= fabs(remainder(next->frame[i] - before->frame[i], 360)) <= same;
    return is_set && (on > farther * fabs(next->width) || next->width == 0);
}

db_status db_sweeps_find(db_shots *all) {
    size_t *const bytes = calloc(all->count + 1, sizeof *bytes);
    void **const item = calloc(all->count + 1, sizeof *item);
    if (!all->sweep) all->sweep = calloc(all->count + 1, sizeof *all->sweep);
    db_status status = bytes && item && all->sweep ? DB_OK : db_fail_memory(all->context, "sweeps");
    for (size_t k = 0; k < all->count && status == DB_OK && bytes && item; k++) {
        if (!db_shots_own(all, k) || !all->summary[k].used) continue;
        turning *const own = malloc(sizeof *own);
        if (!own) {
            status = db_fail_memory(all->context, "sweeps");
            break;
        }
        *own = turning_of(&all->state[k].start);
        item[k] = own;
        bytes[k] = sizeof *own;
    }
    status = db_workers_common_status(all, status);
    if (status == DB_OK && bytes && item) status = db_records_gather(all, bytes, item, 1);
    const turning *before = NULL;
    for (size_t k = 0; k < all->count && item && status == DB_OK; k++) {
        const turning *const next = item[k];
        if (k > 0) all->sweep[k] = all->sweep[k - 1];
        if (next && before && !is_of_sweep(before, next)) all->sweep[k]++;
        if (next) before = next;
    }
    for (size_t k = 0; k < all->count && item; k++) free(item[k]);
    free(item);
    free(bytes);
    return status;
}
