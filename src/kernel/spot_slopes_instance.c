/* See kernel/spot_slopes.h; compiled once for each instruction set, with DB_INSTANCE_TAG. */
#include "kernel/spot_slopes.h"

#include "ad/vec_isa.h"
#include "dualbragg/parameters.h"

#include <math.h>
#include <stddef.h>

#define LANES (AD_VEC_BYTES / 8)
#define REAL double
#define DIRS 2
#include "ad/lane.h"
#include "model/interface.h"
#include "kernel/radiometry.h"
#include "kernel/spot.h"

enum {
    BLOCK = DB_SPOT_SLOPES_BLOCK,
    WIDE = 1 + DB_SLOPES_AT_ONCE /* numbers of an interface value: itself and its slopes */
};

/* The directions of a pass. */
typedef struct {
    int slot[DIRS];         /* number of the parameter among the slots; -1: none */
    int is_amplitude[DIRS]; /* 1: a structure factor, of reflection hkl */
    int hkl[DIRS][3];
} pass_directions;

/* What a call reads of its spots; `order`: those of one kind next to each other. */
enum { ANGLE = 3, COSINE = 6, SINE = 9, KIND = 12, INSIDE = 15, READ = 18 };
typedef struct {
    const db_spot_slopes_work *work;
    const db_spot_entry *entry; /* of the first spot */
    size_t first;
    int order[BLOCK];
    const double *amplitude;
    double value[READ][BLOCK]; /* hkl, and so on; angles: at, from and to, if the crystal turns */
} spot_block;

/* Numbers of the spots of a vector; the last one fills up. */
typedef struct {
    int count, number[LANES];
} spot_vector;

static int same_kind(const db_spot_name *a, const db_spot_name *b) {
    return a->source == b->source && a->panel == b->panel && a->tail == b->tail &&
           a->passage.moves == b->passage.moves;
}

static void order_spots(int count, spot_block *b) {
    unsigned char ordered[BLOCK] = { 0 };
    int place = 0;
    for (int i = 0; i < count; i++) {
        if (ordered[i]) continue;
        for (int j = i; j < count; j++) {
            if (ordered[j] || !same_kind(&b->entry[i].name, &b->entry[j].name)) continue;
            ordered[j] = 1;
            b->order[place++] = j;
        }
    }
}

static void read_spots(int count, const db_kernel_spot *spot, spot_block *b) {
    for (int i = 0; i < count; i++) {
        const db_spot_name *name = &b->entry[i].name;
        const db_spot_passage *p = &name->passage;
        const double angle[3] = { p->at, p->from, p->to };
        const db_spot_angle kind[3] = { p->at_kind, p->from_kind, p->to_kind };
        for (int c = 0; c < 3; c++) {
            b->value[c][i] = name->hkl[c];
            b->value[INSIDE + c][i] = spot[i].value_double[DB_SPOT_INSIDE + c];
            if (!b->work->moving) continue;
            b->value[ANGLE + c][i] = angle[c];
            b->value[COSINE + c][i] = cos(angle[c]);
            b->value[SINE + c][i] = sin(angle[c]);
            b->value[KIND + c][i] = kind[c];
        }
    }
}

static lane gathered(const double *from, const spot_vector *vector) {
    double value[LANES];
    for (int j = 0; j < LANES; j++) value[j] = from[vector->number[j]];
    return l_load(value);
}

/* Interface values in lanes, with the slopes of a pass. */
static void narrow(const double *from, size_t bytes, const pass_directions *pass, void *to) {
    num *out = to;
    for (size_t i = 0; i < bytes / sizeof(num); i++, from += WIDE) {
        out[i].v = l_set(from[0]);
        for (int k = 0; k < DIRS; k++)
            out[i].d[k] = l_set(pass->slot[k] < 0 ? 0 : from[1 + pass->slot[k]]);
    }
}

static void start_pass(const spot_block *b, const pass_directions *pass, interface_values *z) {
    const db_spot_slopes_work *work = b->work;
    narrow(work->spread, offsetof(spread_interface, parts), pass, &z->spread);
    narrow(work->layer_step, sizeof z->layer_step, pass, &z->layer_step);
    narrow(work->attenuation, sizeof z->attenuation, pass, &z->attenuation);
    z->spread.parts = work->parts;
}

