/* Finds the orientations of crystals on an image. */
#include "base/context_internal.h"
#include "fit/search/check_settings.h"
#include "fit/search/find_orientation.h"
#include "fit/config/certain.h"
#include "fit/config/crystal_system.h"
#include "fit/config/orientation.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"
#include "fit/merge/indexing.h"
#include "fit/merge/known_amplitudes.h"
#include "fit/search/lattice_fit.h"
#include "fit/search/orientation_search.h"
#include "fit/search/search_spots.h"
#include "base/cell_constants.h"
#include "base/degree.h"
#include "base/vector.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 400,       /* strongest spots in use */
    MOST_WIDE = 4000, /* spots in use if hot pixels or ice may be among the strongest */
    FEWEST = 5
};
/* Possible errors of the scale and of a single edge (relative), and of the beam centre (pixels), if they are refined. */
static const double wide_scale = 0.03, wide_edge = 0.05, wide_beam = 10;

/* Least fraction of the spots that a lattice must index beyond chance: another crystal's lattice may agree in a
 * row or a layer of nodes. */
static const double least_part = 0.1;

/* A lattice nearer to another than this multiple of the tolerance is part of it. */
static const double beside = 2;

/* Turns the crystal on its goniometer, which is in the middle of its range: converts a turn in the laboratory to
 * one of the crystal at angle 0. */
static void turn_crystal(const db_experiment *experiment, const double turn[9],
                         db_crystal *crystal) {
    const double phi = db_goniometer_middle(experiment, NULL) * DB_DEGREE;
    double axis[3];
    double rotation[9], turned[9];
    db_experiment_spindle_axis(experiment, axis);
    db_orientation_of(crystal, rotation);
    db_turn_columns(axis, phi, rotation);
    db_multiply(turn, rotation, turned);
    db_turn_columns(axis, -phi, turned);
    db_orientation_set(turned, crystal);
}

/* Is an agreement no chance? Another crystal's lattice may agree in a row or a layer of nodes. */
static int is_lattice(const db_agreement *a) {
    const double excess = (double)a->near - a->by_chance;
    return db_agreement_log_probability(a) <= -DB_CERTAIN &&
           excess >= least_part * (double)a->count;
}

/* A search for lattices one after the other, each from the spots that earlier ones leave. */
typedef struct series {
    const db_experiment *experiment;
    db_search_lattice cell;
    db_search_spot *all; /* all spots, the strongest first */
    size_t all_count;
    db_search_spots left;  /* spots that no lattice has yet */
    unsigned char *marked; /* [2][all_count] */
    double turn[DB_FIT_MOST_LATTICES][9];
    size_t count; /* of lattices */
    db_fit_lattice *lattice;
    double effort;       /* of each search */
    db_search_room room; /* approximately known quantities */
    int wide[2];         /* are scale and beam open? */
    db_search_pose pose; /* result for them, to which spots were moved */
} series;

/* Searches with open scale and beam, and moves spots, if this makes more of them likely. */
static db_status look_wide(db_context *context, series *s, size_t most, double turn[9],
                           db_agreement *agreement) {
    db_search_pose pose;
    db_agreement found;
    size_t count;
    db_search_spot *const spots = db_search_spots_strongest(&s->left, most, &count);
    if (!spots) return db_fail_memory(context, "the spots of the search for the orientation");
    const db_status status =
        db_wide_search(context, &s->cell, spots, count, &s->room, &pose, &found);
    free(spots);
    DB_TRY(status);
    if (!is_lattice(&found) ||
        (is_lattice(agreement) && !db_agreement_is_better(&found, agreement)))
        return DB_OK;
    *agreement = found;
    memcpy(turn, pose.turn, sizeof pose.turn);
    db_search_spots_move(&pose, s->left.spot, s->left.count);
    if (s->all) db_search_spots_move(&pose, s->all, s->all_count);
    db_search_lattice_stretch(pose.longer, &s->cell);
    s->pose = pose;
    return DB_OK;
}

/* Searches by pairs of spots, with known scale and beam. */
static db_status look_near(db_context *context, const series *s, size_t lattices, double effort,
                           double turn[9], db_agreement *agreement) {
    size_t count;
    db_search_spot *const spots = db_search_spots_strongest(&s->left, MOST, &count);
    if (!spots) return db_fail_memory(context, "the spots of the search for the orientation");
    const db_status status =
        db_orientation_search(context, &s->cell, spots, count, lattices, effort, turn, agreement);
    free(spots);
    return status;
}

