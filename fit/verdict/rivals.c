#include "fit/verdict/rivals.h"

#include "base/cell_constants.h"
#include "base/context_internal.h"
#include "base/degree.h"
#include "base/quantile.h"
#include "fit/config/certain.h"
#include "fit/config/crystal_system.h"
#include "fit/linear/cholesky.h"
#include "fit/pixels/geometry.h"
#include "fit/search/agreement.h"
#include "fit/verdict/spot_blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_TIMES = 4,
    WAYS = 7 + 13 + 35
}; /* factors on the number of nodes: 2 to 4, or divided by them */

/* How rivals are compared with a model: its spots, and room for the densities of a rival. */
typedef struct comparer {
    const db_evidence *evidence;
    db_spot_block *block[DB_HALVES]; /* judged spots, with the widths of each half; owned, as all */
    double *fitted[2]; /* densities with the widths of a spot's own half: model, rival */
    double *held[2];   /* with those of the other half */
    double *model;     /* ln of the likelihood of each spot beside random places, by the model */
} comparer;

enum { OF_MODEL, OF_RIVAL };

static void clear_comparer(comparer *c) {
    free(c->block[0]);
    free(c->model);
}

static size_t blocks_of(size_t spots) { return (spots + DB_SPOT_BLOCK - 1) / DB_SPOT_BLOCK; }

/* Spots of one half have widths of their own, those of the other half are held out. */
static void sort_densities(comparer *c, int whose, int half, size_t first, size_t count,
                           const double *density) {
    for (size_t i = 0; i < count; i++) {
        const int is_own = db_evidence_half(first + i) == half;
        (is_own ? c->fitted : c->held)[whose][first + i] = density[i];
    }
}

static db_status make_comparer(db_context *context, const db_evidence *e, comparer *c) {
    const size_t judged = e->judged, blocks = blocks_of(judged), room = judged + 1;
    *c = (comparer){ .evidence = e,
                     .block = { malloc((DB_HALVES * blocks + 1) * sizeof *c->block[0]) },
                     .model = calloc(5 * room, sizeof *c->model) };
    if (!c->block[0] || !c->model) {
        clear_comparer(c);
        return db_fail_memory(context, "the rivals of a lattice");
    }
    c->block[1] = c->block[0] + blocks;
    for (int whose = 0; whose < 2; whose++) {
        c->fitted[whose] = c->model + (size_t)(1 + whose) * room;
        c->held[whose] = c->model + (size_t)(3 + whose) * room;
    }
    for (int half = 0; half < DB_HALVES; half++) {
        sort_densities(c, OF_MODEL, half, 0, judged, e->density[half]);
        for (size_t b = 0; b < blocks; b++)
            (void)db_spot_block_take_run(e, &e->width[half], b * DB_SPOT_BLOCK, 1, judged,
                                         &c->block[half][b]);
    }
    for (size_t i = 0; i < judged; i++) c->model[i] = db_evidence_of_spot(e, i);
    return DB_OK;
}

/* Margin at spots that were not fitted, over the rival whose densities are there. */
static double take_margin(const comparer *c, db_rivalry how) {
    const size_t judged = c->evidence->judged;
    double alone[DB_HALVES], own[DB_HALVES], beside[DB_HALVES], sum = 0;
    db_evidence_parts(judged, c->fitted[OF_RIVAL], NULL, alone, beside);
    if (how == DB_RIVAL_ALONE)
        db_evidence_parts(judged, c->fitted[OF_MODEL], c->fitted[OF_RIVAL], own, beside);
    for (size_t i = 0; i < judged; i++) {
        const int half = !db_evidence_half(i);
        const double rival = c->held[OF_RIVAL][i],
                     both = how == DB_RIVAL_INSTEAD
                                ? c->model[i]
                                : log(own[half] * c->held[OF_MODEL][i] + beside[half] * rival + 1 -
                                      own[half] - beside[half]);
        sum += both - log(alone[half] * rival + 1 - alone[half]);
    }
    return sum;
}

/* Orders places of the spots by quarters of neighbours. */
static void cut_quarters(const db_evidence *e, db_place *place) {
    for (size_t i = 0; i < e->judged; i++) {
        place[i].number = i;
        memcpy(place[i].q, e->spot[i].q, sizeof place[i].q);
    }
    db_regions_cut(place, e->judged, DB_QUARTERS);
}

db_status db_margin_in_quarters(db_context *context, const db_evidence *e, double *least) {
    db_place *const place = malloc((e->judged + 1) * sizeof *place);
    if (!place) return db_fail_memory(context, "the quarters of the spots");
    cut_quarters(e, place);
    *least = INFINITY;
    for (int r = 0; r < DB_QUARTERS; r++) {
        double sum = 0;
        for (size_t i = db_region_start(e->judged, DB_QUARTERS, r);
             i < db_region_start(e->judged, DB_QUARTERS, r + 1); i++)
            sum += db_evidence_of_spot(e, place[i].number);
        *least = fmin(*least, sum);
    }
    free(place);
    return DB_OK;
}

