/* Finding the orientations of crystals on an image. */
#include "base/context_internal.h"
#include "fit/search/check_settings.h"
#include "fit/search/find_orientation.h"
#include "fit/config/orientation.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"
#include "fit/search/orientation_search.h"
#include "base/vector.h"

#include <dualbragg/expert/experiment_geometry.h>
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
    double rotation[9], turned[9];
    db_experiment_spindle_axis(experiment, axis);
    db_orientation_of(crystal, rotation);
    db_turn_columns(axis, phi, rotation);
    db_multiply(turn, rotation, turned);
    db_turn_columns(axis, -phi, turned);
    db_orientation_set(turned, crystal);
}

/* The lattice that has most of the strongest spots; DB_ERROR_INPUT if chance may have made it. */
static db_status find_one(db_context *context, const db_fit_settings *settings,
                          const double a_star[9], const spot_list *left, size_t lattices,
                          double effort, double turn[9], db_fit_orientation *found) {
    db_search_spot spots[MOST];
    const size_t count = left->count < MOST ? left->count : MOST;
    db_agreement agreement;
    memcpy(spots, left->spot, count * sizeof *spots);
    qsort(spots, count, sizeof *spots, lower_angle_first);
    DB_TRY(
        db_orientation_search(context, a_star, spots, count, lattices, effort, turn, &agreement));
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
    (void)db_orientation_agreement(a_star, turn, beside, list->spot, list->count, old);
    for (size_t i = 0; i < list->count; i++) {
        all += marked[i];
        both += marked[i] && old[i];
    }
    return 2 * both > all;
}

/* Lattices one after the other, each from the spots that those before have left: a search. */
typedef struct series {
    const db_experiment *experiment;
    double a_star[9];
    const db_search_spot *all; /* all spots, the strongest first */
    size_t all_count;
    spot_list left;        /* those that no lattice has yet */
    unsigned char *marked; /* [2][all_count] */
    double turn[DB_FIT_MOST_LATTICES][9];
    size_t count; /* of lattices */
    db_fit_lattice *lattice;
    double effort; /* of each search */
} series;

static db_status find_next(db_context *context, const db_fit_settings *settings, size_t most,
                           series *s) {
    db_fit_lattice *const one = &s->lattice[s->count];
    spot_list *const left = &s->left;
    size_t known = 0;
    DB_TRY(find_one(context, settings, s->a_star, left, most - s->count, s->effort,
                    s->turn[s->count], &one->found));
    (void)db_orientation_agreement(s->a_star, s->turn[s->count], 1, left->spot, left->count,
                                   s->marked);
    while (known < s->count &&
           !is_part_of(s->a_star, s->turn[known], left, s->marked, s->marked + s->all_count))
        known++;
    if (known == s->count) {
        db_crystal crystal = s->experiment->crystal;
        turn_crystal(s->experiment, s->turn[s->count], &crystal);
        memcpy(one->orientation, crystal.orientation, sizeof one->orientation);
        s->count++;
    }
    set_aside(s->marked, left);
    return DB_OK;
}

/* Whether a lattice has spots of its own that none of the others has. One that shares a row or a
 * layer of nodes with a crystal may have been found before it. room: for all spots. */
static int has_own_spots(const series *s, size_t lattice, db_search_spot *room) {
    spot_list own = { s->all_count, room };
    memcpy(room, s->all, s->all_count * sizeof *room);
    for (size_t l = 0; l < s->count; l++) {
        if (l == lattice) continue;
        (void)db_orientation_agreement(s->a_star, s->turn[l], 1, own.spot, own.count, s->marked);
        set_aside(s->marked, &own);
    }
    const size_t count = own.count < MOST ? own.count : MOST;
    const db_agreement agreement =
        db_orientation_agreement(s->a_star, s->turn[lattice], 1, own.spot, count, s->marked);
    return db_agreement_log_probability(&agreement) < DB_AGREEMENT_SIGNIFICANT;
}

static void drop_doubtful(series *s) {
    for (size_t l = s->count; l-- > 0;) {
        if (s->count == 1 || has_own_spots(s, l, s->left.spot)) continue;
        s->count--;
        memmove(&s->lattice[l], &s->lattice[l + 1], (s->count - l) * sizeof *s->lattice);
        memmove(&s->turn[l], &s->turn[l + 1], (s->count - l) * sizeof *s->turn);
    }
}

static db_status find_all(db_context *context, const db_fit_settings *settings,
                          const spot_list *list, size_t most, series *s) {
    s->marked = malloc(2 * list->count + 1);
    s->left.spot = malloc((list->count + 1) * sizeof *s->left.spot);
    db_status status = s->marked && s->left.spot
                           ? DB_OK
                           : db_fail_memory(context, "the spots of the search for the orientation");
    if (status == DB_OK) {
        s->all = list->spot;
        s->all_count = s->left.count = list->count;
        memcpy(s->left.spot, list->spot, list->count * sizeof *list->spot);
        while (status == DB_OK && s->count < most) status = find_next(context, settings, most, s);
        if (status == DB_ERROR_INPUT && s->count) status = DB_OK;
        if (status == DB_OK) drop_doubtful(s);
    }
    free(s->marked);
    free(s->left.spot);
    return status;
}

static db_status search_in(db_context *context, const db_fit_settings *settings,
                           const db_observed_spots *seen, size_t most, series *s) {
    db_fit_geometry geometry;
    spot_list list = { 0, NULL };
    DB_TRY(db_fit_geometry_of(context, s->experiment, &geometry));
    memcpy(s->a_star, geometry.a_star, sizeof s->a_star);
    db_status status = list_spots(context, &geometry, settings, seen, &list);
    if (status == DB_OK) status = find_all(context, settings, &list, most, s);
    free(list.spot);
    db_fit_geometry_clear(&geometry);
    return status;
}

/* Lattices that are parts of the known one are passed over. The refined model is there already, so that a
 * search that is cancelled has found none. */
static db_status find_other(db_context *context, const db_fit_settings *settings, series *s) {
    db_status status = DB_OK;
    while (status == DB_OK && s->count < 2) status = find_next(context, settings, 2, s);
    return status == DB_ERROR_INPUT || status == DB_ERROR_CANCELLED ? DB_OK : status;
}

db_status db_find_other_lattice(db_context *context, const db_experiment *model,
                                const db_fit_settings *settings, const db_observed_spots *spots,
                                db_fit_orientation *found) {
    const double some = 0.1;
    db_fit_lattice lattices[2];
    db_fit_geometry geometry;
    series s = { .experiment = model,
                 .lattice = lattices,
                 .effort = some,
                 .count = 1,
                 .all_count = spots->count,
                 .turn = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } } };
    memset(found, 0, sizeof *found);
    DB_TRY(db_fit_geometry_of(context, model, &geometry));
    memcpy(s.a_star, geometry.a_star, sizeof s.a_star);
    db_status status = list_spots(context, &geometry, settings, spots, &s.left);
    db_fit_geometry_clear(&geometry);
    s.marked = malloc(2 * spots->count + 1);
    if (status == DB_OK && !s.marked) status = db_fail_memory(context, "another lattice's spots");
    if (status == DB_OK) status = find_other(context, settings, &s);
    if (status == DB_OK && s.count == 2) *found = lattices[1].found;
    free(s.marked);
    free(s.left.spot);
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
    series s = { .experiment = experiment, .lattice = lattices, .effort = 1 };
    status = search_in(context, settings, &seen, most, &s);
    *count = s.count;
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
    db_orientation_set(one.orientation, &experiment->crystal);
    return DB_OK;
}