/* Searches briefly with everything known, then with open scale and beam, then thoroughly with everything known. */
static db_status look_for_one(db_context *context, series *s, size_t lattices, double turn[9],
                              db_agreement *agreement) {
    const double brief = 0.1;
    if (s->left.count < FEWEST || !db_search_room_is_open(&s->room))
        return look_near(context, s, lattices, s->effort, turn, agreement);
    DB_TRY(look_near(context, s, lattices, brief * s->effort, turn, agreement));
    if (db_agreement_is_sure(agreement)) return DB_OK;
    DB_TRY(look_wide(context, s, MOST, turn, agreement));
    if (!is_lattice(agreement) && s->left.count > MOST)
        DB_TRY(look_wide(context, s, MOST_WIDE, turn, agreement));
    return is_lattice(agreement) ? DB_OK
                                 : look_near(context, s, lattices, s->effort, turn, agreement);
}

/* Finds the lattice that has most of the strongest spots; DB_ERROR_INPUT if it may be chance. */
static db_status find_one(db_context *context, const db_fit_settings *settings, series *s,
                          size_t lattices, double turn[9], db_fit_orientation *found) {
    const size_t count = s->left.count;
    db_agreement agreement;
    DB_TRY(look_for_one(context, s, lattices, turn, &agreement));
    *found = (db_fit_orientation){ agreement.count, agreement.near, agreement.by_chance,
                                   db_agreement_log_probability(&agreement) };
    if (count < FEWEST)
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: the image has %zu in the resolution range (data.strong_sigma %g), and the "
            "search for the orientation needs %d at least",
            count ? "too few spots were found" : "no spots were found", count,
            settings->strong_sigma, FEWEST);
    if (!is_lattice(&agreement)) {
        const double *const c = s->experiment->crystal.cell;
        char best[160] = "none of them tells one orientation from another";
        if (found->spots)
            snprintf(best, sizeof best,
                     "the best one has %zu of %zu near its nodes, where chance would bring %.1f",
                     found->indexed, found->spots, found->by_chance);
        return db_fail(context, DB_ERROR_INPUT,
                       "no orientation of the cell %.6g %.6g %.6g %.6g %.6g %.6g explains the "
                       "spots: %s; expected a cell right to %s, a beam centre right to %s pixels, "
                       "and spots of one crystal",
                       c[0], c[1], c[2], c[3], c[4], c[5], best, s->wide[0] ? "3 %" : "0.5 %",
                       s->wide[1] ? "10" : "2");
    }
    return DB_OK;
}

/* Removes marked spots; returns how many remain. */
static size_t drop_marked(const unsigned char *marked, db_search_spots *list) {
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!marked[i]) list->spot[left++] = list->spot[i];
    return list->count = left;
}

/* A lattice found before, slightly turned, leaves spots beyond its tolerance. Are most spots of a new lattice near
 * nodes of an old one? marked: spots of the new lattice; old: room for as many marks. */
static int is_part_of(const db_search_lattice *cell, const double turn[9],
                      const db_search_spots *list, const unsigned char *marked,
                      unsigned char *old) {
    size_t both = 0, all = 0;
    (void)db_orientation_agreement(cell, turn, beside, list->spot, list->count, old);
    for (size_t i = 0; i < list->count; i++) {
        all += marked[i];
        both += marked[i] && old[i];
    }
    return 2 * both > all;
}

static db_status find_next(db_context *context, const db_fit_settings *settings, size_t most,
                           series *s) {
    db_fit_lattice *const one = &s->lattice[s->count];
    db_search_spots *const left = &s->left;
    size_t known = 0;
    DB_TRY(find_one(context, settings, s, most - s->count, s->turn[s->count], &one->found));
    s->room = (db_search_room){ .scale = { 0, 0 } }; /* one for all lattices */
    (void)db_orientation_agreement(&s->cell, s->turn[s->count], 1, left->spot, left->count,
                                   s->marked);
    while (known < s->count &&
           !is_part_of(&s->cell, s->turn[known], left, s->marked, s->marked + s->all_count))
        known++;
    if (known == s->count) {
        db_crystal crystal = s->experiment->crystal;
        turn_crystal(s->experiment, s->turn[s->count], &crystal);
        memcpy(one->orientation, crystal.orientation, sizeof one->orientation);
        s->count++;
    }
    drop_marked(s->marked, left);
    return DB_OK;
}