db_status db_margins_over_rows(db_context *context, const db_evidence *e, db_rivalry how,
                               double margins[DB_ROW_DIRECTIONS]) {
    comparer c;
    double *const density = malloc((e->judged + 1) * sizeof *density);
    if (!density) return db_fail_memory(context, "the rivals of a lattice");
    const db_status status = make_comparer(context, e, &c);
    for (int d = 0; status == DB_OK && d < DB_ROW_DIRECTIONS; d++) {
        for (int half = 0; half < DB_HALVES; half++) {
            db_evidence_rows(e, d, half, e->judged, density);
            sort_densities(&c, OF_RIVAL, half, 0, e->judged, density);
        }
        margins[d] = take_margin(&c, how);
    }
    if (status == DB_OK) clear_comparer(&c);
    free(density);
    return status;
}

/* Shortens columns by sums and differences of columns. */
static void shorten(double m[9]) {
    for (int changed = 1, rounds = 0; changed && rounds < 100; rounds++) {
        changed = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                double rows[9];
                db_transpose(m, rows);
                const double *const a = rows + 3 * i, *const b = rows + 3 * k;
                const double times = i == k ? 0 : rint(db_dot(a, b) / db_dot(b, b) * (1 - 1e-9));
                if (times == 0) continue;
                for (int j = 0; j < 3; j++) m[3 * j + i] -= times * b[j];
                changed = 1;
            }
    }
}

/* A lattice with fewer nodes: basis in indices of the model's nodes, in rows. */
typedef struct way {
    int times, row[9];
} way;

/* All bases with a fraction of the nodes: divisors of `times` on the diagonal, and all remainders beside it. */
static size_t list_ways(way *list) {
    size_t n = 0;
    for (int times = 2; times <= MOST_TIMES; times++)
        for (int a = 1; a <= times; a++)
            for (int b = 1; a * b <= times; b++)
                for (int i = 0, c = times / (a * b); a * b * c == times && i < b * c * c; i++)
                    list[n++] = (way){ times, { a, i / (c * c), i / c % c, 0, b, i % c, 0, 0, c } };
    return n;
}

/* Does a centring leave these nodes? */
static int is_centring(const way *w, char centring) {
    for (int i = 0; i < 3; i++)
        if (db_centring_forbids(centring, w->row + 3 * i)) return 0;
    return w->times == db_centring_nodes(centring);
}

/* Centrings that give another lattice of this cell, and not a smaller cell of its kind; R and r: obverse and
 * reverse. */
static const char *centrings_of(const double cell[6]) {
    const double same_edge = 2e-3, same_angle = 0.3; /* tolerances of refined cells without ties */
    int right = 0, equal = 0;
    for (int i = 0; i < 3; i++) {
        right += fabs(cell[3 + i] - 90) < same_angle;
        equal += fabs(cell[(i + 1) % 3] / cell[i] - 1) < same_edge;
    }
    if (right == 3)
        return equal == 0 ? "ABCIF" : equal == 1 ? "I" : "IF"; /* cubic: no single faces */
    if (right < 2) return "";
    return equal && fabs(cell[5] - 120) < same_angle ? "Rr" : "ABCI";
}

/* The same, and the one that is named. */
enum { MOST_CENTRINGS = 8 };
static void list_centrings(const double cell[6], int named, char list[MOST_CENTRINGS]) {
    const int letter = named && strchr("ABCIF", named) ? named : 0;
    snprintf(list, MOST_CENTRINGS, "%s%c", centrings_of(cell), letter);
}

/* The lattice with the nodes of a way, or with as many more nodes as the way has fewer. */
static void lattice_of(const way *w, const double own[9], int more, double lattice[9]) {
    double rows[9], factor[9] = { 0 };
    for (int i = 0; i < 9; i++) rows[i] = w->row[i];
    if (more)
        (void)db_invert(rows, factor);
    else
        db_transpose(rows, factor);
    db_multiply(own, factor, lattice);
    shorten(lattice);
}

/* Margin over another lattice with the model's widths. */
static double margin_over_lattice(comparer *c, const double lattice[9], db_rivalry how) {
    const db_evidence *const e = c->evidence;
    db_evidence_nodes nodes;
    if (!db_evidence_nodes_of(e, lattice, &nodes)) return (double)NAN;
    for (int half = 0; half < DB_HALVES; half++)
        for (size_t i = 0; i < e->judged; i += DB_SPOT_BLOCK) {
            const db_spot_block *const block = &c->block[half][i / DB_SPOT_BLOCK];
            const size_t left = e->judged - i;
            double square[DB_SPOT_BLOCK], density[DB_SPOT_BLOCK];
            db_spot_block_calls_of(e->isa)->nearest(e, &nodes, block, square, NULL, NULL);
            db_spot_block_calls_of(e->isa)->density(block, &e->width[half], nodes.cell, 3, square,
                                                    density);
            sort_densities(c, OF_RIVAL, half, i, left < DB_SPOT_BLOCK ? left : DB_SPOT_BLOCK,
                           density);
        }
    return take_margin(c, how);
}

