/* Finds the cell of a crystal on an image: its lattice, and the highest Bravais lattice that spots cannot
 * distinguish from it. */
#include "base/cell_constants.h"
#include "base/context_internal.h"
#include "base/degree.h"
#include "base/quantile.h"
#include "base/vector.h"
#include "fit/config/certain.h"
#include "fit/config/orientation.h"
#include "fit/pixels/observed_spots.h"
#include "fit/search/automatic.h"
#include "fit/search/bravais.h"
#include "fit/search/cell_search.h"
#include "fit/search/search_spots.h"
#include "fit/search/check_settings.h"

#include <dualbragg/expert/fit_cell.h>
#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 }; /* strongest spots, which count */
/* A Bravais lattice does not fit if it loses more than this fraction of the indexed spots of the triclinic lattice, */
static const double least_indexed = 0.85;
/* or if held-out spots are likelier with a lower one, by the limit of all verdicts, times its excess, for each halving of the
 * symmetry. */
static const double most_lost = DB_CERTAIN;

/* Fits a Bravais lattice to the spots; free: the triclinic lattice. Returns the spread of spots about nodes. */
static double fit_lattice(const db_bravais *from, const db_lattice *free, db_lattice_held held,
                          const db_search_spot *spots, size_t count, unsigned char *near,
                          db_fit_bravais *b, double *distance, double rows[9]) {
    const db_cell_ties *const ties = from->ties;
    db_lattice fitted = *free;
    double edges[9], rounding[2];
    memcpy(b->symbol, from->symbol, sizeof from->symbol);
    b->strain = from->strain;
    const double spread = db_lattice_fit_tied(&fitted, from->edges, ties, held, spots, count, near);
    b->indexed = db_lattice_agreement(&fitted, DB_LATTICE_ANGLE, spots, count, NULL).near;
    *distance = fitted.distance;
    fitted = *free;
    if (held == DB_LATTICE_HOLDS_NOTHING) held = DB_LATTICE_HOLDS_DISTANCE;
    (void)db_lattice_fit_tied(&fitted, from->edges, ties, held, spots, count, near);
    for (int i = 0; i < 9; i++) edges[i] = from->edges[i];
    db_multiply(edges, fitted.real, rows);
    db_cell_of_edges(rows, b->cell);
    db_cell_regularize(ties, b->cell, &rounding[0], &rounding[1]);
    return spread;
}

/* Compares a Bravais lattice with all lower ones. evidence: of held-out spots; a lower lattice that they do not determine says
 * nothing. A lower one may have absorbed errors that neighbours share, so its gain is divided by their excess. */
static int is_likeliest_kind(const db_bravais *list, const db_fit_bravais *lattice,
                             const db_lattice_evidence *evidence, int count, int at,
                             size_t indexed) {
    const double own = (double)lattice[at].indexed;
    int is_likely = at == count - 1 || own >= least_indexed * (double)indexed;
    for (int i = at + 1; i < count; i++)
        if (list[i].order < list[at].order)
            is_likely &= isnan(evidence[i].likelihood) ||
                         (evidence[i].likelihood - evidence[at].likelihood) / evidence[i].excess <=
                             most_lost * log2((double)list[at].order / list[i].order);
    return is_likely;
}

static void name_lattices(const db_fit_found_cell *cell, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "it may be one of");
    for (int i = 0; i < cell->count && length < size; i++) {
        const db_fit_bravais *const b = &cell->lattice[i];
        length += (size_t)snprintf(
            text + length, size - length, "%s %s %.5g %.5g %.5g %.4g %.4g %.4g", i ? ";" : ":",
            b->symbol, b->cell[0], b->cell[1], b->cell[2], b->cell[3], b->cell[4], b->cell[5]);
    }
}