/* Does a lattice have spots that no other has? A lattice with a row or a layer of nodes of a crystal may be found
 * before the crystal. room: for all spots. */
static int has_own_spots(const series *s, size_t lattice, db_search_spot *room) {
    db_search_spots own = { s->all_count, room };
    memcpy(room, s->all, s->all_count * sizeof *room);
    for (size_t l = 0; l < s->count; l++) {
        if (l == lattice) continue;
        (void)db_orientation_agreement(&s->cell, s->turn[l], 1, own.spot, own.count, s->marked);
        drop_marked(s->marked, &own);
    }
    const size_t count = own.count < MOST ? own.count : MOST;
    const db_agreement agreement =
        db_orientation_agreement(&s->cell, s->turn[lattice], 1, own.spot, count, s->marked);
    return db_agreement_log_probability(&agreement) < -DB_CERTAIN;
}

static void drop_doubtful(series *s) {
    for (size_t l = s->count; l-- > 0;) {
        if (s->count == 1 || has_own_spots(s, l, s->left.spot)) continue;
        s->count--;
        memmove(&s->lattice[l], &s->lattice[l + 1], (s->count - l) * sizeof *s->lattice);
        memmove(&s->turn[l], &s->turn[l + 1], (s->count - l) * sizeof *s->turn);
    }
}

/* Which way to index a lattice gives most of its spots indices that the centring allows? gain: log likelihood beyond the one of
 * the first way, if forbidden nodes have what spots are left. near: room for all spots. */
static int best_setting(const series *s, const double turn[9], const db_search_spots *list,
                        int centring, const db_indexings *ways, unsigned char *near, double *gain) {
    size_t count[DB_MOST_INDEXINGS] = { 0 }, all = 0;
    double a_star[9], to_index[9], at[3];
    int best = 0;
    (void)db_orientation_agreement(&s->cell, turn, 1, list->spot, list->count, near);
    db_search_lattice_turn(&s->cell, turn, a_star, to_index);
    for (size_t i = 0; i < list->count; i++) {
        int hkl[3], turned[3];
        if (!near[i]) continue;
        db_apply(to_index, list->spot[i].q, at);
        for (int k = 0; k < 3; k++) hkl[k] = (int)rint(at[k]);
        for (int w = 0; w < ways->count; w++) {
            (void)db_indexing_apply(&ways->way[w], hkl, turned);
            count[w] += !db_centring_forbids(centring, turned);
        }
        all++;
    }
    for (int w = 1; w < ways->count; w++)
        if (count[w] > count[best]) best = w;
    const double part = ((double)count[best] + 0.5) / ((double)all + 1);
    *gain = (double)(count[best] - count[0]) *
            log((db_centring_nodes(centring) - 1) * part / (1 - part));
    return best;
}

/* The same lattice, indexed another way, with the cell that it has. */
static db_status turn_setting(db_context *context, const db_indexing *way, db_crystal *crystal) {
    db_crystal turned = *crystal;
    DB_TRY(db_indexing_turn(context, way, &turned));
    memcpy(crystal->orientation, turned.orientation, sizeof crystal->orientation);
    memcpy(crystal->Ncells, turned.Ncells, sizeof crystal->Ncells);
    return DB_OK;
}

/* Spots near nodes of a lattice, the strongest of them. */
static size_t spots_of(const series *s, const double turn[9], const db_search_spots *list,
                       unsigned char *near, db_search_spot *own) {
    size_t count = 0;
    (void)db_orientation_agreement(&s->cell, turn, beside, list->spot, list->count, near);
    for (size_t i = 0; i < list->count && count < MOST; i++)
        if (near[i]) own[count++] = list->spot[i];
    return count;
}

/* The rows of a lattice, indexed another way. */
static void rows_of(const series *s, const double turn[9], const db_indexing *way, double rows[9]) {
    double a_star[9], real[9], edges[9];
    db_search_lattice_turn(&s->cell, turn, a_star, real);
    for (int i = 0; i < 9; i++) edges[i] = (double)way->matrix[i] / DB_INDEXING_PARTS;
    db_multiply(edges, real, rows);
}