static int floor_quotient(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/* The number of the coset that a node belongs to; 0: that of the origin. */
static int coset_of(const way *w, const int node[3]) {
    int rest[3] = { node[0], node[1], node[2] }, number = 0;
    for (int i = 0; i < 3; i++) {
        const int *const row = w->row + 3 * i, times = floor_quotient(rest[i], row[i]);
        for (int k = i; k < 3; k++) rest[k] -= times * row[k];
        number = number * row[i] + rest[i];
    }
    return number;
}

/* Does one way leave all nodes that another leaves, and more? */
static int leaves_more(const way *one, const way *other) {
    int all = one->times < other->times;
    for (int i = 0; i < 3 && all; i++) all = coset_of(one, other->row + 3 * i) == 0;
    return all;
}

/* Margin over the nodes of a way instead of the model's, worked out once. */
static double margin_over_way(comparer *r, const way *list, size_t n, double *instead) {
    double lattice[9];
    if (isnan(instead[n])) {
        lattice_of(&list[n], r->evidence->lattice, 0, lattice);
        instead[n] = margin_over_lattice(r, lattice, DB_RIVAL_INSTEAD);
    }
    return instead[n];
}

/* Is the model centred rather than a smaller cell? A face-centred cell has the nodes of a cell with one centred face, and
 * half of these are absent. instead: margins over each way instead of the model; NAN: not known yet. */
static int is_rather_centred(comparer *r, const way *list, size_t count, const char *centrings,
                             const way *smaller, double *instead) {
    for (const char *c = centrings; *c; c++)
        for (size_t n = 0; n < count; n++) {
            if (!is_centring(&list[n], *c) || !leaves_more(smaller, &list[n])) continue;
            const double over_centred = margin_over_way(r, list, n, instead);
            if (over_centred < margin_over_way(r, list, (size_t)(smaller - list), instead))
                return 1;
        }
    return 0;
}

static db_status look_at_cells(db_context *context, const db_evidence *e, const char *centrings,
                               db_other_cell *other) {
    const int more = !centrings;
    comparer r;
    DB_TRY(make_comparer(context, e, &r));
    way list[WAYS];
    double instead[WAYS];
    other->margin = INFINITY;
    const size_t count = list_ways(list);
    for (size_t n = 0; n < count; n++) instead[n] = (double)NAN;
    for (size_t n = 0; n < count; n++) {
        double lattice[9], edge[9];
        int own = 0;
        for (const char *c = more ? "" : centrings; *c; c++) own |= is_centring(&list[n], *c);
        if (own || (!more && is_rather_centred(&r, list, count, centrings, &list[n], instead)))
            continue;
        lattice_of(&list[n], e->lattice, more, lattice);
        const double margin =
            margin_over_lattice(&r, lattice, more ? DB_RIVAL_INSTEAD : DB_RIVAL_ALONE);
        if (!(margin < other->margin)) continue;
        other->margin = margin;
        if (db_invert(lattice, edge)) db_cell_of_edges(edge, other->cell);
    }
    clear_comparer(&r);
    return DB_OK;
}

db_status db_margin_over_turned(db_context *context, const db_evidence *e, double *least) {
    static const double turns[] = { 5, 8, 13, 21, 34, 55 }; /* degree: of no symmetry */
    comparer r;
    DB_TRY(make_comparer(context, e, &r));
    *least = INFINITY;
    for (int row = 0; row < DB_ROW_DIRECTIONS; row++)
        for (size_t i = 0; i < 2 * (sizeof turns / sizeof *turns); i++) {
            const double turn = i % 2 ? turns[i / 2] : -turns[i / 2];
            double lattice[9], axis[3];
            memcpy(lattice, e->lattice, sizeof lattice);
            for (int k = 0; k < 3; k++) axis[k] = lattice[3 * k + row];
            if (db_normalize(axis)) db_turn_columns(axis, turn * DB_DEGREE, lattice);
            *least = fmin(*least, margin_over_lattice(&r, lattice, DB_RIVAL_INSTEAD));
        }
    clear_comparer(&r);
    return DB_OK;
}

db_status db_margin_over_smaller(db_context *context, const db_evidence *e, const double cell[6],
                                 int centring, db_other_cell *other) {
    char centrings[MOST_CENTRINGS];
    list_centrings(cell, centring, centrings);
    return look_at_cells(context, e, centrings, other);
}

db_status db_margin_over_larger(db_context *context, const db_evidence *e, db_other_cell *other) {
    return look_at_cells(context, e, NULL, other);
}

db_status db_margin_of_centring(db_context *context, const db_evidence *e, const double cell[6],
                                int centring, double *margin) {
    comparer r;
    way list[WAYS];
    *margin = INFINITY;
    if (!centring || !strchr("ABCIFR", centring) ||
        (centring == 'R' &&
         !strchr(centrings_of(cell), 'R'))) /* a rhombohedral cell is primitive */
        return DB_OK;
    DB_TRY(make_comparer(context, e, &r));
    const size_t count = list_ways(list);
    double best = -INFINITY;
    for (size_t n = 0; n < count; n++) {
        double lattice[9];
        if (!is_centring(&list[n], (char)centring)) continue;
        lattice_of(&list[n], e->lattice, 0, lattice);
        best = fmax(best, -margin_over_lattice(&r, lattice, DB_RIVAL_INSTEAD));
    }
    clear_comparer(&r);
    if (best > -INFINITY) *margin = best;
    return DB_OK;
}

static const char LETTERS[DB_CENTRINGS + 1] = "ABCIFR";

db_status db_centrings_of_spots(db_context *context, const db_evidence *e, const double cell[6],
                                int named, db_centrings *centrings) {
    char list_of[MOST_CENTRINGS];
    comparer r;
    way list[WAYS];
    *centrings = (db_centrings){ .named = named };
    DB_TRY(make_comparer(context, e, &r));
    list_centrings(cell, named, list_of);
    const size_t count = list_ways(list);
    for (const char *c = list_of; *c; c++)
        for (size_t n = 0; n < count; n++) {
            const size_t at = (size_t)(strchr(LETTERS, *c == 'r' ? 'R' : *c) - LETTERS);
            double lattice[9];
            if (!is_centring(&list[n], *c)) continue;
            lattice_of(&list[n], e->lattice, 0, lattice);
            const double gain = -margin_over_lattice(&r, lattice, DB_RIVAL_INSTEAD);
            if (isnan(gain) || (*c == 'r' && gain <= centrings->gain[at]))
                continue; /* or obverse */
            centrings->gain[at] = gain;
            centrings->beside[at] = margin_over_lattice(&r, lattice, DB_RIVAL_ALONE);
        }
    clear_comparer(&r);
    return DB_OK;
}

int db_unnamed_centring(const db_centrings *c, double *gain) {
    int best = 0;
    for (int i = 1; i < DB_CENTRINGS; i++)
        if (c->gain[i] > c->gain[best]) best = i;
    const int is_certain = c->gain[best] > DB_CERTAIN && c->beside[best] < DB_CERTAIN,
              is_new = is_certain && LETTERS[best] != c->named;
    *gain = is_new ? c->gain[best] : 0;
    return is_new ? LETTERS[best] : 0;
}

/* Turns about the axes of the laboratory (degree), shifts (pixels), parts by which a*, b*, c* become longer, and angles
 * (radian) by which b* turns towards a*, c* towards b*, and c* towards a*. */
enum { TURNED = 3, SHIFTED = 5, STRETCHED = 8, MOVES = 11 };
static const int LEANS[MOVES - STRETCHED][2] = { { 1, 0 }, { 2, 1 }, { 2, 0 } }; /* which, where */

/* A model that is moved: its lattice and its moves. */
typedef struct mover {
    db_evidence_nodes nodes;
    double move[MOVES];
    int moves; /* that it makes: the first of them */
    int elsewhere; /* 1: its origin is none of its nodes, so that it is another model unless it goes back to them */
} mover;

/* What a column of a lattice gains as it turns towards another by a small angle. */
static void lean_of(const double lattice[9], int k, double gained[3]) {
    const int which = LEANS[k][0], where = LEANS[k][1];
    double square[2] = { 0 };
    for (int i = 0; i < 3; i++) {
        square[0] += lattice[3 * i + which] * lattice[3 * i + which];
        square[1] += lattice[3 * i + where] * lattice[3 * i + where];
    }
    for (int i = 0; i < 3; i++) gained[i] = sqrt(square[0] / square[1]) * lattice[3 * i + where];
}

/* Changes of a node's coordinates at a spot by each move. */
static void slopes_at(const db_evidence *e, const mover *m, const db_evidence_spot *s,
                      double slope[3][MOVES]) {
    double index[3], lean[3];
    db_apply(m->nodes.to_index, s->q, index);
    for (int k = 0; k < m->moves; k++) {
        double axis[3] = { k == 0, k == 1, k == 2 }, change[3], at[3] = { k == 3, k == 4, 0 };
        if (k < TURNED) db_cross(axis, s->q, change);
        for (int i = 0; i < 3 && k >= SHIFTED && k < STRETCHED; i++)
            change[i] = index[k - SHIFTED] * e->lattice[3 * i + k - SHIFTED];
        if (k >= STRETCHED) lean_of(e->lattice, k - STRETCHED, lean);
        for (int i = 0; i < 3 && k >= STRETCHED; i++)
            change[i] = index[LEANS[k - STRETCHED][0]] * lean[i];
        if (k < TURNED || k >= SHIFTED) db_apply(s->offset, change, at);
        for (int i = 0; i < 3; i++) slope[i][k] = at[i] * (k < TURNED ? DB_DEGREE : 1);
    }
}

/* The likeliest lattice among lattices with one or all edges changed. */
static void find_edges(comparer *r, double longer[3]) {
    enum { STEPS = 10, ALL = 3 };
    const double step = 0.005; /* 5 % at most: a tenth of a row at the 20th node */
    double least = 0;
    memset(longer, 0, 3 * sizeof *longer);
    for (int edge = 0; edge <= ALL; edge++)
        for (int n = -STEPS; n <= STEPS; n++) {
            double lattice[9], by[3];
            for (int i = 0; i < 3; i++) by[i] = edge == ALL || edge == i ? n * step : 0;
            for (int i = 0; i < 9; i++) lattice[i] = r->evidence->lattice[i] * (1 + by[i % 3]);
            const double margin = n ? margin_over_lattice(r, lattice, DB_RIVAL_INSTEAD) : 0;
            if (!(margin < least)) continue;
            least = margin;
            memcpy(longer, by, sizeof by);
        }
}

/* Applies a move; changes of edges and angles go into the lattice itself. */
static int move_model(const db_evidence *from, mover *m, db_evidence *e) {
    double lean[3];
    for (int i = 0; i < 9; i++) e->lattice[i] = from->lattice[i] * (1 + m->move[SHIFTED + i % 3]);
    for (int k = 0; k < MOVES - STRETCHED; k++) {
        lean_of(from->lattice, k, lean);
        for (int i = 0; i < 3; i++)
            e->lattice[3 * i + LEANS[k][0]] += m->move[STRETCHED + k] * lean[i];
    }
    if (!db_evidence_nodes_of(e, e->lattice, &m->nodes)) return 0;
    for (size_t n = 0; n < e->count; n++) {
        double slope[3][MOVES];
        slopes_at(e, m, &e->spot[n], slope);
        for (int i = 0; i < 3; i++) {
            e->spot[n].shifted[i] = 0;
            for (int k = 0; k < SHIFTED; k++) e->spot[n].shifted[i] += slope[i][k] * m->move[k];
        }
    }
    return 1;
}

/* How far models are off at most, as standard deviations that restrain moves: turns (degree), shifts (pixels; the
 * orientation is found with beams 10 pixels off), parts of edges and angles of the cell. Few spots, or spots on a nearly flat
 * Ewald sphere, do not determine all moves, and would send a rival anywhere. */
static const double MOST_TURN = 3, MOST_SHIFT = 12, MOST_STRETCH = 0.05;

static void restrain_moves(const mover *m, double normal[MOVES][MOVES], double right[MOVES]) {
    for (int j = 0; j < m->moves; j++) {
        const double most = j < TURNED ? MOST_TURN : j < SHIFTED ? MOST_SHIFT : MOST_STRETCH;
        normal[j][j] += 1 / (most * most);
        right[j] -= m->move[j] / (most * most);
    }
}

/* Adds a few spots to the normal equations of a step. */
static void add_to_step(const db_evidence *e, const db_evidence_width *w, const mover *m,
                        const size_t *list, size_t listed, double normal[MOVES][MOVES],
                        double right[MOVES]) {
    const double width[3] = { w->place, w->place, w->turn };
    const int moves = m->moves;
    db_spot_block block;
    db_spot_weights found;
    db_spot_block_take(e, w, list, listed, &block);
    db_spot_block_calls_of(e->isa)->weigh(e, &m->nodes, w, &block, &found);
    for (size_t s = 0; s < listed; s++) {
        const double weight = found.weight[s];
        double slope[3][MOVES];
        slopes_at(e, m, &e->spot[list[s]], slope);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < moves; j++) {
                right[j] -= weight * found.at[i][s] * slope[i][j] / width[i];
                for (int k = 0; k < moves; k++)
                    normal[j][k] += weight * slope[i][j] * slope[i][k] / (width[i] * width[i]);
            }
    }
}