/* Source and panel of the spots that follow. */
static void start_kind(const spot_block *b, const pass_directions *pass, const db_spot_name *name,
                       interface_values *z) {
    const size_t panel = sizeof *z->panel / sizeof(num), source = sizeof *z->source / sizeof(num);
    narrow(b->work->panel + name->panel * panel * WIDE, sizeof *z->panel, pass, z->panel);
    narrow(b->work->source + name->source * source * WIDE, sizeof *z->source, pass, z->source);
}

static num amplitude_of(const spot_block *b, const pass_directions *pass,
                        const spot_vector *vector) {
    num amplitude = n_passive(gathered(b->amplitude, vector));
    for (int k = 0; k < DIRS; k++) {
        if (!pass->is_amplitude[k]) continue;
        double slope[LANES];
        for (int j = 0; j < LANES; j++) {
            const int *hkl = b->entry[vector->number[j]].name.hkl;
            slope[j] =
                hkl[0] == pass->hkl[k][0] && hkl[1] == pass->hkl[k][1] && hkl[2] == pass->hkl[k][2];
        }
        amplitude.d[k] = l_load(slope);
    }
    return amplitude;
}

static spot_node node_of(const spot_block *b, const interface_values *z,
                         const spot_vector *vector) {
    lane hkl[3];
    for (int c = 0; c < 3; c++) hkl[c] = gathered(b->value[c], vector);
    const spot_node start = spot_node_of(z, hkl, NULL);
    if (!b->work->moving) return start;
    spot_turns turns;
    for (int c = 0; c < 3; c++) {
        const lane kind = gathered(b->value[KIND + c], vector);
        turns.angle[c] = gathered(b->value[ANGLE + c], vector);
        turns.cosine[c] = gathered(b->value[COSINE + c], vector);
        turns.sine[c] = gathered(b->value[SINE + c], vector);
        turns.crossing[c] = l_eq(kind, l_set(SPOT_CROSSING));
        turns.turning[c] = l_eq(kind, l_set(SPOT_TURNING));
    }
    const spot_angles angles = spot_angles_of(z, 0, &turns, start.r);
    return spot_node_of(z, hkl, &angles);
}

static num component(const vec3 *v, int i) { return i == 0 ? v->x : i == 1 ? v->y : v->z; }

/* z = W (d - c): dz = G z + b with G = dW W^-1 and b = -W dc, by direction k. Of spots at rest W and
 * its inverse are lower triangles. */
AD_INLINE void shift_of(int moving, const spot_values *s, int k, lane g[9], lane b[3]) {
    for (int i = 0; i < 3; i++) {
        b[i] = l_set(0);
        for (int j = 0; j < 3; j++) {
            lane sum = l_set(0);
            for (int m = moving ? 0 : j; m < (moving ? 3 : i + 1); m++)
                sum = l_fma(component(&s->white.r[i], m).d[k], component(&s->root.r[m], j).v, sum);
            g[3 * i + j] = sum;
            if (moving || j <= i)
                b[i] = l_fnma(component(&s->white.r[i], j).v, component(&s->centre, j).d[k], b[i]);
        }
    }
}

/* d(amplitude) - amplitude (z.G z + z.b) with z = o + y; G is a lower triangle, as W is. */
AD_INLINE void columns_at_rest(const spot_values *s, const lane o[3], int k,
                               lane column[DB_SPOT_COLUMNS]) {
    const lane a = l_neg(s->amplitude.v);
    lane g[9], b[3];
    shift_of(0, s, k, g, b);
    int c = 4;
    column[0] = s->amplitude.d[k];
    for (int i = 0; i < 3; i++) {
        lane at_o = b[i];
        for (int j = 0; j <= i; j++) {
            column[c++] = l_mul(a, g[3 * i + j]);
            at_o = l_fma(g[3 * i + j], o[j], at_o);
        }
        lane by_y = at_o;
        for (int j = i; j < 3; j++) by_y = l_fma(g[3 * j + i], o[j], by_y);
        column[0] = l_fma(l_mul(a, o[i]), at_o, column[0]);
        column[1 + i] = l_mul(a, by_y);
    }
}

AD_INLINE void columns_moving(const spot_values *s, int k, lane column[DB_SPOT_COLUMNS_MOVING]) {
    lane g[9], b[3];
    shift_of(1, s, k, g, b);
    column[0] = s->amplitude.d[k];
    for (int i = 0; i < 3; i++) column[1 + i] = b[i];
    column[4] = g[0];
    column[5] = l_add(g[1], g[3]);
    column[6] = g[4];
    column[7] = g[2];
    column[8] = g[5];
    for (int j = 0; j < 3; j++) column[9 + j] = g[6 + j];
    column[12] = s->to.d[k];
    column[13] = s->from.d[k];
}