/* Which way to lay the cell upon a lattice makes its spots likeliest? near: room for all spots. */
static int likeliest_way(const series *s, const double turn[9], const db_search_spot *spots,
                         size_t count, const db_indexings *ways, unsigned char *near) {
    static const int as_laid[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    db_cell_ties rigid = { .follows = { -1, -1, -1, -1, -1, -1 } };
    double highest = -INFINITY;
    int best = 0;
    db_cell_of_edges(s->cell.real, rigid.fixed);
    for (int w = 0; w < ways->count; w++) {
        db_lattice lattice = { .distance = 0 };
        rows_of(s, turn, &ways->way[w], lattice.real);
        const double likelihood = db_lattice_likelihood(
            &lattice, as_laid, &rigid, DB_LATTICE_HOLDS_NOTHING, spots, count, near);
        if (!(likelihood > highest)) continue;
        highest = likelihood;
        best = w;
    }
    return best;
}

/* Indexes a lattice another way, with the cell that it has. spots: those near its nodes. */
static void index_anew(series *s, size_t l, const db_indexing *way, const db_search_spot *spots,
                       size_t count) {
    double rows[9], *const turn = s->turn[l];
    db_crystal crystal = s->experiment->crystal;
    rows_of(s, turn, way, rows);
    db_lattice_nearest_turn(s->cell.real, rows, turn);
    db_orientation_refine(&s->cell, spots, count, turn);
    turn_crystal(s->experiment, turn, &crystal);
    memcpy(s->lattice[l].orientation, crystal.orientation, sizeof crystal.orientation);
}

/* Which way to index a lattice gives its spots known amplitudes in the order of their light? gain: standard deviations of
 * chance beyond the first way. near, list: room for all spots. */
static int best_ordered(const series *s, const double turn[9], const db_search_spots *spots,
                        const db_indexings *ways, unsigned char *near, db_ordered_intensity *list,
                        double *gain) {
    double a_star[9], to_index[9], at[3], first = 0, highest = -INFINITY;
    int best = 0;
    *gain = 0;
    (void)db_orientation_agreement(&s->cell, turn, 1, spots->spot, spots->count, near);
    db_search_lattice_turn(&s->cell, turn, a_star, to_index);
    for (int w = 0; w < ways->count; w++) {
        size_t count = 0;
        for (size_t i = 0; i < spots->count; i++) {
            const db_search_spot *const spot = &spots->spot[i];
            int hkl[3], turned[3];
            if (!near[i]) continue;
            db_apply(to_index, spot->q, at);
            for (int k = 0; k < 3; k++) hkl[k] = (int)rint(at[k]);
            (void)db_indexing_apply(&ways->way[w], hkl, turned);
            list[count++] =
                (db_ordered_intensity){ 1 / spot->length,
                                        db_listed_square(&s->experiment->structure_factors, turned),
                                        spot->counts };
        }
        const double sigma = db_intensity_order(list, count);
        if (w == 0) first = sigma;
        if (!(sigma > highest)) continue;
        highest = sigma;
        best = w;
        *gain = sigma - first;
    }
    return best;
}

/* Ways to index a cell among which known amplitudes can choose; one without these. */
static db_status ways_of_amplitudes(db_context *context, const db_fit_settings *settings,
                                    const db_experiment *experiment, const double cell[6],
                                    db_indexings *ways) {
    ways->count = 1;
    return settings->intensity == DB_FIT_KNOWN && experiment->structure_factors.listed
               ? db_indexings_of_amplitudes(context, settings, cell, ways)
               : DB_OK;
}

/* Lattices of known amplitudes are indexed the way in which these fit: the lattice may have more symmetry than the crystal. */
static db_status choose_amplitudes(db_context *context, const db_fit_settings *settings,
                                   const db_search_spots *list, series *s, db_search_spot *own) {
    double cell[6];
    db_indexings ways;
    db_cell_of_edges(s->cell.real, cell);
    DB_TRY(ways_of_amplitudes(context, settings, s->experiment, cell, &ways));
    if (ways.count == 1) return DB_OK;
    db_ordered_intensity *const ordered = malloc((list->count + 1) * sizeof *ordered);
    if (!ordered) return db_fail_memory(context, "the intensities of a lattice");
    for (size_t l = 0; l < s->count; l++) {
        double gain;
        const int fits = best_ordered(s, s->turn[l], list, &ways, s->marked, ordered, &gain);
        if (!fits) continue;
        const size_t count = spots_of(s, s->turn[l], list, s->marked, own);
        index_anew(s, l, &ways.way[fits], own, count);
    }
    free(ordered);
    return DB_OK;
}

/* Found nodes have indices that the named centring allows: a rotation of the cell may make other ones of these. A cell that
 * nearly has more symmetry has spots near its nodes in several ways; it is laid where they fit. */
static db_status choose_indices(db_context *context, const db_fit_settings *settings,
                                const db_search_spots *list, series *s) {
    const double much = 0.03; /* such a strain shows in any search */
    double cell[6];
    db_indexings ways, layings;
    db_cell_of_edges(s->cell.real, cell);
    const int centring = db_centring_of_cell(settings->centring, cell);
    db_indexings_of_centring(cell, centring, DB_INDEXING_STRAIN, &ways);
    db_indexings_of_lattice(cell, centring, much, &layings);
    db_search_spot *const own = malloc(MOST * sizeof *own);
    if (!own) return db_fail_memory(context, "the spots of a lattice");
    const size_t again = ways.count > 1 || layings.count > 1 ? s->count : 0;
    for (size_t l = 0; l < again; l++) {
        double gain;
        const size_t count = spots_of(s, s->turn[l], list, s->marked, own);
        const int allowed = best_setting(s, s->turn[l], list, centring, &ways, s->marked, &gain);
        if (allowed) index_anew(s, l, &ways.way[allowed], own, count);
        const int laid = likeliest_way(s, s->turn[l], own, count, &layings, s->marked);
        if (laid) index_anew(s, l, &layings.way[laid], own, count);
    }
    const db_status status = choose_amplitudes(context, settings, list, s, own);
    free(own);
    return status;
}

static db_status find_all(db_context *context, const db_fit_settings *settings,
                          db_search_spots *list, size_t most, series *s) {
    s->marked = malloc(2 * list->count + 1);
    s->left.spot = malloc((list->count + 1) * sizeof *s->left.spot);
    db_status status = db_need_memory(context, s->marked && s->left.spot,
                                      "the spots of the search for the orientation");
    if (status == DB_OK) {
        s->all = list->spot;
        s->all_count = s->left.count = list->count;
        memcpy(s->left.spot, list->spot, list->count * sizeof *list->spot);
        while (status == DB_OK && s->count < most) status = find_next(context, settings, most, s);
        if (status == DB_ERROR_INPUT && s->count) status = DB_OK;
        if (status == DB_OK) drop_doubtful(s);
        if (status == DB_OK) status = choose_indices(context, settings, list, s);
    }
    for (size_t l = 0; l < s->count; l++) {
        for (int i = 0; i < 3; i++)
            s->lattice[l].edge_scale[i] = s->pose.scale * (1 + s->pose.longer[i]);
        for (int d = 0; d < 2; d++)
            s->lattice[l].beam_shift[d] =
                s->pose.beam[d] * s->experiment->detector.panels[0].pixel_size[d];
    }
    free(s->marked);
    free(s->left.spot);
    return status;
}

/* Possible change of a refined parameter, at most `most` either way; 0: not refined. */
static int may_move(const db_fit_settings *settings, db_parameter parameter, double value,
                    double most, double room[2]) {
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (p->parameter != parameter || p->group >= 0) continue;
        const double range = isnan(p->range) ? INFINITY : p->range;
        room[0] = fmax(-fmin(most, range), p->lower - value);
        room[1] = fmin(fmin(most, range), p->upper - value);
        return 1;
    }
    return 0;
}