/* A least-squares step by the spots up to a length of the scattering vector (1/angstrom). Spots are weighted by the
 * probability that the lattice has made them. */
static void step_on(const db_evidence *e, int half, double most, mover *m) {
    const db_evidence_width *const w = &e->width[half];
    const size_t moves = (size_t)m->moves;
    double normal[MOVES][MOVES] = { 0 }, right[MOVES] = { 0 }, L[MOVES * MOVES];
    size_t list[DB_SPOT_BLOCK], listed = 0;
    for (size_t n = (size_t)half; n < e->judged; n += DB_HALVES) {
        if (!(db_length(e->spot[n].q) > most)) list[listed++] = n;
        if (listed < DB_SPOT_BLOCK && n + DB_HALVES < e->judged) continue;
        if (listed) add_to_step(e, w, m, list, listed, normal, right);
        listed = 0;
    }
    restrain_moves(m, normal, right);
    db_cholesky_factor(moves, normal[0], MOVES, 0, NULL, DB_LEAST_FOR_STEP, L);
    db_cholesky_solve(moves, L, right);
    for (size_t j = 0; j < moves; j++) m->move[j] += right[j];
}

/* Moves the model of a half until it is nearest to its spots. If it loses them, it explains no spot. */
static void move_half(const db_evidence *from, db_evidence *e, int half, mover *m) {
    enum { STEPS = 4 };
    memset(e->density[half], 0, e->count * sizeof *e->density[half]);
    if (!move_model(from, m, e)) return;
    for (int step = 1; step <= STEPS; step++) {
        step_on(e, half, INFINITY, m);
        if (!move_model(from, m, e)) return;
        if (step < STEPS)
            (void)db_evidence_fit_widths(e, half);
        else
            db_evidence_fit(e, half);
    }
}

