/* Boxes around the spots of a crystal, wide enough for neighbours, each of which is to show its own
 * reflection alone. */
#ifndef DB_TESTS_SUPPORT_SHOWN_REGIONS_H
#define DB_TESTS_SUPPORT_SHOWN_REGIONS_H

#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>

#include <stdlib.h>

enum { MOST_SHOWN = 60 };
typedef struct shown_regions {
    db_region region[MOST_SHOWN];
    int hkl[MOST_SHOWN][3];
    size_t count, pixels;
} shown_regions;

/* half: of their widths */
static inline shown_regions shown_regions_of(db_context *context, const db_experiment *scene,
                                             int half) {
    db_experiment closed = *scene; /* borrows all lists */
    db_predicted_spots spots;
    shown_regions shown = { .count = 0 };
    const db_panel *panel = &scene->detector.panels[0];
    closed.spread.spots = DB_SPOTS_CLOSED;
    closed.goniometer.phi_steps = closed.crystal.mosaic_domains = 1;
    if (!(closed.spread.mosaic > 0)) closed.spread.mosaic = 0.3;
    assert_int_equal(db_spots_predict(context, &closed, NULL, &spots), DB_OK);
    for (size_t i = 0; i < spots.count && shown.count < MOST_SHOWN; i++) {
        const int fast = (int)spots.spot[i].position[0] - half,
                  slow = (int)spots.spot[i].position[1] - half;
        db_region *r = &shown.region[shown.count];
        *r = (db_region){ .fast_start = fast > 0 ? fast : 0, .slow_start = slow > 0 ? slow : 0 };
        r->fast_count = 2 * half + (i % 3 == 0); /* lanes along rows, and across them */
        r->slow_count = 2 * half - 1;
        if (r->fast_start + r->fast_count > panel->fast_pixels)
            r->fast_count = panel->fast_pixels - r->fast_start;
        if (r->slow_start + r->slow_count > panel->slow_pixels)
            r->slow_count = panel->slow_pixels - r->slow_start;
        r->offset = shown.pixels;
        r->stride = (size_t)r->fast_count;
        shown.pixels += r->stride * (size_t)r->slow_count;
        for (int j = 0; j < 3; j++) shown.hkl[shown.count][j] = spots.spot[i].hkl[j];
        shown.count++;
    }
    db_predicted_spots_clear(&spots);
    assert_true(shown.count > 4);
    return shown;
}

static inline db_plan_options shown_options(const shown_regions *shown, db_precision precision) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = precision;
    options.regions = shown->region;
    options.region_count = shown->count;
    options.reflections = *shown->hkl;
    return options;
}

/* Their pixels, by a plan of these options; to be freed. */
static inline float *shown_pixels(db_context *context, const db_experiment *scene,
                                  const db_plan_options *options, const shown_regions *shown) {
    float *const pixels = calloc(shown->pixels, sizeof *pixels);
    db_plan *plan;
    assert_non_null(pixels);
    assert_int_equal(db_plan_create(context, scene, options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, pixels), DB_OK);
    db_plan_destroy(&plan);
    return pixels;
}

#endif
