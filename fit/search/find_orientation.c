/* Finding the orientations of crystals on an image. */
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

/* A lattice that is nearer to another than so many tolerances is a part of it. */
static const double beside = 2;

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
    double shifted[3];
    const double next[2] = { seen->position[0] + pixels_off, seen->position[1] };
    db_fit_geometry_scattering(geometry, seen->panel, seen->position, s.q);
    db_fit_geometry_scattering(geometry, seen->panel, next, shifted);
    for (int i = 0; i < 3; i++) shifted[i] -= s.q[i];
    s.length = db_length(s.q);
    s.blur = db_length(shifted);
    return s;
}

/* The spots in the resolution range, the strongest first. */
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

/* The lattice that has most of the strongest spots; DB_ERROR_INPUT if chance may have made it. */
static db_status find_one(db_context *context, const db_fit_settings *settings,
                          const double a_star[9], const spot_list *left, size_t lattices,
                          double turn[9], db_fit_orientation *found) {
    db_search_spot spots[MOST];
    const size_t count = left->count < MOST ? left->count : MOST;
    db_agreement agreement;
    memcpy(spots, left->spot, count * sizeof *spots);
    qsort(spots, count, sizeof *spots, lower_angle_first);
    DB_TRY(db_orientation_search(context, a_star, spots, count, lattices, turn, &agreement));
    *found = (db_fit_orientation){ agreement.count, agreement.near, agreement.by_chance,
                                   db_agreement_log_probability(&agreement) };
    if (count < FEWEST)
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: the image has %zu in the resolution range (data.strong_sigma %g), and the "
            "search for the orientation needs %d at least",
            count ? "too few spots were found" : "no spots were found", count,
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
    return DB_OK;
}

/* Takes away the spots that are marked; returns how many are left. */
static size_t set_aside(const unsigned char *marked, spot_list *list) {
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!marked[i]) list->spot[left++] = list->spot[i];
    return list->count = left;
}

/* A lattice that was found before, turned a little, has spots left over that its tolerance does not
 * reach: does a new one have most of its spots so near the nodes of an old one? marked: the spots
 * of the new one; old: room for as many marks. */
static int is_part_of(const double a_star[9], const double turn[9], const spot_list *list,
                      const unsigned char *marked, unsigned char *old) {
    size_t both = 0, all = 0;
    (void)db_orientation_spots(a_star, turn, beside, list->spot, list->count, old);
    for (size_t i = 0; i < list->count; i++) {
        all += marked[i];
        both += marked[i] && old[i];
    }
    return 2 * both > all;
}

/* Lattices one after the other, each from the spots that those before have left. */
static db_status find_all(db_context *context, const db_fit_settings *settings,
                          const db_experiment *experiment, const double a_star[9], spot_list *list,
                          size_t most, db_fit_lattice *lattices, size_t *count) {
    double turn[DB_FIT_MOST_LATTICES][9];
    unsigned char *const marked = malloc(2 * list->count + 1);
    unsigned char *const old = marked + list->count;
    db_status status =
        marked ? DB_OK : db_fail_memory(context, "the spots of the search for the orientation");
    while (status == DB_OK && *count < most) {
        db_fit_lattice *const one = &lattices[*count];
        size_t known = 0;
        status = find_one(context, settings, a_star, list, most, turn[*count], &one->found);
        if (status != DB_OK) break;
        (void)db_orientation_spots(a_star, turn[*count], 1, list->spot, list->count, marked);
        while (known < *count && !is_part_of(a_star, turn[known], list, marked, old)) known++;
        if (known == *count) {
            db_crystal crystal = experiment->crystal;
            turn_crystal(experiment, turn[*count], &crystal);
            memcpy(one->orientation, crystal.orientation, sizeof one->orientation);
            (*count)++;
        }
        set_aside(marked, list);
    }
    free(marked);
    return status == DB_ERROR_INPUT && *count ? DB_OK : status;
}

static db_status search_in(db_context *context, const db_fit_settings *settings,
                           const db_observed_spots *seen, const db_experiment *experiment,
                           size_t most, db_fit_lattice *lattices, size_t *count) {
    db_fit_geometry geometry;
    spot_list list = { 0, NULL };
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    db_status status = list_spots(context, &geometry, settings, seen, &list);
    if (status == DB_OK)
        status =
            find_all(context, settings, experiment, geometry.a_star, &list, most, lattices, count);
    free(list.spot);
    db_fit_geometry_clear(&geometry);
    return status;
}

db_status db_fit_find_lattices(db_context *context, const db_measured_image *image,
                               const db_fit_settings *settings, const db_experiment *experiment,
                               size_t most, db_fit_lattice *lattices, size_t *count) {
    db_strong_pixels strong;
    db_observed_spots seen;
    *count = 0;
    memset(lattices, 0, most * sizeof *lattices);
    DB_TRY(db_fit_check_data(context, experiment, image, settings));
    DB_TRY(db_strong_pixels_find(context, image, settings, &strong));
    db_status status = db_observed_spots_find(context, image, &strong, &seen);
    db_strong_pixels_clear(&strong);
    DB_TRY(status);
    status = search_in(context, settings, &seen, experiment, most, lattices, count);
    db_observed_spots_clear(&seen);
    return status;
}

db_status db_fit_find_orientation(db_context *context, const db_measured_image *image,
                                  const db_fit_settings *settings, db_experiment *experiment,
                                  db_fit_orientation *found) {
    db_fit_lattice one;
    size_t count;
    const db_status status =
        db_fit_find_lattices(context, image, settings, experiment, 1, &one, &count);
    *found = one.found;
    DB_TRY(status);
    memcpy(experiment->crystal.orientation, one.orientation, sizeof one.orientation);
    memset(experiment->crystal.misset, 0, sizeof experiment->crystal.misset);
    return DB_OK;
}
