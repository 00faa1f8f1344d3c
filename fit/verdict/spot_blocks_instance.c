/* See fit/verdict/spot_blocks.h; compiled once for each instruction set, with DB_INSTANCE_TAG. Sums and products are not
 * fused, so that all of them round alike. */
#include "ad/vec_isa.h"
#include "base/degree.h"
#include "base/vector.h"
#include "fit/verdict/spot_blocks.h"

#include <string.h>

/* Student's density at its maximum, for one, two and three numbers and widths of 1. */
static const double PEAK[] = { DB_STUDENT_PEAK, 0.15915494309189535, 0.07460387957432595 };

enum { LANES = AD_VEC_BYTES / 8, CORNERS = 8 };
_Static_assert(DB_SPOT_BLOCK % LANES == 0, "whole vectors");

typedef vec_double numbers; /* of a few spots */

static inline numbers load_numbers(const double *from) {
    numbers n;
    memcpy(&n, from, sizeof n);
    return n;
}

static inline void store_numbers(numbers n, double *to) { memcpy(to, &n, sizeof n); }

static inline void map_numbers(const numbers m[9], const numbers v[3], numbers out[3]) {
    for (int k = 0; k < 3; k++)
        out[k] = m[3 * k] * v[0] + m[3 * k + 1] * v[1] + m[3 * k + 2] * v[2];
}

/* out = m l, for a matrix of plain numbers. */
static inline void map_lattice(const numbers m[9], const double l[9], numbers out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = m[3 * i] * l[j] + m[3 * i + 1] * l[3 + j] + m[3 * i + 2] * l[6 + j];
}

static inline numbers floor_of_numbers(numbers x) {
    const numbers zero = { 0 }, near = vec_rint_double(x);
    return near - vec_select_double(vec_lt_double(x, near), 1 - zero, zero);
}

/* Coordinates of the corners of a cell, in widths from a spot. */
typedef struct corners {
    numbers at[CORNERS][3];
} corners;

/* What is linear in indices, from its value at the first corner. */
static inline void spread_corners(const numbers slope[9], const numbers first[3], corners *to) {
    for (int k = 0; k < 3; k++) {
        to->at[0][k] = first[k];
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 1 << i; c++)
                to->at[c + (1 << i)][k] = to->at[c][k] + slope[3 * k + i];
    }
}

static inline numbers clamp_numbers(numbers x, double least, double most) {
    const numbers zero = { 0 }, low = least - zero, high = most - zero;
    return vec_select_double(vec_lt_double(x, low), low,
                             vec_select_double(vec_lt_double(high, x), high, x));
}

/* Moves corners to the nearest points of lines, linear in indices, between their least and most. */
static inline void come_near_all(const numbers slope[9], const numbers first[3], double least,
                                 double most, corners *to) {
    const double none = 1e-300; /* squared length: the node 0 has no line */
    numbers start[3];
    corners line;
    map_numbers(slope, first, start);
    spread_corners(slope, start, &line);
    for (int c = 0; c < CORNERS; c++) {
        const numbers *const x = line.at[c];
        numbers *const at = to->at[c];
        const numbers along = x[0] * at[0] + x[1] * at[1] + x[2] * at[2],
                      by = clamp_numbers(-along / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + none),
                                         least, most);
        for (int k = 0; k < 3; k++) at[k] += by * x[k];
    }
}