static void store_columns(const spot_block *b, const spot_vector *vector, size_t place, int length,
                          const lane *column) {
    const db_spot_slopes_work *work = b->work;
    double value[DB_SPOT_COLUMNS_MOVING][LANES];
    for (int c = 0; c < length; c++) l_store(value[c], column[c]);
    for (int j = 0; j < vector->count; j++) {
        const size_t at =
            ((b->first + (size_t)vector->number[j]) * work->parameters + place) * (size_t)length;
        for (int c = 0; c < length; c++)
            if (work->slope_double)
                work->slope_double[at + (size_t)c] = value[c][j];
            else
                work->slope_float[at + (size_t)c] = (float)value[c][j];
    }
}

static void fill_vector(const spot_block *b, const pass_directions *pass, const interface_values *z,
                        const db_spot_name *kind, const spot_vector *vector) {
    const db_spot_slopes_work *work = b->work;
    const db_spot_name name = { .tail = kind->tail, .passage = { .moves = kind->passage.moves } };
    const spot_node node = node_of(b, z, vector);
    const spot_values s = spot_of(work->experiment, z, &name, &node, amplitude_of(b, pass, vector));
    lane inside[3], column[DB_SPOT_COLUMNS_MOVING];
    for (int c = 0; c < 3; c++) inside[c] = gathered(b->value[INSIDE + c], vector);
    for (int k = 0; k < DIRS; k++) {
        if (pass->slot[k] < 0) continue;
        if (work->moving)
            columns_moving(&s, k, column);
        else
            columns_at_rest(&s, inside, k, column);
        store_columns(b, vector, work->place[pass->slot[k]],
                      work->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS, column);
    }
}

static void fill_pass(const spot_block *b, int count, const pass_directions *pass) {
    panel_interface panel;
    source_interface source;
    interface_values z = { .panel = &panel, .source = &source };
    const db_spot_name *kind = NULL;
    start_pass(b, pass, &z);
    for (int i = 0; i < count;) {
        const db_spot_name *name = &b->entry[b->order[i]].name;
        if (!kind || !same_kind(kind, name)) start_kind(b, pass, name, &z);
        kind = name;
        spot_vector vector = { .count = 0 };
        for (int j = 0; j < LANES; j++) {
            if (i < count && same_kind(kind, &b->entry[b->order[i]].name)) {
                vector.number[vector.count++] = b->order[i++];
            } else {
                vector.number[j] = vector.number[vector.count - 1];
            }
        }
        fill_vector(b, pass, &z, kind, &vector);
    }
}

/* The next parameters that move spots, from `slot` on; returns where to go on. */
static int next_pass(const db_spot_slopes_work *work, int slot, pass_directions *pass) {
    int k = 0;
    for (; slot < work->slots->count && k < DIRS; slot++) {
        if (work->place[slot] >= work->parameters) continue;
        const db_parameter p = work->slots->parameter[slot];
        pass->slot[k] = slot;
        pass->is_amplitude[k] = (db_parameter_moves(work->experiment, p) & DB_MOVES_AMPLITUDE) != 0;
        if (pass->is_amplitude[k]) db_parameter_node(p, pass->hkl[k]);
        k++;
    }
    for (; k < DIRS; k++) {
        pass->slot[k] = -1;
        pass->is_amplitude[k] = 0;
    }
    return slot;
}

#define INSTANCE_NAME_(tag) db_spot_slopes_##tag
#define INSTANCE_NAME(tag) INSTANCE_NAME_(tag)
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_spot_slopes_work *work, size_t first, int count,
                                    const double *amplitude);
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_spot_slopes_work *work, size_t first, int count,
                                    const double *amplitude) {
    spot_block b = {
        .work = work, .entry = work->entry + first, .first = first, .amplitude = amplitude
    };
    order_spots(count, &b);
    read_spots(count, work->spot + first, &b);
    for (int slot = 0; slot < work->slots->count;) {
        pass_directions pass;
        slot = next_pass(work, slot, &pass);
        if (pass.slot[0] >= 0) fill_pass(&b, count, &pass);
    }
}
