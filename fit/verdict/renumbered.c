/* If all indices are off by one node, the beam centre is off by about the place of the node; a turn, tilts and other
 * edges make up for most of the rest. Spots that look for their nearest nodes find the wrong ones again, so a rival
 * keeps the changed index of each spot while it is fitted. If a panel does not stand where the geometry says, tilts and
 * angles of the cell make up for that; the rival's panels may shift, and its spots keep their indices. */
#include "fit/verdict/renumbered.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "base/vector.h"
#include "fit/config/config_refine.h"
#include "fit/config/orientation.h"
#include "fit/config/physical_range.h"
#include "fit/config/quantity.h"
#include "fit/linear/cholesky.h"
#include "fit/objective/variables.h"
#include "fit/search/agreement.h"
#include "fit/search/automatic.h"
#include "fit/search/orientation_search.h"
#include "fit/verdict/rivals.h"
#include "fit/verdict/spot_blocks.h"

#include <dualbragg/expert/fit_configurations.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAR = 5,           /* largest change of an index */
    FORM = 4,          /* numbers of a change: 1, h, k, l */
    TRIED = 16,        /* changes that are fitted: those that are likeliest to first order */
    STEPS = 4,         /* with the slopes of the start */
    MOST_SHIFTING = 32 /* panels that may shift: those with most spots */
};
static const double USUAL_SHIFT = 12; /* pixels, of a panel: as far as a beam centre is off */

/* A spot at a node of the model. */
typedef struct numbered_spot {
    const db_observed_spot *seen;
    const double *offset; /* of its evidence */
    double node[3];
    size_t shift; /* number of the first of two moves that shift its panel; 0: it stays */
    double trust; /* of Student's distribution */
    double weight
        [9]; /* inverse covariance of its coordinates, times its probability of being at the node */
} numbered_spot;

/* Moves of a model that bring nodes to their spots. */
typedef struct numbering {
    db_context *context;
    const db_experiment *model;
    db_variables v;
    size_t count, moves; /* of spots; of variables and shifts of panels (pixels) */
    size_t *shift;       /* of each panel, as numbered_spot.shift; owned; NULL: all stay */
    numbered_spot *spot;
    double *slope; /* [count][3][moves]; owned, with the following */
    double *q; /* [count][3]: scattering vectors of the spots, by the last place of the variables */
    double *at;     /* [count][3]: coordinates of nodes as seen from their spots, */
    double *same;   /* [FORM][count][3]: and after moves, of each number of a change */
    double *moved;  /* [FORM][moves]: these moves */
    double *factor; /* of the normal matrix of the moves */
    double *usual;  /* standard deviations of moves */
    double *start, *value, *other, *step, *room;
    double found[2]; /* pixels by which a search has moved the beam centre */
    int is_thick;    /* of the evidence */
} numbering;

/* Settings that refine orientation, beam centre, distance and tilts, and what else was refined and moves spots: a held
 * value that is wrong must not look like wrong indices. Bounds of the orientation count from the start of the refinement, and
 * would move a model whose orientation is its own zero. */
static db_status settings_of_numbers(db_context *context, const db_fit_settings *settings,
                                     const db_experiment *model, db_fit_settings *own) {
    static const db_parameter of_detector[DB_ALWAYS_MOVING - 3] = {
        DB_BEAM_FAST,     DB_BEAM_SLOW,     DB_DETECTOR_ROTX,
        DB_DETECTOR_ROTY, DB_DETECTOR_ROTZ, DB_DISTANCE
    };
    DB_TRY(db_fit_settings_copy(context, settings, own));
    for (size_t i = 0; i < own->parameter_count; i++) {
        db_fit_parameter *const p = &own->parameters[i];
        const db_lever lever = db_facts_of(p->parameter)->lever;
        const int moves = p->group < 0 && p->stages != DB_FIT_NOT_EARNED &&
                          lever != DB_LEVER_NONE && lever != DB_LEVER_SIZE;
        p->stages = moves ? DB_FIT_ALL_STAGES : DB_FIT_NOT_EARNED;
        if (db_orientation_axis(p->parameter) < 0) continue;
        p->lower = -INFINITY;
        p->upper = INFINITY;
    }
    db_status status = DB_OK;
    for (int i = 0; i < DB_ALWAYS_MOVING && status == DB_OK; i++) {
        const db_parameter p = i < 3 ? db_orientation_parameter(i) : of_detector[i - 3];
        db_fit_parameter *freed;
        if (db_turns_about_beam(model, p)) continue;
        status = db_fit_settings_need(context, p, own, &freed);
        if (status == DB_OK) freed->stages = DB_FIT_ALL_STAGES;
    }
    if (status != DB_OK) db_fit_settings_clear(own);
    return status;
}

