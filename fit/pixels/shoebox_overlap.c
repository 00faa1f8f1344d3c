/* Pixels of shoeboxes with light of other reflections. */
#include "fit/pixels/shoeboxes.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/pixels/rendering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEGLIGIBLE =
    1e-3; /* foreign light, relative to the highest pixel of the reflection */
static const double LEAST_LIGHT = 0.5; /* least fraction of a spot in the remaining pixels */
enum { LEAST_PIXELS = 20 };

static double highest_of(const db_shoeboxes *boxes, size_t box, const float *own) {
    double highest = 0;
    for (size_t i = box * boxes->pixels; i < (box + 1) * boxes->pixels; i++)
        highest = fmax(highest, (double)own[i]);
    return highest;
}

/* Highest pixel of a fully recorded reflection (90th percentile of the boxes). */
static double highest_of_whole(const db_shoeboxes *boxes, const float *own, double *room) {
    for (size_t b = 0; b < boxes->count; b++) room[b] = highest_of(boxes, b, own);
    return db_ranked(room, boxes->count, boxes->count * 9 / 10);
}

/* Marks the remaining pixels of a box; returns whether they are enough. least: least highest pixel for comparing
 * foreign light. */
static int clear_pixels(const db_shoeboxes *boxes, size_t box, double least, const float *own,
                        const float *all, uint8_t *left) {
    const size_t first = box * boxes->pixels;
    const double highest = fmax(least, highest_of(boxes, box, own));
    double light = 0, kept = 0;
    size_t count = 0;
    for (size_t i = first; i < first + boxes->pixels; i++) light += (double)own[i];
    for (size_t i = first; i < first + boxes->pixels; i++) {
        const double foreign = (double)all[i] - (double)own[i];
        left[i] = boxes->own[i] && foreign <= NEGLIGIBLE * highest;
        if (!left[i]) continue;
        kept += (double)own[i];
        count++;
    }
    return count >= LEAST_PIXELS && kept >= LEAST_LIGHT * light && highest > 0;
}

static void exclude_pixels(const uint8_t *enough, const uint8_t *left, db_shoeboxes *boxes) {
    size_t count = 0;
    for (size_t i = 0; i < boxes->count * boxes->pixels; i++) {
        boxes->own[i] = left[i];
        boxes->strong[i] = boxes->strong[i] && left[i];
    }
    for (size_t b = 0; b < boxes->count; b++)
        if (enough[b]) db_shoeboxes_move(boxes, b, count++);
    boxes->count = count;
}

/* Results for the boxes. */
typedef struct lights {
    float *own;      /* light of each box's own reflection */
    float *all;      /* of all reflections */
    uint8_t *left;   /* remaining pixels */
    uint8_t *enough; /* remaining boxes */
    double *room;    /* room for a number of each box */
    int (*hkl)[3];   /* of each box */
} lights;

static db_status choose_pixels(db_context *context, const db_experiment *experiment,
                               const db_fit_settings *settings, size_t fewest, lights *l,
                               db_shoeboxes *boxes) {
    db_experiment unit;
    size_t count = 0;
    DB_TRY(db_experiment_unit_amplitudes(context, experiment, &unit));
    for (size_t b = 0; b < boxes->count; b++)
        memcpy(l->hkl[b], boxes->reflection[b].hkl, sizeof l->hkl[b]);
    const int(*const hkl)[3] = (const int(*)[3])l->hkl;
    double tolerance;
    db_status status = db_shoeboxes_tolerance(context, &unit, boxes, &tolerance);
    tolerance *= 10; /* a tenth of negligible light */
    if (status == DB_OK)
        status = db_render_regions(context, &unit, settings, boxes->region, boxes->count, NULL,
                                   tolerance, l->all);
    if (status == DB_OK)
        status = db_render_regions(context, &unit, settings, boxes->region, boxes->count, hkl,
                                   tolerance, l->own);
    db_experiment_clear(&unit);
    DB_TRY(status);
    const double least = boxes->holds_parts ? highest_of_whole(boxes, l->own, l->room) : 0;
    for (size_t b = 0; b < boxes->count; b++)
        count += l->enough[b] = (uint8_t)clear_pixels(boxes, b, least, l->own, l->all, l->left);
    if (count >= fewest) exclude_pixels(l->enough, l->left, boxes);
    return DB_OK;
}

db_status db_overlap_exclude(db_context *context, const db_experiment *experiment,
                             const db_fit_settings *settings, size_t fewest, db_shoeboxes *boxes) {
    const size_t pixels = boxes->count * boxes->pixels;
    if (!boxes->count) return DB_OK;
    lights l = { calloc(pixels, sizeof *l.own),
                 calloc(pixels, sizeof *l.all),
                 calloc(pixels, 1),
                 calloc(boxes->count, 1),
                 calloc(boxes->count, sizeof *l.room),
                 calloc(boxes->count, sizeof *l.hkl) };
    const db_status status = l.own && l.all && l.left && l.enough && l.room && l.hkl
                                 ? choose_pixels(context, experiment, settings, fewest, &l, boxes)
                                 : db_fail_memory(context, "the overlaps of the shoeboxes");
    free(l.own);
    free(l.all);
    free(l.left);
    free(l.enough);
    free(l.room);
    free(l.hkl);
    return status;
}
