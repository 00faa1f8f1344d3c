/* Finding the orientation of a crystal on an image. */
#include "base/context_internal.h"
#include "fit/search/check_settings.h"
#include "fit/config/misset.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"
#include "fit/search/orientation_search.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST = 400, /* strongest spots, which count */
    FEWEST = 5
};
static const double pixels_off = 1.5; /* of a spot's centroid, error of the beam centre included */

/* Least part of the spots to be indexed beyond chance: another crystal's lattice may agree in a row
 * or a layer of nodes. */
static const double least_part = 0.1;

typedef struct spot_list {
    size_t count;
    db_search_spot *spot;
} spot_list;

static int stronger_first(const void *a, const void *b) {
    const double x = ((const db_search_spot *)a)->counts, y = ((const db_search_spot *)b)->counts;
    return (x < y) - (x > y);
}

static int lower_angle_first(const void *a, const void *b) {
    const double x = ((const db_search_spot *)a)->length, y = ((const db_search_spot *)b)->length;
    return (x > y) - (x < y);
}

/* Where a spot is in reciprocal space. */
static db_search_spot spot_of(const db_fit_geometry *geometry, const db_observed_spot *seen) {
    db_search_spot s = { .counts = seen->counts };
    double beside[3];
    const double next[2] = { seen->position[0] + pixels_off, seen->position[1] };
    db_fit_geometry_scattering(geometry, seen->panel, seen->position, s.q);
    db_fit_geometry_scattering(geometry, seen->panel, next, beside);
    for (int i = 0; i < 3; i++) beside[i] -= s.q[i];
    s.length = db_length(s.q);
    s.blur = db_length(beside);
    return s;
}

static db_status list_spots(db_context *context, const db_fit_geometry *geometry,
                            const db_fit_settings *settings, const db_observed_spots *seen,
                            spot_list *list) {
    list->spot = malloc((seen->count + 1) * sizeof *list->spot);
    if (!list->spot) return db_fail_memory(context, "the spots of the search for the orientation");
    for (size_t i = 0; i < seen->count; i++) {
        const db_search_spot one = spot_of(geometry, &seen->spot[i]);
        const double d = 1 / one.length;
        if (d >= settings->dmin && (!(settings->dmax > 0) || d <= settings->dmax))
            list->spot[list->count++] = one;
    }
    qsort(list->spot, list->count, sizeof *list->spot, stronger_first);
    if (list->count > MOST) list->count = MOST;
    qsort(list->spot, list->count, sizeof *list->spot, lower_angle_first);
    return DB_OK;
}

/* Turns the crystal on its goniometer, which stands in the middle of its range: converts a turn in
 * the laboratory to one of the crystal at angle 0. */
static void turn_crystal(const db_experiment *experiment, const double turn[9],
                         db_crystal *crystal) {
    const double phi = db_goniometer_middle(experiment, NULL) * 0.017453292519943295769;
    double axis[3];
    double turned[9];
    db_experiment_spindle_axis(experiment, axis);
    db_misset_fold(crystal);
    db_turn_columns(axis, phi, crystal->orientation);
    db_multiply(turn, crystal->orientation, turned);
    db_turn_columns(axis, -phi, turned);
    memcpy(crystal->orientation, turned, sizeof turned);
}

static db_status search_in(db_context *context, const db_fit_settings *settings,
                           const db_observed_spots *seen, db_experiment *experiment,
                           db_fit_orientation *found) {
    db_fit_geometry geometry;
    spot_list list = { 0, NULL };
    db_agreement agreement;
    double turn[9];
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    db_status status = list_spots(context, &geometry, settings, seen, &list);
    if (status == DB_OK)
        status = db_orientation_search(context, geometry.a_star, list.spot, list.count, turn,
                                       &agreement);
    free(list.spot);
    db_fit_geometry_clear(&geometry);
    DB_TRY(status);
    *found = (db_fit_orientation){ agreement.count, agreement.near, agreement.by_chance,
                                   db_agreement_log_probability(&agreement) };
    if (list.count < FEWEST)
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: the image has %zu in the resolution range (data.strong_sigma %g), and the "
            "search for the orientation needs %d at least",
            list.count ? "too few spots were found" : "no spots were found", list.count,
            settings->strong_sigma, FEWEST);
    const double excess = (double)found->indexed - found->by_chance;
    if (found->log_probability > DB_AGREEMENT_SIGNIFICANT ||
        excess < least_part * (double)found->spots)
        return db_fail(
            context, DB_ERROR_INPUT,
            "no orientation of the cell explains the spots: the best one has %zu of %zu "
            "near its nodes, where chance would bring %.1f; expected a cell right to 0.5 %%, "
            "a beam centre right to 2 pixels, and spots of one crystal",
            found->indexed, found->spots, found->by_chance);
    turn_crystal(experiment, turn, &experiment->crystal);
    return DB_OK;
}

db_status db_fit_find_orientation(db_context *context, const db_measured_image *image,
                                  const db_fit_settings *settings, db_experiment *experiment,
                                  db_fit_orientation *found) {
    db_strong_pixels strong;
    db_observed_spots seen;
    memset(found, 0, sizeof *found);
    DB_TRY(db_fit_check_data(context, experiment, image, settings));
    DB_TRY(db_strong_pixels_find(context, image, settings, &strong));
    db_status status = db_observed_spots_find(context, image, &strong, &seen);
    db_strong_pixels_clear(&strong);
    DB_TRY(status);
    status = search_in(context, settings, &seen, experiment, found);
    db_observed_spots_clear(&seen);
    return status;
}