/* The covariance of a spot's coordinates: widths, and equal probability along recorded lines. */
static void weigh_spot(const db_evidence_spot *s, const db_evidence_width *w, double part,
                       double weight[9]) {
    const double width[3] = { w->place, w->place, w->turn }, uniform = 12;
    double covariance[9] = { 0 };
    for (int i = 0; i < 3; i++) {
        covariance[4 * i] = width[i] * width[i];
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < DB_SWEEPS; k++)
                covariance[3 * i + j] += s->sweep[k][i] * s->sweep[k][j] / uniform;
    }
    if (!db_invert(covariance, weight)) memset(weight, 0, 9 * sizeof *weight);
    for (int i = 0; i < 9; i++) weight[i] *= part;
}

static void number_spots(const db_observed_spots *spots, const db_evidence *e, numbering *n) {
    db_evidence_nodes nodes;
    if (!db_evidence_nodes_of(e, e->lattice, &nodes)) return;
    for (size_t i = 0; i < e->judged; i++) {
        const int half = !db_evidence_half(i);
        const db_evidence_width *const w = &e->width[half];
        const double made = w->part * e->density[half][i];
        numbered_spot *const s = &n->spot[n->count];
        int hkl[3];
        if (!db_evidence_is_at(e, i)) continue;
        db_evidence_node(e, &nodes, i, hkl);
        *s = (numbered_spot){ .seen = &spots->spot[i],
                              .offset = e->spot[i].offset,
                              .shift = n->shift ? n->shift[spots->spot[i].panel] : 0,
                              .trust = 1,
                              .node = { hkl[0], hkl[1], hkl[2] } };
        weigh_spot(&e->spot[i], w, made / (made + 1 - w->part), s->weight);
        n->count++;
    }
}

/* Which scattering vectors nodes are placed beside. */
typedef enum rays { RAYS_MOVED, RAYS_NEW, RAYS_KNOWN } rays; /* new: they become n->q */

/* Coordinates of all nodes of a moved model, with changed indices. value: of the variables. */
static db_status place_nodes(const numbering *n, const double *value, const int by[3], rays which,
                             double *at) {
    db_experiment moved = *n->model; /* borrows */
    db_fit_geometry g;
    db_variables_set(&n->v, value, &moved);
    DB_TRY(db_fit_geometry_of(n->context, &moved, &g));
#if defined(_OPENMP)
    const double spot_ns = 700; /* of new scattering vectors */
    const int threads = db_threads_worth(n->context, (long)n->count, spot_ns);
#pragma omp parallel for num_threads(threads) if (threads > 1 && which != RAYS_KNOWN)
#endif
    for (size_t i = 0; i < n->count; i++) {
        const numbered_spot *const s = &n->spot[i];
        const double index[3] = { s->node[0] + by[0], s->node[1] + by[1], s->node[2] + by[2] };
        double own[3], apart[3], *const q = which == RAYS_MOVED ? own : n->q + 3 * i;
        if (which != RAYS_KNOWN)
            db_fit_geometry_scattering(&g, s->seen->panel, s->seen->position, q);
        db_apply(g.a_star, index, apart);
        for (int k = 0; k < 3; k++) apart[k] -= q[k];
        db_apply(s->offset, apart, at + 3 * i);
        for (size_t k = 0; k < 2 && s->shift; k++) at[3 * i + k] -= value[s->shift + k];
    }
    db_fit_geometry_clear(&g);
    return DB_OK;
}

static const int SAME[3] = { 0, 0, 0 };

/* Does a variable only move nodes, and not the rays of spots? */
static int keeps_rays(const db_variables *v, size_t variable) {
    for (size_t l = 0; l < v->link_count; l++) {
        const db_parameter_kind kind = db_facts_of(v->parameter[v->links[l].column])->kind;
        if (v->links[l].variable == variable && kind != DB_KIND_CELL_EDGE &&
            kind != DB_KIND_CELL_ANGLE && kind != DB_KIND_MISSET)
            return 0;
    }
    return 1;
}