/* Room for scale and beam that the refinement may change. */
static void open_room(const db_fit_settings *settings, series *s) {
    const db_experiment *const e = s->experiment;
    double *const scale = s->room.scale;
    scale[0] = 1 - wide_scale;
    scale[1] = 1 + wide_scale;
    s->wide[0] = s->wide[1] = 1;
    for (int i = 0; i < 3; i++) {
        const double edge = e->crystal.cell[i];
        double room[2] = { 0, 0 };
        s->wide[0] &=
            may_move(settings, (db_parameter)(DB_CELL_A + i), edge, wide_scale * edge, room);
        scale[0] = fmax(scale[0], 1 + room[0] / edge);
        scale[1] = fmin(scale[1], 1 + room[1] / edge);
        (void)may_move(settings, (db_parameter)(DB_CELL_A + i), edge, wide_edge * edge, room);
        for (int k = 0; k < 2; k++) s->room.edge[i][k] = 1 + room[k] / edge;
    }
    for (int i = 0; i < 3 && !s->wide[0]; i++) s->room.edge[i][0] = s->room.edge[i][1] = 1;
    if (!s->wide[0]) scale[0] = scale[1] = 1;
    for (int d = 0; d < 2; d++) {
        const db_parameter centre = d ? DB_BEAM_SLOW : DB_BEAM_FAST;
        const double pixel = e->detector.panels[0].pixel_size[d];
        double room[2] = { 0, 0 };
        s->wide[1] &=
            may_move(settings, centre, db_parameter_get(e, centre), wide_beam * pixel, room);
        for (int k = 0; k < 2; k++) s->room.beam[d][k] = room[k] / pixel;
    }
}