/* The first lattice that the symmetry names, or that fits. named: -1: none; listed: failure message without gemmi. */
static db_status choose_lattice(db_context *context, const char *symmetry, int named,
                                db_status listed, db_fit_found_cell *cell) {
    char text[600];
    cell->named = *symmetry != '\0';
    for (int i = 0; i < cell->count; i++)
        if (cell->named ? i == named : cell->lattice[i].fits) {
            cell->chosen = i;
            return DB_OK;
        }
    if (listed == DB_OK)
        name_lattices(cell, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", db_context_message(context));
    return db_fail(context, listed == DB_OK ? DB_ERROR_INPUT : listed,
                   "the cell that was found cannot have the symmetry %s; %s", symmetry, text);
}

/* Orientation of a cell from its edges (rows, laboratory frame). */
static void find_orientation_of(const double rows[9], db_fit_found_cell *cell) {
    double standard[9], a_star[9];
    db_lattice_rows(cell->lattice[cell->chosen].cell, standard);
    if (db_invert(rows, a_star)) db_multiply(a_star, standard, cell->orientation);
}

/* The lattice, which no symmetry ties, with distance and tilts; as it was found if spots do not determine these. A wrong
 * distance strains a lattice that is fitted without them. */
static void fit_free_lattice(const db_lattice *found, db_lattice_held held,
                             const db_search_spot *spots, size_t count, unsigned char *near,
                             db_lattice *fitted) {
    static const int own[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double cell[6];
    *fitted = *found;
    db_cell_of_edges(found->real, cell);
    if (isnan(db_lattice_fit_tied(fitted, own, db_cell_ties_of("aP", cell), held, spots, count,
                                  near)))
        *fitted = *found;
}

/* The strongest spots, and room for what lattices say of each; all owned. */
typedef struct spot_room {
    db_lattice_held held; /* by fits to them */
    size_t count;
    db_search_spot *spots, *others;
    unsigned char *near, *part;
    double *at; /* two of each */
} spot_room;

static void clear_spot_room(spot_room *r) {
    free(r->spots);
    free(r->others);
    free(r->near);
    free(r->part);
    free(r->at);
}

static db_status make_spot_room(db_context *context, const db_fit_cell_spots *all, spot_room *r) {
    r->held = all->is_flat ? DB_LATTICE_HOLDS_TILTS : DB_LATTICE_HOLDS_NOTHING;
    r->spots = db_search_spots_strongest(&all->list, MOST, &r->count);
    r->others = malloc((r->count + 1) * sizeof *r->others);
    r->near = malloc(r->count + 1);
    r->part = malloc(r->count + 1);
    r->at = malloc((2 * r->count + 1) * sizeof *r->at);
    return db_need_memory(context, r->spots && r->others && r->near && r->part && r->at,
                          "the spots of the search for a cell");
}

/* Evidence of held-out spots of each lattice. r->near: spots near nodes of the free one, which are judged. */
static void judge_held_out(const db_cell_found *found, const db_bravais *list, int lattices,
                           const spot_room *r, db_lattice_evidence *evidence) {
    db_lattice_cut_parts(r->spots, r->count, r->at, r->part);
    for (size_t i = 0; i < r->count; i++)
        if (!r->near[i]) r->part[i] = DB_NO_LATTICE_PART;
    for (int i = 0; i < lattices; i++)
        evidence[i] = db_lattice_held_out(&found->lattice, list[i].edges, list[i].ties, r->held,
                                          r->spots, r->count, r->part, r->others, r->near);
}

static db_status name_symmetries(db_context *context, const db_cell_found *found,
                                 const spot_room *r, const char *symmetry, int centring,
                                 db_fit_found_cell *cell) {
    db_bravais list[DB_MOST_BRAVAIS];
    db_lattice_evidence evidence[DB_MOST_BRAVAIS];
    double distance[DB_MOST_BRAVAIS] = { 0 }, rows[9 * DB_MOST_BRAVAIS], spread[DB_MOST_BRAVAIS];
    db_lattice fitted;
    fit_free_lattice(&found->lattice, r->held, r->spots, r->count, r->near, &fitted);
    const db_status listed = db_bravais_find(context, fitted.real, list, &cell->count);
    if (listed != DB_OK && listed != DB_ERROR_UNSUPPORTED) return listed;
    const int named = db_bravais_take_named(list, cell->count, symmetry, centring);
    judge_held_out(found, list, cell->count, r, evidence);
    for (int i = 0; i < cell->count; i++)
        spread[i] = fit_lattice(&list[i], &found->lattice, r->held, r->spots, r->count, r->near,
                                &cell->lattice[i], &distance[i], &rows[9 * i]);
    for (int i = 0; i < cell->count; i++)
        cell->lattice[i].misfit = spread[i] / spread[cell->count - 1];
    for (int i = 0; i < cell->count; i++)
        cell->lattice[i].fits =
            is_likeliest_kind(list, cell->lattice, evidence, cell->count, i, found->agreement.near);
    memcpy(cell->reduced, cell->lattice[cell->count - 1].cell, sizeof cell->reduced);
    DB_TRY(choose_lattice(context, symmetry, named, listed, cell));
    cell->distance = cell->chosen < cell->count - 1 ? distance[cell->chosen] : 0;
    find_orientation_of(&rows[9 * cell->chosen], cell);
    return DB_OK;
}

static db_status check_chance(db_context *context, const db_fit_settings *settings,
                              const db_cell_found *found, size_t count) {
    const db_agreement *const a = &found->agreement;
    if (count < DB_CELL_FEWEST_SPOTS)
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: the image has %zu in the resolution range (data.strong_sigma %g), and "
            "the search for the "
            "cell needs %d at least; expected an image with more spots, or a cell (model.cell)",
            count ? "too few spots were found" : "no spots were found", count,
            settings->strong_sigma, DB_CELL_FEWEST_SPOTS);
    if (db_cell_is_significant(found)) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "no cell explains the spots: the best lattice has %zu of %zu near its nodes, "
                   "where chance brings %.1f to one lattice, and many were tried; expected "
                   "strong spots of one crystal, a distance within 3 %% and a beam centre within "
                   "10 pixels, or a cell (model.cell)",
                   a->near, a->count, a->by_chance);
}