/* Coordinates of nodes and their slopes at a place of the variables. */
static db_status find_moves(numbering *n, const int by[3]) {
    const size_t moves = n->moves;
    DB_TRY(place_nodes(n, n->value, by, RAYS_NEW, n->at));
    for (size_t k = 0; k < n->v.count; k++) {
        const db_parameter p = n->v.parameter[k];
        double low, high;
        db_reach_of(n->model, db_facts_of(p), n->v.start[k], &low, &high);
        n->usual[k] = (high - low) / 4;
        const double step = 1e-3 * n->usual[k];
        memcpy(n->other, n->value, moves * sizeof *n->value);
        n->other[k] += step;
        DB_TRY(
            place_nodes(n, n->other, by, keeps_rays(&n->v, k) ? RAYS_KNOWN : RAYS_MOVED, n->room));
        for (size_t i = 0; i < 3 * n->count; i++)
            n->slope[i * moves + k] = (n->room[i] - n->at[i]) / step;
    }
    for (size_t k = n->v.count; k < moves; k++) {
        n->usual[k] = USUAL_SHIFT;
        for (size_t i = 0; i < 3 * n->count; i++) {
            const size_t shift = n->spot[i / 3].shift, along = i % 3;
            n->slope[i * moves + k] = shift && along < 2 && shift + along == k ? -1 : 0;
        }
    }
    return DB_OK;
}

/* Adds weight x slope x of: the slopes of the square by the first moves. sum: [count] */
static void add_slopes(const numbering *n, size_t spot, const double of[3], size_t count,
                       double *sum) {
    const size_t moves = n->moves;
    double weighted[3];
    db_apply(n->spot[spot].weight, of, weighted);
    for (int i = 0; i < 3; i++) weighted[i] *= n->spot[spot].trust;
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < count; k++)
            sum[k] += weighted[i] * n->slope[(3 * spot + (size_t)i) * moves + k];
}

/* Products of slopes of all spots; the lower triangle. */
static void multiply_slopes(const numbering *n, double *normal) {
    const size_t moves = n->moves;
    memset(normal, 0, moves * moves * sizeof *normal);
    for (size_t s = 0; s < n->count; s++)
        for (size_t k = 0; k < moves; k++) {
            const double *const slope = n->slope + 3 * s * moves + k;
            const double column[3] = { slope[0], slope[moves], slope[2 * moves] };
            if (column[0] == 0 && column[1] == 0 && column[2] == 0) continue; /* another panel */
            add_slopes(n, s, column, k + 1, normal + k * moves);
        }
}

static void factor_moves(numbering *n, double *normal) {
    const size_t moves = n->moves;
    multiply_slopes(n, normal);
    for (size_t k = 0; k < moves; k++) normal[k * moves + k] += 1 / (n->usual[k] * n->usual[k]);
    db_cholesky_factor(moves, normal, moves, 0, NULL, DB_LEAST_FOR_STEP, n->factor);
}

/* A change of indices. */
typedef struct change {
    double score; /* log likelihood, but for a constant */
    int by[3];
} change;

static double square_at(const numbering *n, size_t spot) {
    double weighted[3];
    db_apply(n->spot[spot].weight, n->at + 3 * spot, weighted);
    return db_dot(weighted, n->at + 3 * spot);
}

/* Weights of Student's distribution, whose width is that of the spots that it trusts. */
static void trust_spots(numbering *n) {
    enum { ROUNDS = 10 };
    double scale = 1, *const square = n->room;
    for (size_t s = 0; s < n->count; s++) square[s] = square_at(n, s);
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0, all = 0;
        for (size_t s = 0; s < n->count; s++) {
            n->spot[s].trust = (DB_STUDENT_FREEDOM + 3) / (DB_STUDENT_FREEDOM + square[s] / scale);
            sum += n->spot[s].trust * square[s];
            all += 3;
        }
        scale = sum / all;
    }
}

/* The step that n->value must be lowered by. moved: from the start */
static void find_step(numbering *n, const double *moved) {
    const size_t moves = n->moves;
    memset(n->step, 0, moves * sizeof *n->step);
    for (size_t s = 0; s < n->count; s++) add_slopes(n, s, n->at + 3 * s, moves, n->step);
    for (size_t k = 0; k < moves; k++) n->step[k] += moved[k] / (n->usual[k] * n->usual[k]);
    db_cholesky_solve(moves, n->factor, n->step);
}

/* Least squares of all moves to first order are linear in a change of indices. Coordinates of nodes after the moves, and moves:
 * with the present indices, and what one more of each index adds. */