/* Root mean square of the moves of spots by changed edges, in their widths on the detector. */
static double stretch_of(const db_evidence *e, const mover *m, int half) {
    double sum = 0;
    for (size_t n = 0; n < e->judged; n++) {
        double slope[3][MOVES];
        slopes_at(e, m, &e->spot[n], slope);
        for (int i = 0; i < 2; i++) {
            double by = 0;
            for (int k = SHIFTED; k < m->moves; k++) by += slope[i][k] * m->move[k];
            sum += by * by;
        }
    }
    return sqrt(sum / (2 * fmax(1, (double)e->judged))) / e->width[half].place;
}

/* A lattice with a fraction of the nodes, turned, with other edges and its origin at another node, may have made the spots:
 * the model takes them for nodes beside the right ones. The innermost spots are then at nodes of one coset: the model's
 * nodes that this lattice has with this origin. It is fitted to them, and then to more and more spots. */
enum { GROWTHS = 4 };
static const double GROWN[GROWTHS] = { 0.125, 0.25, 0.5, 1 }; /* parts of the spots */

/* One of the innermost spots: its node of the model, and the parts of its likelihood, by a lattice and anywhere. */
typedef struct inner_spot {
    const db_evidence_spot *spot;
    int node[3];
    double at, anywhere;
} inner_spot;