static db_status find_in(db_context *context, const db_fit_settings *settings,
                         const db_fit_cell_spots *spots, const char *symmetry, int centring,
                         db_fit_found_cell *cell) {
    spot_room r = { 0 };
    db_cell_found found;
    db_status status = make_spot_room(context, spots, &r);
    if (status == DB_OK) status = db_cell_search(context, r.spots, r.count, &found);
    if (status == DB_OK) {
        const db_agreement *const a = &found.agreement;
        cell->found = (db_fit_orientation){ a->count, a->near, a->by_chance,
                                            db_agreement_log_probability(a) };
        status = check_chance(context, settings, &found, r.count);
    }
    if (status == DB_OK) status = name_symmetries(context, &found, &r, symmetry, centring, cell);
    clear_spot_room(&r);
    return status;
}

/* Rotates spots to the crystal at a spindle angle of 0, on the setting of the goniometer that settings are counted from. */
static void turn_back(const db_experiment *experiment, db_search_spots *list) {
    const double phi = -db_goniometer_middle(experiment, NULL) * DB_DEGREE;
    double axis[3], back[9];
    db_experiment_spindle_axis(experiment, axis);
    db_orientation_off_setting(&experiment->crystal, back);
    for (size_t n = 0; n < list->count; n++) {
        db_search_spot *const s = &list->spot[n];
        double *const vector[] = { s->q, s->by_distance, s->by_beam[0], s->by_beam[1] };
        for (size_t v = 0; v < sizeof vector / sizeof *vector; v++) {
            db_turn(axis, phi, vector[v]);
            db_apply(back, vector[v], vector[v]);
        }
    }
}

/* A spot with the light of another one on a neighbouring frame, at their centroid: each frame knows the angle of the spindle to
 * its own width alone. */
static void join_spots(const db_search_spot *from, db_search_spot *to) {
    const double all = to->counts + from->counts, part = all > 0 ? from->counts / all : 0.5;
    double *const vector[] = { to->q, to->by_distance, to->by_beam[0], to->by_beam[1] };
    const double *const other[] = { from->q, from->by_distance, from->by_beam[0],
                                    from->by_beam[1] };
    for (size_t v = 0; v < sizeof vector / sizeof *vector; v++)
        for (int i = 0; i < 3; i++) vector[v][i] += part * (other[v][i] - vector[v][i]);
    to->blur += part * (from->blur - to->blur);
    to->length = db_length(to->q);
    to->counts = all;
}