static void fit_indices(numbering *n, const db_evidence *e) {
    const size_t moves = n->moves, size = 3 * n->count;
    for (size_t s = 0; s < n->count; s++) n->spot[s].trust = 1;
    factor_moves(n, n->room);
    for (size_t j = 0; j < FORM; j++) {
        double *const same = n->same + j * size, *const moved = n->moved + j * moves;
        for (size_t s = 0; s < n->count && j > 0; s++) {
            const double row[3] = { e->lattice[j - 1], e->lattice[3 + j - 1],
                                    e->lattice[6 + j - 1] };
            db_apply(n->spot[s].offset, row, n->at + 3 * s);
        }
        memset(n->other, 0, moves * sizeof *n->other);
        find_step(n, n->other);
        for (size_t k = 0; k < moves; k++) moved[k] = -n->step[k];
        for (size_t i = 0; i < size; i++) {
            same[i] = n->at[i];
            for (size_t k = 0; k < moves; k++) same[i] += n->slope[i * moves + k] * moved[k];
        }
    }
}

static double changed(const double *form, size_t stride, const int by[3]) {
    return form[0] + by[0] * form[stride] + by[1] * form[2 * stride] + by[2] * form[3 * stride];
}

/* Log likelihood of spots at nodes with changed indices, but for a constant. Spots follow Student's distribution, since a
 * wrong model meets some spots with indices of another kind. */
static double score_change(numbering *n, const int by[3]) {
    const double large = 1e100; /* few logarithms */
    double density = 1, score = 0;
    for (size_t i = 0; i < 3 * n->count; i++) n->at[i] = changed(n->same + i, 3 * n->count, by);
    for (size_t s = 0; s < n->count; s++) {
        density *= 1 + square_at(n, s) / DB_STUDENT_FREEDOM;
        if (density < large && s + 1 < n->count) continue;
        score -= DB_STUDENT_POWER * log(density);
        density = 1;
    }
    for (size_t k = 0; k < n->moves; k++)
        score -= pow(changed(n->moved + k, n->moves, by) / n->usual[k], 2) / 2;
    return score;
}

/* The farthest that a node may be from the beam centre, whose place it takes, as a length in reciprocal space: two of its
 * standard deviations along both axes. */
static double reach_of_beam(const numbering *n) {
    double square = 0;
    for (size_t k = 0; k < n->v.count; k++)
        if (db_moves_beam(n->v.parameter[k])) square += pow(2 * n->usual[k], 2);
    return sqrt(square) / n->model->detector.distance / n->model->beam.wavelength;
}

/* The likeliest changes of indices, the first one likeliest; returns their number. */
static size_t find_changes(numbering *n, const db_evidence *e, change best[TRIED]) {
    enum { SIDE = 2 * FAR + 1 };
    const double reach = reach_of_beam(n);
    size_t found = 0;
    fit_indices(n, e);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        change c = { 0, { i / SIDE / SIDE - FAR, i / SIDE % SIDE - FAR, i % SIDE - FAR } };
        const double index[3] = { c.by[0], c.by[1], c.by[2] };
        double node[3];
        if (!c.by[0] && !c.by[1] && !c.by[2]) continue;
        db_apply(e->lattice, index, node);
        if (db_length(node) > reach) continue;
        c.score = score_change(n, c.by);
        found = db_search_keep(&c, sizeof c, best, found, TRIED);
    }
    return found;
}

/* Likelihood of the spots, on panels that have shifted, with a moved model. */
static db_status judge_moved(const numbering *n, const db_experiment *moved,
                             const db_observed_spots *spots, double *likelihood) {
    db_evidence other;
    db_observed_spots shifted = *spots;
    shifted.spot = malloc((spots->count + 1) * sizeof *shifted.spot);
    if (!shifted.spot) return db_fail_memory(n->context, "other indices of spots");
    for (size_t i = 0; i < spots->count; i++) {
        db_observed_spot *const s = &shifted.spot[i];
        const size_t shift = n->shift ? n->shift[spots->spot[i].panel] : 0;
        *s = spots->spot[i];
        for (size_t k = 0; k < 2 && shift; k++) s->position[k] += n->value[shift + k];
    }
    db_status status = db_evidence_make(n->context, moved, &shifted, &other);
    free(shifted.spot);
    DB_TRY(status);
    if (n->is_thick) status = db_evidence_thicken(n->context, &other);
    *likelihood = db_margin_over_none(&other);
    db_evidence_clear(&other);
    return status;
}