static db_status make_cell(db_context *context, series *s) {
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(context, s->experiment, &geometry));
    const db_status status = db_search_lattice_make(context, geometry.a_star, &s->cell);
    db_fit_geometry_clear(&geometry);
    s->pose = (db_search_pose){ .scale = 1 };
    return status;
}

static db_status list_of(db_context *context, const db_fit_settings *settings,
                         const db_observed_spots *seen, series *s, db_search_spots *list) {
    DB_TRY(make_cell(context, s));
    return db_search_spots_list(context, s->experiment, settings, seen, list);
}

static db_status search_in(db_context *context, const db_fit_settings *settings,
                           const db_observed_spots *seen, size_t most, series *s) {
    db_search_spots list = { 0, NULL };
    db_status status = list_of(context, settings, seen, s, &list);
    open_room(settings, s);
    if (status == DB_OK) status = find_all(context, settings, &list, most, s);
    free(list.spot);
    return status;
}

/* Finds a lattice that is no part of the known one. The refined model exists already, so a cancelled search has
 * found none. */
static db_status find_other(db_context *context, const db_fit_settings *settings, series *s) {
    db_status status = DB_OK;
    while (status == DB_OK && s->count < 2) status = find_next(context, settings, 2, s);
    return status == DB_ERROR_INPUT || status == DB_ERROR_CANCELLED ? DB_OK : status;
}

/* Leaves the spots that are not near the known lattice's nodes. */
static db_status leave_apart(db_context *context, series *s, size_t *left) {
    s->all_count = s->left.count;
    s->all = malloc((s->all_count + 1) * sizeof *s->all);
    if (!s->all) return db_fail_memory(context, "another lattice's spots");
    memcpy(s->all, s->left.spot, s->all_count * sizeof *s->all);
    (void)db_orientation_agreement(&s->cell, s->turn[0], 1, s->all, s->all_count, s->marked);
    *left = drop_marked(s->marked, &s->left);
    return DB_OK;
}

/* The known lattice may be no more than a row or a layer of the other one's. */
static int is_known_a_part(const series *s) {
    const db_search_spots all = { s->all_count, s->all };
    (void)db_orientation_agreement(&s->cell, s->turn[0], 1, s->all, s->all_count, s->marked);
    return is_part_of(&s->cell, s->turn[1], &all, s->marked, s->marked + s->all_count);
}

db_status db_find_other_lattice(db_context *context, const db_experiment *model,
                                const db_fit_settings *settings, const db_observed_spots *spots,
                                size_t most, size_t *left, db_fit_orientation *found) {
    const double some = 0.1;
    db_fit_lattice lattices[2];
    series s = { .experiment = model,
                 .lattice = lattices,
                 .effort = some,
                 .count = 1,
                 .all_count = spots->count,
                 .turn = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } } };
    memset(found, 0, sizeof *found);
    db_status status = list_of(context, settings, spots, &s, &s.left);
    s.marked = malloc(2 * spots->count + 1);
    if (status == DB_OK && !s.marked) status = db_fail_memory(context, "another lattice's spots");
    if (status == DB_OK && left) status = leave_apart(context, &s, left);
    if (s.left.count > most) s.left.count = most;
    if (status == DB_OK) status = find_other(context, settings, &s);
    if (status == DB_OK && s.count == 2 && (!left || !is_known_a_part(&s)))
        *found = lattices[1].found;
    free(s.all);
    free(s.marked);
    free(s.left.spot);
    return status;
}