/* The nearest of some spots within the tolerance of a spot; NULL: there is none. */
static db_search_spot *same_spot(db_search_spot *list, size_t count, const db_search_spot *spot) {
    double nearest = db_search_tolerance(spot, DB_LATTICE_ANGLE);
    db_search_spot *same = NULL;
    for (size_t k = 0; k < count; k++) {
        double off[3];
        for (int i = 0; i < 3; i++) off[i] = spot->q[i] - list[k].q[i];
        const double distance = db_length(off);
        if (distance > nearest) continue;
        nearest = distance;
        same = &list[k];
    }
    return same;
}

/* Appends spots, and joins those of one reflection on several images. */
static db_status append_spots(db_context *context, const db_search_spots *more,
                              db_search_spots *all) {
    const size_t before = all->count;
    db_search_spot *const grown = realloc(all->spot, (before + more->count + 1) * sizeof *grown);
    if (!grown) return db_fail_memory(context, "the spots of the search for a cell");
    all->spot = grown;
    for (size_t n = 0; n < more->count; n++) {
        const db_search_spot *const s = &more->spot[n];
        db_search_spot *const same = same_spot(grown, before, s);
        if (same)
            join_spots(s, same);
        else
            grown[all->count++] = *s;
    }
    db_search_spots_sort(all);
    return DB_OK;
}

db_status db_cell_spots_add(db_context *context, const db_fit_settings *settings,
                            const db_experiment *experiment, db_image_spots *own,
                            db_fit_cell_spots **spots) {
    db_search_spots list = { 0, NULL };
    DB_TRY(db_fit_check_data(context, experiment, own->image, settings));
    if (!*spots) *spots = calloc(1, sizeof **spots);
    if (!*spots) return db_fail_memory(context, "the spots of the search for a cell");
    DB_TRY(db_fit_sphere_is_flat(context, experiment, &(*spots)->is_flat));
    DB_TRY(db_image_spots_need(context, settings, own));
    db_status status = db_search_spots_list(context, experiment, settings, &own->seen, &list);
    turn_back(experiment, &list);
    if (status == DB_OK) status = append_spots(context, &list, &(*spots)->list);
    (*spots)->images++;
    free(list.spot);
    return status;
}

db_status db_fit_cell_spots_add(db_context *context, const db_measured_image *image,
                                const db_fit_settings *settings, const db_experiment *experiment,
                                db_fit_cell_spots **spots) {
    db_image_spots own = { .image = image };
    const db_status status = db_cell_spots_add(context, settings, experiment, &own, spots);
    db_image_spots_clear(&own);
    return status;
}

size_t db_fit_cell_spots_count(const db_fit_cell_spots *spots) {
    return spots ? spots->list.count : 0;
}

void db_fit_cell_spots_destroy(db_fit_cell_spots **spots) {
    if (*spots) free((*spots)->list.spot);
    free(*spots);
    *spots = NULL;
}

db_status db_fit_find_cell_of_spots(db_context *context, const db_fit_settings *settings,
                                    const db_fit_cell_spots *spots, const char *symmetry,
                                    int centring, db_fit_found_cell *cell) {
    const db_fit_cell_spots none = { .images = 0 };
    memset(cell, 0, sizeof *cell);
    const db_status status =
        find_in(context, settings, spots ? spots : &none, symmetry, centring, cell);
    if (spots) cell->images = cell->agreeing = spots->images;
    cell->searches = 1;
    return status;
}

/* Images of crystals of one kind vote on its cell. */

static const double same_edge = 0.03, same_angle = 3; /* part, degree */

/* Are two cells alike? Reduced cells of one lattice may have angles on either side of 90 degree, and edges in
 * another order. */
static int are_alike(const db_fit_found_cell *one, const db_fit_found_cell *other) {
    double a[6], b[6];
    for (int i = 0; i < 6; i++) {
        a[i] = i < 3 ? one->reduced[i] : fmin(one->reduced[i], 180 - one->reduced[i]);
        b[i] = i < 3 ? other->reduced[i] : fmin(other->reduced[i], 180 - other->reduced[i]);
    }
    for (int i = 0; i < 6; i += 3) {
        db_sort_numbers(a + i, 3);
        db_sort_numbers(b + i, 3);
    }
    for (int i = 0; i < 6; i++)
        if (fabs(a[i] - b[i]) > (i < 3 ? same_edge * a[i] : same_angle)) return 0;
    return 1;
}