/* Fits the model with changed indices, and takes its likelihood. value: where it ends. */
static db_status fit_numbers(numbering *n, const db_observed_spots *spots, const int by[3],
                             double *likelihood) {
    const size_t moves = n->moves;
    db_experiment moved = *n->model; /* borrows */
    memcpy(n->value, n->start, moves * sizeof *n->value);
    for (size_t s = 0; s < n->count; s++) n->spot[s].trust = 1;
    for (int step = 0; step < STEPS; step++) {
        DB_TRY(find_moves(n, by));
        if (step) trust_spots(n);
        factor_moves(n, n->room);
        for (size_t k = 0; k < moves; k++) n->other[k] = n->value[k] - n->start[k];
        find_step(n, n->other);
        for (size_t k = 0; k < moves; k++) {
            n->value[k] -= n->step[k];
            if (k < n->v.count) n->value[k] = fmin(n->v.upper[k], fmax(n->v.lower[k], n->value[k]));
        }
    }
    db_variables_set(&n->v, n->value, &moved);
    DB_TRY(judge_moved(n, &moved, spots, likelihood));
    for (size_t k = 0; k < moves; k++)
        *likelihood -= pow((n->value[k] - n->start[k]) / n->usual[k], 2) / 2;
    return DB_OK;
}

static double moved_by(const numbering *n, db_parameter parameter) {
    for (size_t k = 0; k < n->v.count; k++)
        if (n->v.parameter[k] == parameter) return n->value[k] - n->v.start[k];
    return 0;
}

static void describe_rival(const numbering *n, const int by[3], db_renumbered_model *rival) {
    double turn[3];
    for (int i = 0; i < 3; i++) turn[i] = moved_by(n, db_orientation_parameter(i));
    memcpy(rival->by, by, sizeof rival->by);
    rival->turn = db_length(turn);
    for (int d = 0; d < 2; d++)
        rival->shift[d] = moved_by(n, d ? DB_BEAM_SLOW : DB_BEAM_FAST) /
                          n->model->detector.panels[0].pixel_size[d];
}

/* ln of the probability of the beam centre beside the given one. */
static double known_beam(const numbering *n) {
    double square = 0;
    for (int d = 0; d < 2; d++)
        square += pow((n->found[d] + moved_by(n, d ? DB_BEAM_SLOW : DB_BEAM_FAST) /
                                         n->model->detector.panels[0].pixel_size[d]) /
                          DB_LIKELY_BEAM,
                      2);
    return -square / 2;
}

/* gain: over the model. */
static void keep_likeliest(const numbering *n, double gain, db_other_indices *likeliest) {
    db_experiment moved = *n->model; /* borrows */
    if (likeliest->gain >= gain) return;
    db_variables_store(&n->v, n->value, &moved);
    likeliest->gain = gain;
    likeliest->crystal = moved.crystal;
    memcpy(likeliest->centre, moved.detector.centre, sizeof likeliest->centre);
}

static db_status compare_numbers(numbering *n, const db_observed_spots *spots, const db_evidence *e,
                                 db_renumbered_model *rival) {
    change tried[TRIED];
    double own, other, most = -INFINITY;
    memcpy(n->value, n->start, n->moves * sizeof *n->value);
    rival->likeliest.own = db_margin_over_none(e) + known_beam(n);
    DB_TRY(find_moves(n, SAME));
    const size_t count = find_changes(n, e, tried);
    DB_TRY(fit_numbers(n, spots, SAME, &own));
    own = fmax(own, db_margin_over_none(e));
    const double known = own + known_beam(n);
    for (size_t t = 0; t < count; t++) {
        DB_TRY(fit_numbers(n, spots, tried[t].by, &other));
        keep_likeliest(n, other + known_beam(n) - known, &rival->likeliest);
        if (!(other > most)) continue;
        most = other;
        describe_rival(n, tried[t].by, rival);
    }
    rival->margin = own - most;
    return DB_OK;
}

static db_status take_room(const db_evidence *e, numbering *n) {
    const size_t moves = n->moves, matrix = moves * moves, spots = e->judged + 1,
                 room = 3 * spots > matrix ? 3 * spots : matrix;
    n->spot = malloc(spots * sizeof *n->spot);
    n->slope = malloc((3 * spots * (moves + 2 + FORM) + matrix + (5 + FORM) * moves + room) *
                      sizeof *n->slope);
    if (!n->spot || !n->slope) return db_fail_memory(n->context, "other indices of spots");
    n->q = n->slope + 3 * spots * moves;
    n->at = n->q + 3 * spots;
    n->same = n->at + 3 * spots;
    n->moved = n->same + FORM * 3 * spots;
    n->factor = n->moved + FORM * moves;
    n->usual = n->factor + matrix;
    n->start = n->usual + moves;
    n->value = n->start + moves;
    n->other = n->value + moves;
    n->step = n->other + moves;
    n->room = n->step + moves;
    for (size_t k = 0; k < moves; k++) n->start[k] = k < n->v.count ? n->v.start[k] : 0;
    return DB_OK;
}