static db_status find_lattices(db_context *context, const db_fit_settings *settings,
                               const db_experiment *experiment, size_t most, db_image_spots *spots,
                               db_fit_lattice *lattices, size_t *count) {
    *count = 0;
    memset(lattices, 0, most * sizeof *lattices);
    DB_TRY(db_fit_check_data(context, experiment, spots->image, settings));
    DB_TRY(db_fit_check_spacing(context, experiment));
    DB_TRY(db_image_spots_need(context, settings, spots));
    series s = { .experiment = experiment, .lattice = lattices, .effort = 1 };
    const db_status status = search_in(context, settings, &spots->seen, most, &s);
    *count = s.count;
    return status;
}

db_status db_fit_find_lattices(db_context *context, const db_measured_image *image,
                               const db_fit_settings *settings, const db_experiment *experiment,
                               size_t most, db_fit_lattice *lattices, size_t *count) {
    db_image_spots spots = { .image = image };
    const db_status status =
        find_lattices(context, settings, experiment, most, &spots, lattices, count);
    db_image_spots_clear(&spots);
    return status;
}

/* Prepares a search among spots of several images. still: room for the model with its spindle at 0. */
static db_status search_of_spots(db_context *context, const db_fit_cell_spots *spots,
                                 const db_experiment *start, db_experiment *still, series *s,
                                 db_search_spots *list) {
    const size_t seen = db_fit_cell_spots_count(spots);
    *still = *start; /* borrows */
    still->goniometer.phi = still->goniometer.phi_step = 0;
    still->goniometer.phi_steps = 1;
    s->experiment = still;
    *list = (db_search_spots){ seen, malloc((seen + 1) * sizeof *list->spot) };
    if (!list->spot) return db_fail_memory(context, "the spots of the search for the orientation");
    if (seen) memcpy(list->spot, spots->list.spot, seen * sizeof *list->spot);
    return make_cell(context, s);
}

db_status db_find_lattices_of_spots(db_context *context, const db_fit_settings *settings,
                                    const db_fit_cell_spots *spots, const db_experiment *start,
                                    size_t most, db_fit_lattice *lattices, size_t *count) {
    db_experiment still;
    series s = { .lattice = lattices, .effort = 1 };
    db_search_spots list;
    *count = 0;
    memset(lattices, 0, most * sizeof *lattices);
    db_status status = search_of_spots(context, spots, start, &still, &s, &list);
    open_room(settings, &s);
    if (status == DB_OK) status = find_all(context, settings, &list, most, &s);
    *count = s.count;
    free(list.spot);
    return status;
}

static void other_settings(const db_fit_settings *settings, const double cell[6],
                           db_indexings *ways) {
    db_indexings_of_centring(cell, db_centring_of_cell(settings->centring, cell),
                             DB_INDEXING_STRAIN, ways);
}

int db_has_other_settings(const db_fit_settings *settings, const double cell[6]) {
    db_indexings ways;
    other_settings(settings, cell, &ways);
    return ways.count > 1;
}