/* The corners of the cells that spots are in, where spectrum and rotation record them nearest to them. */
static inline void place_corners(const db_evidence *e, const db_evidence_nodes *nodes,
                                 const db_spot_block *b, int from, corners *to) {
    numbers offset[9], edges[9], q[3], index[3], first[3], within[3];
    for (int k = 0; k < 9; k++) offset[k] = load_numbers(b->offset[k] + from);
    for (int k = 0; k < 3; k++) q[k] = load_numbers(b->q[k] + from);
    map_lattice(offset, nodes->lattice, edges);
    for (int k = 0; k < 3; k++) {
        const double *const m = nodes->to_index + 3 * k;
        index[k] = m[0] * q[0] + m[1] * q[1] + m[2] * q[2];
        first[k] = floor_of_numbers(index[k]);
        index[k] -= first[k];
    }
    map_numbers(edges, index, within);
    for (int k = 0; k < 3; k++) within[k] = load_numbers(b->shifted[k] + from) - within[k];
    spread_corners(edges, within, to);
    if (e->wave_number[1] > e->wave_number[0]) {
        const double central = db_length(e->s0);
        come_near_all(edges, first, central / e->wave_number[1] - 1,
                      central / e->wave_number[0] - 1, to);
    }
    if (e->half_rotation > 0) {
        numbers turned[9];
        map_lattice(offset, nodes->turned, turned);
        come_near_all(turned, first, -e->half_rotation * DB_DEGREE, e->half_rotation * DB_DEGREE,
                      to);
    }
}

static inline numbers square_of(const numbers at[3]) {
    return at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
}

static void find_nearest(const db_evidence *e, const db_evidence_nodes *nodes,
                         const db_spot_block *b, double square[DB_SPOT_BLOCK],
                         double at[3][DB_SPOT_BLOCK], double corner[DB_SPOT_BLOCK]) {
    for (int s = 0; s < DB_SPOT_BLOCK; s += LANES) {
        corners all;
        const numbers zero = { 0 };
        place_corners(e, nodes, b, s, &all);
        numbers least = square_of(all.at[0]), nearest = zero,
                place[3] = { all.at[0][0], all.at[0][1], all.at[0][2] };
        for (int c = 1; c < CORNERS; c++) {
            const numbers one = square_of(all.at[c]);
            const vec_mask_double is_nearer = vec_lt_double(one, least);
            least = vec_select_double(is_nearer, one, least);
            if (!at) continue;
            for (int k = 0; k < 3; k++)
                place[k] = vec_select_double(is_nearer, all.at[c][k], place[k]);
            nearest = vec_select_double(is_nearer, c - zero, nearest);
        }
        store_numbers(least, square + s);
        for (int k = 0; k < 3 && at; k++) store_numbers(place[k], at[k] + s);
        if (corner) store_numbers(nearest, corner + s);
    }
}

static void find_density(const db_spot_block *b, const db_evidence_width *w, double cell, int count,
                         const double square[DB_SPOT_BLOCK], double density[DB_SPOT_BLOCK]) {
    const double high = PEAK[count - 1] * cell, room = w->place * w->place * w->turn;
    for (int s = 0; s < DB_SPOT_BLOCK; s += LANES) {
        const numbers peak = high * load_numbers(b->volume + s) / room,
                      root = vec_sqrt_double(1 + load_numbers(square + s) / DB_STUDENT_FREEDOM);
        numbers power = root;
        for (int n = 1; n < DB_STUDENT_FREEDOM + count; n++) power *= root;
        store_numbers(peak / (power * load_numbers(b->recorded + s)), density + s);
    }
}

static void weigh_block(const db_evidence *e, const db_evidence_nodes *nodes,
                        const db_evidence_width *w, const db_spot_block *b, db_spot_weights *to) {
    double square[DB_SPOT_BLOCK], density[DB_SPOT_BLOCK];
    find_nearest(e, nodes, b, square, to->at, NULL);
    find_density(b, w, nodes->cell, 3, square, density);
    for (int s = 0; s < DB_SPOT_BLOCK; s += LANES) {
        const numbers own = w->part * load_numbers(density + s), part = own / (own + 1 - w->part);
        store_numbers(part, to->part + s);
        store_numbers(part * (DB_STUDENT_FREEDOM + 3) /
                          (DB_STUDENT_FREEDOM + load_numbers(square + s)),
                      to->weight + s);
    }
}

#define JOIN(a, b) a##b
#define TAGGED(a, b) JOIN(a, b)
extern const db_spot_block_calls TAGGED(db_spot_block_calls_, DB_INSTANCE_TAG);
const db_spot_block_calls TAGGED(db_spot_block_calls_,
                                 DB_INSTANCE_TAG) = { find_nearest, find_density, weigh_block };