static void clear_numbering(numbering *n) {
    free(n->shift);
    free(n->spot);
    free(n->slope);
    db_variables_clear(&n->v);
}

/* Variables of a model without shifts of panels. */
static db_status begin_numbering(db_context *context, const db_experiment *model,
                                 const db_fit_settings *settings, numbering *n) {
    db_fit_settings own;
    *n = (numbering){ .context = context, .model = model };
    DB_TRY(settings_of_numbers(context, settings, model, &own));
    const db_status status =
        db_variables_make(context, &own, DB_FIT_ALL_STAGES, NULL, model, NULL, &n->v);
    n->moves = n->v.count;
    db_fit_settings_clear(&own);
    return status;
}

db_status db_margin_over_renumbered(db_context *context, const db_experiment *model,
                                    const db_fit_settings *settings, const db_observed_spots *spots,
                                    const db_evidence *e, db_renumbered_model *rival) {
    numbering n;
    *rival = (db_renumbered_model){ .margin = NAN, .likeliest = { .gain = NAN } };
    db_status status = begin_numbering(context, model, settings, &n);
    for (int d = 0; d < 2; d++) {
        const db_fit_parameter *const beam =
            db_fit_settings_find(settings, d ? DB_BEAM_SLOW : DB_BEAM_FAST);
        if (beam) n.found[d] = beam->moved / model->detector.panels[0].pixel_size[d];
    }
    n.is_thick = e->is_thick;
    if (status == DB_OK) status = take_room(e, &n);
    if (status == DB_OK) {
        number_spots(spots, e, &n);
        if (n.count > n.moves) status = compare_numbers(&n, spots, e, rival);
    }
    clear_numbering(&n);
    return status;
}

/* A panel by the number of its spots. */
typedef struct spotted_panel {
    double score;
    size_t panel;
} spotted_panel;

/* Lets panels with many spots shift, except the one with most spots. */
static db_status let_panels_shift(const db_observed_spots *spots, const db_evidence *e,
                                  numbering *n) {
    const size_t panels = n->model->detector.panel_count;
    spotted_panel most[MOST_SHIFTING + 1];
    size_t found = 0;
    n->shift = calloc(panels + 1, sizeof *n->shift);
    if (!n->shift) return db_fail_memory(n->context, "displaced panels");
    for (size_t i = 0; i < e->judged; i++)
        if (db_evidence_is_at(e, i)) n->shift[spots->spot[i].panel]++;
    for (size_t p = 0; p < panels; p++) {
        const spotted_panel one = { (double)n->shift[p], p };
        if (n->shift[p] >= DB_FEWEST_ON_PANEL)
            found = db_search_keep(&one, sizeof one, most, found, MOST_SHIFTING + 1);
        n->shift[p] = 0;
    }
    for (size_t i = 1; i < found; i++, n->moves += 2) n->shift[most[i].panel] = n->moves;
    return DB_OK;
}

/* The panel that has shifted farthest, and the refined parameter that moves by most of its errors; not the beam centre, which
 * is as seen from the panel that stays, whichever this is. kept: the moves of the model whose panels stay. */
static void describe_displaced(const numbering *n, const double *kept,
                               const db_fit_estimates *estimates, db_displaced_panel *rival) {
    double farthest = -1;
    for (size_t p = 0; p < n->model->detector.panel_count; p++) {
        const double *const by = n->value + n->shift[p];
        if (!n->shift[p] || !(hypot(by[0], by[1]) > farthest)) continue;
        farthest = hypot(by[0], by[1]);
        rival->panel = (int)p;
        memcpy(rival->shift, by, sizeof rival->shift);
    }
    for (size_t k = 0; k < n->v.count; k++)
        for (size_t i = 0; i < estimates->count; i++) {
            const db_fit_estimate *const one = &estimates->list[i];
            const double errors = fabs(n->value[k] - kept[k]) / one->error;
            if (one->parameter != n->v.parameter[k] || db_moves_beam(one->parameter) ||
                !(errors > rival->errors) || !isfinite(errors))
                continue;
            rival->errors = errors;
            rival->name = one->name;
        }
}

