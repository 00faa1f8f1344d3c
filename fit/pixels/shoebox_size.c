/* How large shoeboxes are where the settings leave that open. */
#include "fit/pixels/shoeboxes.h"

#include "base/context_internal.h"
#include "fit/pixels/given_boxes.h"
#include "fit/pixels/reflection_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 2,
    WIDTH = 2 * DB_SHOEBOX_USUAL + 1,
    SAMPLE = 500, /* reflections looked at, evenly along the list */
    FEWEST = 10   /* below it, boxes have the usual size */
};

/* Adds to enough[w] whether the middle (2w + 1)^2 pixels of a box would be a box with enough. */
static void try_widths(const uint8_t *own, size_t enough[DB_SHOEBOX_USUAL + 1]) {
    size_t at_distance[DB_SHOEBOX_USUAL + 1] = { 0 }, count = 0;
    for (int s = -DB_SHOEBOX_USUAL; s <= DB_SHOEBOX_USUAL; s++)
        for (int f = -DB_SHOEBOX_USUAL; f <= DB_SHOEBOX_USUAL; f++)
            at_distance[abs(s) > abs(f) ? abs(s) : abs(f)] +=
                own[(s + DB_SHOEBOX_USUAL) * WIDTH + f + DB_SHOEBOX_USUAL];
    for (int w = 0; w <= DB_SHOEBOX_USUAL; w++) {
        count += at_distance[w];
        enough[w] += (double)count >= DB_SHOEBOX_USABLE * (2 * w + 1) * (2 * w + 1);
    }
}

static int largest(const db_reflection_grid *grid, const db_detector *detector) {
    const db_prediction *const prediction = grid->prediction;
    const size_t step = prediction->count / SAMPLE + 1;
    size_t enough[DB_SHOEBOX_USUAL + 1] = { 0 }, tried = 0;
    for (size_t i = 0; i < prediction->count; i += step) {
        const db_region box = db_shoebox_square(&prediction->reflection[i], DB_SHOEBOX_USUAL);
        uint8_t own[WIDTH * WIDTH];
        const db_panel *const panel = &detector->panels[box.panel];
        if (!db_is_on_panel(&box, panel->fast_pixels, panel->slow_pixels)) continue;
        memset(own, 1, sizeof own);
        db_reflection_grid_share(grid, i, &box, own);
        try_widths(own, enough);
        tried++;
    }
    int w = DB_SHOEBOX_USUAL;
    while (tried >= FEWEST && w > LEAST && 10 * enough[w] < 9 * tried) w--;
    return w;
}

static db_status settle(db_context *context, const db_detector *detector,
                        const db_prediction *prediction, int *half_width) {
    db_reflection_grid grid;
    DB_TRY(db_reflection_grid_make(context, prediction, detector,
                                   db_shoebox_sharing_distance(DB_SHOEBOX_USUAL), &grid));
    *half_width = largest(&grid, detector);
    db_reflection_grid_clear(&grid);
    return DB_OK;
}

db_status db_shoebox_size_settle(db_context *context, const db_experiment *experiment,
                                 db_fit_settings *settings) {
    const db_prediction_range range = { settings->dmin, settings->dmax,
                                        settings->excitation_angle };
    db_prediction prediction;
    if (settings->spots && settings->spots->listing == DB_FIT_LISTED_BY_BOX)
        settings->shoebox_half_width = db_given_boxes_half_width(settings->spots);
    if (settings->shoebox_half_width > 0) return DB_OK;
    DB_TRY(db_predict(context, experiment, &range, &prediction));
    const db_status status =
        settle(context, &experiment->detector, &prediction, &settings->shoebox_half_width);
    db_prediction_clear(&prediction);
    return status;
}