static const double AS_GIVEN[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

/* Turns a crystal whose known amplitudes certainly fit another way of indexing. */
static db_status turn_to_amplitudes(db_context *context, const db_indexings *ways, const char *name,
                                    const series *s, const db_search_spots *list,
                                    db_crystal *crystal) {
    const double certainly = 4; /* standard deviations of chance */
    char text[DB_INDEXING_TEXT];
    double gain;
    unsigned char *const near = malloc(list->count + 1);
    db_ordered_intensity *const ordered = malloc((list->count + 1) * sizeof *ordered);
    const db_status status =
        db_need_memory(context, near && ordered, "the intensities of a lattice");
    const int best =
        status == DB_OK ? best_ordered(s, AS_GIVEN, list, ways, near, ordered, &gain) : 0;
    free(ordered);
    free(near);
    DB_TRY(status);
    if (best == 0 || !(gain > certainly)) return DB_OK;
    DB_TRY(turn_setting(context, &ways->way[best], crystal));
    db_notice(context,
              "%s: the given orientation was turned, so that indices are now %s: the known "
              "amplitudes then agree better with the order of the spots' light, by %.1f standard "
              "deviations of chance",
              name, db_indexing_text(&ways->way[best], text), gain);
    return DB_OK;
}

/* Turns a crystal as db_allow_given_indices does. */
static db_status turn_given(db_context *context, const db_fit_settings *settings, const char *name,
                            const series *s, const db_search_spots *list, db_crystal *crystal,
                            int *turned) {
    const int centring = db_centring_of_cell(settings->centring, crystal->cell);
    char text[DB_INDEXING_TEXT];
    db_indexings ways;
    double gain;
    unsigned char *const near = malloc(list->count + 1);
    if (!near) return db_fail_memory(context, "the spots of the search for the orientation");
    other_settings(settings, crystal->cell, &ways);
    const int best = best_setting(s, AS_GIVEN, list, centring, &ways, near, &gain);
    free(near);
    *turned = gain > DB_CERTAIN;
    if (!*turned) return DB_OK;
    DB_TRY(turn_setting(context, &ways.way[best], crystal));
    db_notice(context,
              "%s: the given orientation was turned, so that indices are now %s: most spots had "
              "indices that the centring %c of the named symmetry forbids",
              name, db_indexing_text(&ways.way[best], text), settings->centring);
    return DB_OK;
}

db_status db_allow_given_indices(db_context *context, const db_fit_settings *settings,
                                 const char *name, db_image_spots *spots,
                                 db_experiment *experiment) {
    series s = { .experiment = experiment };
    db_search_spots list = { 0, NULL };
    int turned;
    const int has_other = db_has_other_settings(settings, experiment->crystal.cell);
    db_indexings ways;
    DB_TRY(ways_of_amplitudes(context, settings, experiment, experiment->crystal.cell, &ways));
    if (!has_other && ways.count == 1) return DB_OK;
    DB_TRY(db_fit_check_data(context, experiment, spots->image, settings));
    DB_TRY(db_image_spots_need(context, settings, spots));
    db_status status = list_of(context, settings, &spots->seen, &s, &list);
    if (status == DB_OK && has_other)
        status = turn_given(context, settings, name, &s, &list, &experiment->crystal, &turned);
    if (status == DB_OK) status = make_cell(context, &s);
    if (status == DB_OK && ways.count > 1)
        status = turn_to_amplitudes(context, &ways, name, &s, &list, &experiment->crystal);
    free(list.spot);
    return status;
}

db_status db_allow_given_indices_of_spots(db_context *context, const db_fit_settings *settings,
                                          const char *name, const db_fit_cell_spots *spots,
                                          db_experiment *start, int *turned) {
    db_experiment still;
    series s = { .effort = 1 };
    db_search_spots list;
    *turned = 0;
    db_status status = search_of_spots(context, spots, start, &still, &s, &list);
    if (status == DB_OK)
        status = turn_given(context, settings, name, &s, &list, &start->crystal, turned);
    free(list.spot);
    return status;
}

void db_lattice_correct(const db_fit_lattice *lattice, db_experiment *experiment) {
    for (int i = 0; i < 3; i++) experiment->crystal.cell[i] *= lattice->edge_scale[i];
    for (int d = 0; d < 2; d++) experiment->detector.centre[d] += lattice->beam_shift[d];
}

db_status db_find_orientation_of_spots(db_context *context, const db_fit_settings *settings,
                                       db_image_spots *spots, db_experiment *experiment,
                                       db_fit_orientation *found) {
    db_fit_lattice one;
    size_t count;
    const db_status status = find_lattices(context, settings, experiment, 1, spots, &one, &count);
    *found = one.found;
    DB_TRY(status);
    db_orientation_set(one.orientation, &experiment->crystal);
    db_lattice_correct(&one, experiment);
    return DB_OK;
}

db_status db_fit_find_orientation(db_context *context, const db_measured_image *image,
                                  const db_fit_settings *settings, db_experiment *experiment,
                                  db_fit_orientation *found) {
    db_image_spots spots = { .image = image };
    const db_status status =
        db_find_orientation_of_spots(context, settings, &spots, experiment, found);
    db_image_spots_clear(&spots);
    return status;
}