static db_status compare_panels(numbering *n, const db_observed_spots *spots, const db_evidence *e,
                                const db_fit_estimates *estimates, db_displaced_panel *rival) {
    double own, other, *const kept = malloc((n->moves + 1) * sizeof *kept);
    size_t *const shift = n->shift;
    if (!kept) return db_fail_memory(n->context, "displaced panels");
    n->shift = NULL;
    for (size_t s = 0; s < n->count; s++) n->spot[s].shift = 0;
    db_status status = fit_numbers(n, spots, SAME, &own);
    memcpy(kept, n->value, n->moves * sizeof *kept);
    n->shift = shift;
    for (size_t s = 0; s < n->count; s++) n->spot[s].shift = shift[n->spot[s].seen->panel];
    if (status == DB_OK) status = fit_numbers(n, spots, SAME, &other);
    if (status == DB_OK) {
        /* each shift has to raise it by half the ln of the number of spots (G. Schwarz, see verdict.c) */
        rival->margin = fmax(own, db_margin_over_none(e)) - other +
                        (double)(n->moves - n->v.count) / 2 * log((double)n->count);
        describe_displaced(n, kept, estimates, rival);
    }
    free(kept);
    return status;
}

db_status db_margin_over_displaced(db_context *context, const db_experiment *model,
                                   const db_fit_settings *settings, const db_observed_spots *spots,
                                   const db_evidence *e, const db_fit_estimates *estimates,
                                   db_displaced_panel *rival) {
    numbering n;
    *rival = (db_displaced_panel){ .margin = NAN };
    db_status status = begin_numbering(context, model, settings, &n);
    if (status == DB_OK) status = let_panels_shift(spots, e, &n);
    if (status == DB_OK && n.moves > n.v.count) status = take_room(e, &n);
    if (status == DB_OK && n.moves > n.v.count) {
        number_spots(spots, e, &n);
        if (n.count > n.moves) status = compare_panels(&n, spots, e, estimates, rival);
    }
    clear_numbering(&n);
    return status;
}

/* Which unknown a move is; unknowns: it is the shot's own. */
static size_t unknown_of(const numbering *n, const db_shot_panels *shot, size_t move,
                         size_t unknowns) {
    const size_t variables = n->v.count, parameters = shot->equations->parameters;
    if (move >= variables) return move - variables;
    const size_t index = n->v.index[move];
    const int is_shared =
        index < parameters ? shot->shared[index] : db_orientation_axis(n->v.parameter[move]) < 0;
    return is_shared ? 2 * shot->equations->panels + index : unknowns;
}

/* Room for the equations of a shot: all moves, its own ones first. */
typedef struct shot_equations {
    size_t own;             /* quantities of its own */
    size_t *move, *unknown; /* [moves] in this order */
    double *normal;         /* [moves][moves] */
    double *block, *factor; /* [own][own] */
    double *answer;         /* [moves - own + 1][own] */
} shot_equations;

static double product_of(const shot_equations *q, size_t moves, size_t i, size_t j) {
    const size_t a = q->move[i], b = q->move[j];
    return q->normal[a > b ? a * moves + b : b * moves + a];
}

/* Has a quantity of the shot an error, with which its moves are compared? */
static int has_error(const numbering *n, const db_shot_panels *shot, size_t move) {
    const size_t index = n->v.index[move];
    return index < shot->equations->parameters && shot->error[index] > 0 &&
           isfinite(shot->error[index]) && !db_moves_beam(n->v.parameter[move]);
}

