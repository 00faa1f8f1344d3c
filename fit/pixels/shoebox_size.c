/* Open sizes of shoeboxes, sub-pixels, and tolerances of their pixels. */
#include "fit/pixels/shoeboxes.h"

#include "base/context_internal.h"
#include "base/quantile.h"

#include <dualbragg/spots.h>
#include <dualbragg/expert/spot_places.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 2,
    MOST = 20, /* largest half width, for wide spots in closed form */
    MOST_WIDTH = 2 * MOST + 1,
    SAMPLE = 500, /* reflections in the sample, evenly along the list */
    FEWEST = 10,  /* fewer boxes have the usual size */
    EXCITED = 64  /* reflections whose peaks are used */
};

/* Adds 1 to enough[w] if the middle (2w + 1)^2 pixels of a box of half width `most` have enough pixels. */
static void try_widths(int most, const uint8_t *own, size_t enough[MOST + 1]) {
    size_t at_distance[MOST + 1] = { 0 }, count = 0;
    for (int s = -most; s <= most; s++)
        for (int f = -most; f <= most; f++)
            at_distance[abs(s) > abs(f) ? abs(s) : abs(f)] +=
                own[(s + most) * (2 * most + 1) + f + most];
    for (int w = 0; w <= most; w++) {
        count += at_distance[w];
        enough[w] += (double)count >= DB_SHOEBOX_USABLE * (2 * w + 1) * (2 * w + 1);
    }
}

/* Half width that contains three standard deviations of nine of ten spots and a pixel of background; at least the
 * usual one, because a start may not know the spreads. */
static int widest_wanted(const db_predicted_spots *prediction, double *deviation) {
    const size_t step = prediction->count / SAMPLE + 1;
    size_t count = 0;
    for (size_t i = 0; i < prediction->count; i += step) {
        const double *const v = prediction->spot[i].covariance;
        deviation[count++] = sqrt(fmax(v[0], v[1]));
    }
    if (count < FEWEST) return DB_SHOEBOX_USUAL;
    const double wanted = ceil(3 * db_ranked(deviation, count, count * 9 / 10)) + 1;
    return wanted > MOST ? MOST : wanted > DB_SHOEBOX_USUAL ? (int)wanted : DB_SHOEBOX_USUAL;
}

static int largest(const db_reflection_grid *grid, const db_detector *detector, int most) {
    const db_predicted_spots *const prediction = grid->prediction;
    const size_t step = prediction->count / SAMPLE + 1;
    size_t enough[MOST + 1] = { 0 }, tried = 0;
    for (size_t i = 0; i < prediction->count; i += step) {
        const db_region box = db_shoebox_square(&prediction->spot[i], most);
        uint8_t own[MOST_WIDTH * MOST_WIDTH];
        const db_panel *const panel = &detector->panels[box.panel];
        if (!db_is_on_panel(&box, panel->fast_pixels, panel->slow_pixels)) continue;
        memset(own, 1, sizeof own);
        db_reflection_grid_share(grid, i, &box, own);
        try_widths(most, own, enough);
        tried++;
    }
    int w = most;
    while (tried >= FEWEST && w > LEAST && 10 * enough[w] < 9 * tried) w--;
    return w;
}

static db_status choose_size(db_context *context, const db_detector *detector,
                             const db_predicted_spots *prediction, int *half_width) {
    db_reflection_grid grid;
    double deviation[SAMPLE + 1];
    const int most = widest_wanted(prediction, deviation);
    DB_TRY(db_reflection_grid_make(context, prediction, detector, db_shoebox_sharing_distance(most),
                                   &grid));
    *half_width = largest(&grid, detector, most);
    db_reflection_grid_clear(&grid);
    return DB_OK;
}