/* Lists the innermost spots. length: room for a number of each spot; growth: lengths of scattering vectors that hold the
 * parts GROWN. */
static size_t take_inner(const db_evidence *e, double *length, inner_spot *inner,
                         double growth[GROWTHS]) {
    db_evidence_nodes nodes;
    size_t count = 0;
    if (!e->judged || !db_evidence_nodes_of(e, e->lattice, &nodes)) return 0;
    for (size_t i = 0; i < e->judged; i++) length[i] = db_length(e->spot[i].q);
    db_sort_numbers(length, e->judged);
    for (int i = 0; i < GROWTHS; i++)
        growth[i] = length[(size_t)(GROWN[i] * (double)(e->judged - 1))];
    for (size_t i = 0; i < e->judged; i++) {
        if (db_length(e->spot[i].q) > growth[0]) continue;
        inner_spot *const s = &inner[count++];
        const double anywhere = 1 - e->width[!db_evidence_half(i)].part;
        *s = (inner_spot){ .spot = &e->spot[i],
                           .at = exp(db_evidence_of_spot(e, i)) - anywhere,
                           .anywhere = anywhere };
        db_evidence_node(e, &nodes, i, s->node);
    }
    return count;
}

/* The likeliest coset; returns ln of its likelihood over the model's. A lattice with fewer nodes has more spots at each. */
static double find_coset(const way *w, const inner_spot *inner, size_t count, int *best) {
    double gain[MOST_TIMES] = { 0 }, beside = 0, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        const inner_spot *const s = &inner[i];
        const int coset = coset_of(w, s->node);
        beside += log(s->anywhere / (s->at + s->anywhere));
        gain[coset] += log((w->times * s->at + s->anywhere) / s->anywhere);
        if (gain[coset] < most) continue;
        most = gain[coset];
        *best = coset;
    }
    return beside + most;
}

/* A node at which a lattice may begin, and what the image then does at the innermost spots: shift (pixels), and rotation
 * (degree, root mean square), which a wrong beam centre does not cause. */
typedef struct origin {
    double score; /* minus the rotation */
    double shift[2];
} origin;

enum { ORIGINS = 2 }; /* as many are tried: of half of the nodes a shift either way */

static origin origin_at(const db_evidence *e, const int node[3], const inner_spot *inner,
                        size_t count) {
    const double own[3] = { node[0], node[1], node[2] };
    origin o = { .score = 0 };
    double at[3], apart[3], square = 0;
    db_apply(e->lattice, own, at);
    for (size_t i = 0; i < count; i++) {
        db_apply(inner[i].spot->offset, at, apart);
        for (int k = 0; k < 2; k++) o.shift[k] += apart[k] / (double)count;
        square += apart[2] * apart[2] / (double)count;
    }
    o.score = -sqrt(square);
    return o;
}

/* The nodes of a coset that look most like a shift of the image by no more than a beam centre is off. */
static size_t find_origins(const db_evidence *e, const way *w, int coset, const inner_spot *inner,
                           size_t count, origin best[ORIGINS]) {
    enum { FAR = 3 }; /* nodes along each direction */
    size_t found = 0;
    for (int i = 0; i < (2 * FAR + 1) * (2 * FAR + 1) * (2 * FAR + 1); i++) {
        const int side = 2 * FAR + 1,
                  node[3] = { i / side / side - FAR, i / side % side - FAR, i % side - FAR };
        if (coset_of(w, node) != coset) continue;
        const origin o = origin_at(e, node, inner, count);
        if (hypot(o.shift[0], o.shift[1]) > MOST_SHIFT) continue;
        found = db_search_keep(&o, sizeof o, best, found, ORIGINS);
    }
    return found;
}

static void grow_half(const db_evidence *from, const double growth[GROWTHS], int half, mover *m,
                      db_evidence *e) {
    enum { STEPS = 3, EDGES_FROM = 2 }; /* few spots do not determine edges */
    if (!move_model(from, m, e)) return;
    e->width[half] = from->width[half];
    for (int i = 0; i < GROWTHS; i++) {
        m->moves = i < EDGES_FROM ? SHIFTED : STRETCHED;
        for (int step = 0; step < STEPS; step++) {
            step_on(e, half, growth[i], m);
            if (!move_model(from, m, e)) return;
        }
    }
}

/* Moves a rival, from where it starts, to its spots, and compares it with the model. from: the model, with the rival's
 * lattice; growth: NULL, or GROWTHS lengths up to which the first steps take spots. */