/* Eliminates a shot's own quantities, and adds what is left. */
static void add_equations(const numbering *n, const db_shot_panels *shot, const shot_equations *q,
                          db_panel_sums *to) {
    const size_t moves = n->moves, own = q->own;
    for (size_t i = 0; i < own; i++)
        for (size_t j = 0; j < own; j++)
            q->block[i * own + j] =
                product_of(q, moves, i, j) + (i == j ? 1 / pow(n->usual[q->move[i]], 2) : 0);
    db_cholesky_factor(own, q->block, own, 0, NULL, DB_LEAST_FOR_STEP, q->factor);
    for (size_t j = own; j <= moves; j++) {
        double *const answer = q->answer + (j - own) * own;
        for (size_t i = 0; i < own; i++)
            answer[i] = j < moves ? product_of(q, moves, i, j) : n->step[q->move[i]];
        db_cholesky_solve(own, q->factor, answer);
    }
    for (size_t i = own; i < moves; i++) {
        const size_t a = q->unknown[i];
        to->slope[a] += n->step[q->move[i]];
        for (size_t k = 0; k < own; k++)
            to->slope[a] -= product_of(q, moves, k, i) * q->answer[(moves - own) * own + k];
        to->usual[a] += n->usual[q->move[i]];
        for (size_t j = own; j < moves; j++) {
            const size_t b = q->unknown[j];
            if (b > a) continue;
            double left = product_of(q, moves, i, j), square = 0;
            for (size_t k = 0; k < own; k++) {
                const double by = q->answer[(j - own) * own + k];
                left -= product_of(q, moves, k, i) * by;
                if (has_error(n, shot, q->move[k]))
                    square += q->answer[(i - own) * own + k] * by /
                              pow(shot->error[n->v.index[q->move[k]]], 2);
            }
            to->matrix[a * (a + 1) / 2 + b] += left;
            to->own[a * (a + 1) / 2 + b] += square;
        }
    }
    for (size_t k = 0; k < own; k++) *to->owned += has_error(n, shot, q->move[k]);
}

static db_status eliminate_own(numbering *n, const db_shot_panels *shot, db_panel_sums *to) {
    const size_t moves = n->moves;
    shot_equations q = { 0 };
    q.move = malloc(2 * (moves + 1) * sizeof *q.move);
    q.normal = malloc((moves * moves * 3 + (moves + 1) * (moves + 1)) * sizeof *q.normal);
    db_status status = db_need_memory(n->context, q.move && q.normal, "displaced panels");
    if (status == DB_OK) {
        size_t listed = 0;
        q.unknown = q.move + moves + 1;
        q.block = q.normal + moves * moves;
        q.factor = q.block + moves * moves;
        q.answer = q.factor + moves * moves;
        for (int shared = 0; shared < 2; shared++) {
            for (size_t k = 0; k < moves; k++) {
                const size_t unknown = unknown_of(n, shot, k, to->unknowns);
                if ((unknown < to->unknowns) != shared) continue;
                q.move[listed] = k;
                q.unknown[listed++] = unknown;
            }
            if (!shared) q.own = listed;
        }
        multiply_slopes(n, q.normal);
        memset(n->step, 0, moves * sizeof *n->step);
        for (size_t s = 0; s < n->count; s++) add_slopes(n, s, n->at + 3 * s, moves, n->step);
        add_equations(n, shot, &q, to);
    }
    free(q.move);
    free(q.normal);
    return status;
}

static db_status add_panels(numbering *n, const db_observed_spots *spots, const db_evidence *e,
                            const db_shot_panels *shot) {
    db_panel_sums to = db_panel_sums_of(shot->equations, shot->sum);
    double square = 0;
    number_spots(spots, e, n);
    if (n->count <= n->v.count) return DB_OK;
    memcpy(n->value, n->start, n->moves * sizeof *n->value);
    DB_TRY(find_moves(n, SAME));
    trust_spots(n);
    for (int half = 0; half < DB_HALVES; half++)
        square += 2 * pow(e->width[half].place, 2) / DB_HALVES;
    for (size_t s = 0; s < n->count; s++) to.on[n->spot[s].seen->panel]++;
    *to.spots += (double)n->count;
    *to.squares += square * (double)n->count;
    ++*to.shots;
    return eliminate_own(n, shot, &to);
}

db_status db_panel_equations_add(db_context *context, const db_experiment *model,
                                 const db_fit_settings *settings, const db_observed_spots *spots,
                                 const db_evidence *e, const db_shot_panels *shot) {
    const db_panel_equations *const of = shot->equations;
    numbering n;
    if (model->detector.panel_count != of->panels ||
        model->detector.panels[0].pixel_size[0] != of->pixel_size)
        return DB_OK;
    db_status status = begin_numbering(context, model, settings, &n);
    if (status == DB_OK) {
        n.shift = malloc(of->panels * sizeof *n.shift);
        status = db_need_memory(context, n.shift, "displaced panels");
    }
    for (size_t p = 0; p < of->panels && status == DB_OK; p++, n.moves += 2) n.shift[p] = n.moves;
    if (status == DB_OK) status = take_room(e, &n);
    if (status == DB_OK) status = add_panels(&n, spots, e, shot);
    clear_numbering(&n);
    return status;
}
