/* Spots of an image as points of reciprocal space. */
#include "fit/search/search_spots.h"

#include "base/context_internal.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pixels_off = 1.5; /* error of a spot's centroid, beam centre included */

static int stronger_first(const void *a, const void *b) {
    const double x = ((const db_search_spot *)a)->counts, y = ((const db_search_spot *)b)->counts;
    return (x < y) - (x > y);
}

static int lower_angle_first(const void *a, const void *b) {
    const double x = ((const db_search_spot *)a)->length, y = ((const db_search_spot *)b)->length;
    return (x > y) - (x < y);
}

/* Slope of q by the distance. If a detector across the beam is farther by a fraction e, ray s1 becomes s1 + e
 * (s1.z) z with the same length. */
static void slope_by_distance(const db_fit_geometry *geometry, const double q[3], double slope[3]) {
    const double *const z = geometry->direction, length = db_length(geometry->s0);
    double s1[3];
    for (int i = 0; i < 3; i++) s1[i] = q[i] + geometry->s0[i];
    const double along = db_dot(s1, z);
    for (int i = 0; i < 3; i++) slope[i] = along * (z[i] - s1[i] * along / (length * length));
}

/* A spot in reciprocal space. */
static db_search_spot spot_of(const db_fit_geometry *geometry, const db_observed_spot *seen) {
    db_search_spot s = { .counts = seen->counts };
    double shifted[3];
    const double next[2] = { seen->position[0] + pixels_off, seen->position[1] };
    db_fit_geometry_scattering(geometry, seen->panel, seen->position, s.q);
    db_fit_geometry_scattering(geometry, seen->panel, next, shifted);
    for (int i = 0; i < 3; i++) shifted[i] -= s.q[i];
    s.length = db_length(s.q);
    s.blur = db_length(shifted);
    slope_by_distance(geometry, s.q, s.by_distance);
    return s;
}

/* Geometry with the beam centre moved by a pixel along fast or slow. */
static db_status geometry_beside(db_context *context, const db_experiment *experiment, int along,
                                 db_fit_geometry *geometry) {
    const db_parameter centre = along ? DB_BEAM_SLOW : DB_BEAM_FAST;
    db_experiment moved;
    DB_TRY(db_experiment_copy(context, experiment, &moved));
    db_parameter_set(&moved, centre,
                     db_parameter_get(&moved, centre) +
                         experiment->detector.panels[0].pixel_size[along]);
    const db_status status = db_fit_geometry_of(context, &moved, geometry);
    db_experiment_clear(&moved);
    return status;
}

db_status db_search_spots_list(db_context *context, const db_experiment *experiment,
                               const db_fit_settings *settings, const db_observed_spots *seen,
                               db_search_spots *list) {
    db_fit_geometry geometry[3] = { { .panel = NULL } };
    db_status status = db_fit_geometry_of(context, experiment, &geometry[0]);
    for (int d = 0; d < 2 && status == DB_OK; d++)
        status = geometry_beside(context, experiment, d, &geometry[1 + d]);
    list->spot = malloc((seen->count + 1) * sizeof *list->spot);
    if (status == DB_OK && !list->spot)
        status = db_fail_memory(context, "the spots of the search for the orientation");
    for (size_t i = 0; i < seen->count && status == DB_OK; i++) {
        const db_observed_spot *const spot = &seen->spot[i];
        db_search_spot one = spot_of(&geometry[0], spot);
        for (int k = 0; k < 2; k++) {
            db_fit_geometry_scattering(&geometry[1 + k], spot->panel, spot->position,
                                       one.by_beam[k]);
            for (int j = 0; j < 3; j++) one.by_beam[k][j] -= one.q[j];
        }
        if (db_fit_is_in_range(settings, 1 / one.length)) list->spot[list->count++] = one;
    }
    for (int g = 0; g < 3; g++) db_fit_geometry_clear(&geometry[g]);
    if (status == DB_OK) db_search_spots_sort(list);
    return status;
}

void db_search_spots_sort(db_search_spots *list) {
    qsort(list->spot, list->count, sizeof *list->spot, stronger_first);
}

db_search_spot *db_search_spots_strongest(const db_search_spots *left, size_t most, size_t *count) {
    *count = left->count < most ? left->count : most;
    db_search_spot *const spots = malloc((*count + 1) * sizeof *spots);
    if (!spots) return NULL;
    memcpy(spots, left->spot, *count * sizeof *spots);
    qsort(spots, *count, sizeof *spots, lower_angle_first);
    return spots;
}