db_status db_shoebox_size_predict(db_context *context, const db_experiment *experiment,
                                  db_fit_settings *settings, db_predicted_spots *prediction) {
    const db_prediction_range range = { settings->dmin, settings->dmax, settings->excitation_angle,
                                        settings->centring };
    *prediction = (db_predicted_spots){ 0, NULL };
    if (settings->spots && settings->spots->listing == DB_FIT_LISTED_BY_BOX)
        settings->shoebox_half_width = db_given_boxes_half_width(settings->spots);
    if (settings->shoebox_half_width > 0) return DB_OK;
    DB_TRY(db_predict(context, experiment, &range, prediction));
    const db_status status =
        choose_size(context, &experiment->detector, prediction, &settings->shoebox_half_width);
    if (status != DB_OK) db_predicted_spots_clear(prediction);
    return status;
}

db_status db_shoebox_size_choose(db_context *context, const db_experiment *experiment,
                                 db_fit_settings *settings) {
    db_predicted_spots prediction;
    DB_TRY(db_shoebox_size_predict(context, experiment, settings, &prediction));
    db_predicted_spots_clear(&prediction);
    return DB_OK;
}

db_status db_fit_oversample(db_context *context, const db_predicted_spots *spots, double error,
                            int *oversample) {
    const double error_of_sum = 1e-3; /* less than errors of intensities by anything else */
    const int most = 16;
    double width;
    int sums;
    DB_TRY(db_spots_oversample(context, spots, error, oversample, &width));
    DB_TRY(db_spots_oversample_for_sums(context, spots, error_of_sum, most, &sums));
    if (*oversample < sums) *oversample = sums;
    return DB_OK;
}

db_status db_shoeboxes_oversample(db_context *context, const db_shoeboxes *boxes, double error,
                                  int *oversample) {
    db_predicted_spots spots = { .spot = calloc(boxes->count + 1, sizeof *spots.spot) };
    if (!spots.spot) return db_fail_memory(context, "the widths of spots");
    for (size_t b = 0; b < boxes->count; b++) {
        const double *const covariance = boxes->reflection[b].covariance;
        if (covariance[0] > 0)
            memcpy(spots.spot[spots.count++].covariance, covariance, 3 * sizeof *covariance);
    }
    const db_status status = db_fit_oversample(context, &spots, error, oversample);
    db_predicted_spots_clear(&spots);
    return status;
}

/* Names well excited reflections of the boxes; returns their number. */
static size_t name_excited(const db_shoeboxes *boxes, db_spot *spot) {
    const double least = 0.3; /* recorded fraction */
    size_t count = 0, named = 0;
    for (size_t b = 0; b < boxes->count; b++) count += boxes->reflection[b].recorded > least;
    const size_t step = count / EXCITED + 1;
    count = 0;
    for (size_t b = 0; b < boxes->count; b++) {
        const db_spot *const r = &boxes->reflection[b];
        if (!(r->recorded > least) || count++ % step) continue;
        spot[named] = (db_spot){ .panel = r->panel };
        memcpy(spot[named++].hkl, r->hkl, sizeof r->hkl);
    }
    return named;
}

db_status db_shoeboxes_tolerance(db_context *context, const db_experiment *experiment,
                                 const db_shoeboxes *boxes, double *tolerance) {
    static const double part = 1e-5, two_pi = 6.283185307179586;
    db_spot spot[EXCITED];
    double peak[EXCITED];
    size_t count = 0;
    *tolerance = 0;
    if (experiment->spread.spots != DB_SPOTS_CLOSED) return DB_OK;
    const size_t named = name_excited(boxes, spot);
    DB_TRY(db_spots_place(context, experiment, 1, spot, named));
    for (size_t i = 0; i < named; i++) {
        const double *const c = spot[i].covariance;
        const double area = two_pi * sqrt(c[0] * c[1] - c[2] * c[2]);
        if (spot[i].photons > 0 && area > 0) peak[count++] = spot[i].photons / area;
    }
    if (count) *tolerance = part * db_ranked(peak, count, count / 10);
    return DB_OK;
}