static void look_at_moved(const db_evidence *e, const db_evidence *from, const mover *start,
                          const double *growth, db_evidence *other, db_moved_model *moved) {
    const double far = 2; /* widths of the moved model's spots, or of the model's nodes */
    /* widths: a lattice of its nodes in their places is a smaller cell, which has a test of its own */
    const double back = 0.5;
    const double apart = 1; /* width of spots (rms): right models are stretched by less */
    moved->margin = 0;
    for (int half = 0; half < DB_HALVES; half++) {
        mover m = *start;
        if (growth) grow_half(from, growth, half, &m, other);
        move_half(from, other, half, &m);
        for (size_t i = 0; i < e->judged; i++)
            if (db_evidence_half(i) != half)
                moved->margin += db_evidence_of_spot(e, i) - db_evidence_of_spot(other, i);
        moved->turn = db_length(m.move);
        memcpy(moved->shift, m.move + TURNED, sizeof moved->shift);
        for (int i = 0; i < 3; i++) moved->edge[i] = 1 / (1 + m.move[SHIFTED + i]);
        const db_evidence_width *const w = &other->width[half];
        const double shift = hypot(m.move[3], m.move[4]);
        const int is_near =
            m.elsewhere ? moved->turn < back * w->turn && shift < back * w->place
                        : moved->turn < far * fmax(e->node_turn, w->turn) && shift < far * w->place;
        const int is_stretched = m.moves > SHIFTED && !growth;
        if (is_stretched ? stretch_of(other, &m, half) < apart : is_near) moved->margin = NAN;
    }
}

/* Room for models that are moved. */
typedef struct mover_room {
    db_evidence other; /* a copy of the evidence, whose spots are moved; owned, as all */
    double *length;    /* a number of each spot */
    inner_spot *inner;
} mover_room;

static void clear_room(mover_room *room) {
    db_evidence_clear(&room->other);
    free(room->length);
    free(room->inner);
}

static db_status make_mover_room(db_context *context, const db_evidence *e, mover_room *room) {
    room->other = *e;
    room->other.spot = malloc((e->count + 1) * sizeof *room->other.spot);
    room->other.density[0] = calloc(DB_HALVES * e->count + 1, sizeof *room->other.density[0]);
    room->length = calloc(e->judged + 1, sizeof *room->length);
    room->inner = malloc((e->judged + 1) * sizeof *room->inner);
    if (room->other.spot && room->other.density[0] && room->length && room->inner) {
        memcpy(room->other.spot, e->spot, e->count * sizeof *room->other.spot);
        room->other.density[1] = room->other.density[0] + e->count;
        room->other.count = e->judged; /* others are not asked */
        return DB_OK;
    }
    clear_room(room);
    return db_fail_memory(context, "a moved model");
}

/* The ways to divide quarters of neighbouring spots into two halves. */
enum { DIVISIONS = 3 };
static const int DIVISION[DIVISIONS][DB_QUARTERS] = { { 0, 0, 1, 1 },
                                                      { 0, 1, 0, 1 },
                                                      { 0, 1, 1, 0 } };

/* Orders spots so that those of one half of the detector take turns with those of the other, as fitted and judged spots do. */
static void divide_spots(const db_evidence *e, const db_place *place, const int half[DB_QUARTERS],
                         db_evidence *other) {
    size_t count[DB_HALVES] = { 0 };
    for (int q = 0; q < DB_QUARTERS; q++)
        for (size_t i = db_region_start(e->judged, DB_QUARTERS, q);
             i < db_region_start(e->judged, DB_QUARTERS, q + 1); i++) {
            const size_t to = DB_HALVES * count[half[q]]++ + (size_t)half[q];
            if (to < e->judged) other->spot[to] = e->spot[place[i].number];
        }
    other->judged = other->count = DB_HALVES * (count[0] < count[1] ? count[0] : count[1]);
}

db_status db_margin_in_halves(db_context *context, const db_evidence *e, double *least) {
    mover_room room;
    db_place *const place = malloc((e->judged + 1) * sizeof *place);
    db_status status = db_need_memory(context, place, "the halves of the detector");
    if (status == DB_OK) status = make_mover_room(context, e, &room);
    if (status == DB_OK) cut_quarters(e, place);
    *least = INFINITY;
    for (int d = 0; d < DIVISIONS && status == DB_OK; d++) {
        db_evidence *const other = &room.other;
        double sum = 0;
        divide_spots(e, place, DIVISION[d], other);
        for (int half = 0; half < DB_HALVES; half++) {
            mover m = { .moves = MOVES };
            other->width[half] = e->width[half];
            move_half(e, other, half, &m);
            for (size_t i = (size_t)!half; i < other->judged; i += DB_HALVES)
                sum += db_evidence_of_spot(other, i);
        }
        *least = fmin(*least, sum);
    }
    if (status == DB_OK) clear_room(&room);
    free(place);
    return status;
}

/* Each half of a list of spots begins with a spot that the lattice has certainly made and one that it has certainly not: the
 * likeliest share of spots is then (made + 1) / (all + 2), the mean of all shares if nothing else is known. By themselves, few
 * spots would tell a share of 0 or 1. */
enum { SURE = 2 * DB_HALVES };
static const double SURELY_MADE = 1e300;

