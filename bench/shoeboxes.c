#include "bench/shoeboxes.h"

#include "base/context_internal.h"

#include <dualbragg/spots.h>

#include <math.h>
#include <stdlib.h>

static int brightest_first(const void *left, const void *right) {
    const db_spot *a = left, *b = right;
    if (a->photons != b->photons) return a->photons < b->photons ? 1 : -1;
    for (int i = 0; i < 3; i++)
        if (a->hkl[i] != b->hkl[i]) return a->hkl[i] - b->hkl[i];
    return 0;
}

/* 1 if a box is on the panel and apart from all others. */
static int fits(const db_bench_boxes *boxes, const db_panel *panel, const db_region *box) {
    if (box->fast_start < 0 || box->fast_start + box->fast_count > panel->fast_pixels ||
        box->slow_start < 0 || box->slow_start + box->slow_count > panel->slow_pixels)
        return 0;
    for (size_t i = 0; i < boxes->count; i++)
        if (abs(boxes->region[i].fast_start - box->fast_start) < box->fast_count &&
            abs(boxes->region[i].slow_start - box->slow_start) < box->slow_count)
            return 0;
    return 1;
}

db_status db_bench_boxes_predict(db_context *context, const db_experiment *experiment, int box,
                                 size_t most, db_bench_boxes *boxes) {
    const db_panel *panel = &experiment->detector.panels[0];
    db_predicted_spots spots;
    *boxes = (db_bench_boxes){ 0 };
    DB_TRY(db_spots_predict(context, experiment, NULL, &spots));
    boxes->region = calloc(most, sizeof *boxes->region);
    if (boxes->region) qsort(spots.spot, spots.count, sizeof *spots.spot, brightest_first);
    for (size_t i = 0; boxes->region && i < spots.count && boxes->count < most; i++) {
        const double *at = spots.spot[i].position;
        const db_region made = { .fast_start = (int)floor(at[0]) - box / 2,
                                 .slow_start = (int)floor(at[1]) - box / 2,
                                 .fast_count = box,
                                 .slow_count = box,
                                 .offset = boxes->count * (size_t)box * (size_t)box,
                                 .stride = (size_t)box };
        if (fits(boxes, panel, &made)) boxes->region[boxes->count++] = made;
    }
    db_predicted_spots_clear(&spots);
    return boxes->region ? DB_OK : db_fail_memory(context, "shoeboxes");
}