static const db_fit_bravais *lattice_of(const db_fit_found_cell *cell, const char *symbol) {
    for (int i = 0; i < cell->count; i++)
        if (strcmp(cell->lattice[i].symbol, symbol) == 0) return &cell->lattice[i];
    return NULL;
}

/* The cell that most others are like; among several, the one that is least probable by chance. */
static size_t most_liked(const db_fit_found_cell *cells, size_t count, size_t *votes) {
    size_t best = 0;
    *votes = 0;
    for (size_t i = 0; i < count; i++) {
        size_t own = 0;
        for (size_t j = 0; j < count; j++) own += (size_t)are_alike(&cells[i], &cells[j]);
        if (own < *votes ||
            (own == *votes && cells[i].found.log_probability >= cells[best].found.log_probability))
            continue;
        *votes = own;
        best = i;
    }
    return best;
}

/* Brings a triclinic cell to the form that is most like another: with its axes in another order, and two of them turned
 * round, which exchanges angles with their complements to 180 degree. */
static void take_form(const double like[6], double cell[6]) {
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    double best[6], least = INFINITY;
    for (int form = 0; form < 24; form++) {
        double own[6], off = 0;
        for (int i = 0; i < 3; i++) {
            const double angle = cell[3 + orders[form / 4][i]];
            own[i] = cell[orders[form / 4][i]];
            own[3 + i] = form % 4 && form % 4 != i + 1 ? 180 - angle : angle;
            off += pow((own[i] / like[i] - 1) / same_edge, 2) +
                   pow((own[3 + i] - like[3 + i]) / same_angle, 2);
        }
        if (!(off < least)) continue;
        least = off;
        memcpy(best, own, sizeof best);
    }
    if (isfinite(least)) memcpy(cell, best, sizeof best);
}

/* Median of a constant of the lattices of this kind on the images that agree; values: room for all. */
static double constant(const db_fit_found_cell *cells, size_t count, const db_fit_found_cell *like,
                       const char *symbol, int which, double *values) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const db_fit_bravais *const b = lattice_of(&cells[i], symbol);
        if (!b || !are_alike(like, &cells[i])) continue;
        double cell[6];
        memcpy(cell, b->cell, sizeof cell);
        if (*symbol == 'a') take_form(lattice_of(like, symbol)->cell, cell);
        values[known++] = cell[which];
    }
    return db_median(values, known);
}

/* Number of agreeing images on which a lattice of this kind fits. */
static size_t fitting(const db_fit_found_cell *cells, size_t count, const db_fit_found_cell *like,
                      const char *symbol) {
    size_t number = 0;
    for (size_t i = 0; i < count; i++) {
        const db_fit_bravais *const b = lattice_of(&cells[i], symbol);
        number += b && b->fits && are_alike(like, &cells[i]);
    }
    return number;
}

/* The highest lattice that fits on most agreeing images, or the required one. */
static int choose_fitting(const db_fit_found_cell *cells, size_t count,
                          const db_fit_found_cell *like, size_t votes) {
    int i = like->chosen;
    if (like->named) return i;
    for (i = 0; i < like->count - 1; i++)
        if (2 * fitting(cells, count, like, like->lattice[i].symbol) > votes) break;
    return i;
}

db_status db_fit_vote_on_cell(db_context *context, const db_fit_found_cell *cells, size_t count,
                              size_t images, db_fit_found_cell *voted) {
    double *const values = malloc((count + 1) * sizeof *values);
    if (!values) return db_fail_memory(context, "the cells that images vote on");
    size_t votes;
    const db_fit_found_cell *const like = &cells[most_liked(cells, count, &votes)];
    *voted = *like;
    voted->chosen = choose_fitting(cells, count, like, votes);
    voted->images = images;
    voted->agreeing = votes;
    voted->searches = images;
    for (int l = 0; l < voted->count; l++)
        for (int i = 0; i < 6; i++)
            voted->lattice[l].cell[i] =
                constant(cells, count, like, voted->lattice[l].symbol, i, values);
    free(values);
    return DB_OK;
}