/* Flags spots at no node: the widths are those of the evidence, the share of foreign spots is that of all of them. */
static db_status flag_foreign(db_context *context, const db_experiment *model, const db_evidence *e,
                              const db_observed_spots *spots, unsigned char *is_foreign) {
    db_evidence own;
    double part[DB_HALVES], other[DB_HALVES];
    double *const density = calloc(SURE + spots->count + 1, sizeof *density);
    if (!density) return db_fail_memory(context, "the foreign spots");
    const db_status status = db_evidence_make(context, model, spots, &own);
    for (int half = 0; half < DB_HALVES && status == DB_OK; half++) {
        own.width[half] = e->width[half];
        db_evidence_lattice(&own, own.lattice, half, own.count, own.density[half]);
        density[half] = SURELY_MADE;
        for (size_t i = (size_t)half; i < own.count; i += DB_HALVES)
            density[SURE + i] = own.density[half][i];
    }
    if (status == DB_OK) {
        db_evidence_parts(SURE + own.count, density, NULL, part, other);
        for (int half = 0; half < DB_HALVES; half++) own.width[half].part = part[half];
        for (size_t i = 0; i < own.count; i++) is_foreign[i] = !db_evidence_is_at(&own, i);
        db_evidence_clear(&own);
    }
    free(density);
    return status;
}

/* found: room for a flag of each spot. */
static db_status flag_if_certain(db_context *context, const db_experiment *model,
                                 const db_evidence *e, const db_observed_spots *spots,
                                 unsigned char *found, unsigned char *is_foreign) {
    double in_halves;
    if (!(db_margin_over_none(e) > DB_CERTAIN)) return DB_OK;
    DB_TRY(flag_foreign(context, model, e, spots, found));
    if (memcmp(found, is_foreign, spots->count) == 0) return DB_OK;
    DB_TRY(db_margin_in_halves(context, e, &in_halves));
    if (in_halves > DB_CERTAIN) memcpy(is_foreign, found, spots->count);
    return DB_OK;
}

/* Evidence of an image for a model. To be cleared, unless it fails. */
static db_status make_evidence(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_evidence *e) {
    db_observed_spots all;
    DB_TRY(db_judged_spots_find(context, model, data, &all));
    const db_status status = db_evidence_make(context, model, &all, e);
    db_observed_spots_clear(&all);
    return status;
}

db_status db_margin_of_spots(db_context *context, const db_experiment *model,
                             const db_fit_data *data, double *margin) {
    db_evidence e;
    DB_TRY(make_evidence(context, model, data, &e));
    *margin = db_margin_over_none(&e);
    db_evidence_clear(&e);
    return DB_OK;
}

db_status db_foreign_spots_find(db_context *context, const db_experiment *model,
                                const db_fit_data *data, const db_observed_spots *spots,
                                unsigned char *is_foreign) {
    db_evidence e;
    DB_TRY(make_evidence(context, model, data, &e));
    unsigned char *const found = malloc(spots->count + 1);
    const db_status status = found ? flag_if_certain(context, model, &e, spots, found, is_foreign)
                                   : db_fail_memory(context, "the foreign spots");
    free(found);
    db_evidence_clear(&e);
    return status;
}

/* The model itself, moved, or the likeliest lattice with a fraction of its nodes. Spots that are all at nodes of such a lattice,
 * as those of a zone are, tell nothing of moves: it must be likelier than where the model has these nodes, too. */
static void look_at_fewer(const db_evidence *e, comparer *r, mover_room *room,
                          db_moved_model *moved) {
    double growth[GROWTHS] = { 0 };
    way list[WAYS];
    db_evidence from = *e; /* borrows */
    const size_t inner = take_inner(e, room->length, room->inner, growth), count = list_ways(list);
    for (size_t n = 0; n < count; n++) {
        int coset = 0;
        origin begins[ORIGINS] = { 0 };
        if (!(find_coset(&list[n], room->inner, inner, &coset) > 0)) continue;
        lattice_of(&list[n], e->lattice, 0, from.lattice);
        const double unmoved = margin_over_lattice(r, from.lattice, DB_RIVAL_INSTEAD);
        const size_t origins =
            coset ? find_origins(e, &list[n], coset, room->inner, inner, begins) : 1;
        for (size_t o = 0; o < origins; o++) {
            const mover start = { .moves = STRETCHED,
                                  .elsewhere = coset != 0,
                                  .move = { [TURNED] = begins[o].shift[0], begins[o].shift[1] } };
            db_moved_model found = { .times = list[n].times };
            look_at_moved(e, &from, &start, growth, &room->other, &found);
            found.margin -= fmin(0, unmoved);
            if (found.margin < 0 && !(moved->margin < found.margin)) *moved = found;
        }
    }
}

db_status db_margin_over_moved(db_context *context, const db_evidence *e, db_moved_model *moved) {
    const mover start = { .moves = SHIFTED };
    mover_room room;
    comparer r;
    DB_TRY(make_mover_room(context, e, &room));
    *moved = (db_moved_model){ .times = 1 };
    const db_status status = make_comparer(context, e, &r);
    if (status == DB_OK) {
        look_at_moved(e, e, &start, NULL, &room.other, moved);
        look_at_fewer(e, &r, &room, moved);
        clear_comparer(&r);
    }
    clear_room(&room);
    return status;
}

db_status db_margin_over_stretched(db_context *context, const db_evidence *e,
                                   db_moved_model *moved) {
    mover start = { .moves = STRETCHED };
    mover_room room;
    comparer r;
    DB_TRY(make_mover_room(context, e, &room));
    *moved = (db_moved_model){ .times = 1 };
    const db_status status = make_comparer(context, e, &r);
    if (status == DB_OK) {
        find_edges(&r, start.move + SHIFTED);
        clear_comparer(&r);
        look_at_moved(e, e, &start, NULL, &room.other, moved);
    }
    clear_room(&room);
    return status;
}
