/* See kernel/spot_slopes.h; compiled once for each instruction set, with DB_INSTANCE_TAG. */
#include "kernel/spot_slopes.h"

#include "ad/vec_isa.h"
#include "base/context_internal.h"
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
#include "kernel/spot_coefficients.h"
#include "model/amplitude_box.h"
#include "model/site_kinds.h"
#include "model/site_scattering.h"
_Static_assert(DIRS == DB_SPOT_PASS, "a direction for each parameter of a pass");

enum { BLOCK = DB_SPOT_SLOPES_BLOCK };

/* What a call reads of its spots; `order`: those of one kind next to each other. */
enum { ANGLE = 3, COSINE = 6, SINE = 9, KIND = 12, INSIDE = 15, READ = 18 };
typedef struct {
    const db_kernel_spots *spots;
    size_t panels, sources, first;
    int kinds; /* of sites */
    double *slope_double;
    float *slope_float;
    const db_spot_entry *entry; /* of the first spot */
    const double *amplitude;
    int order[BLOCK];
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
            if (!b->spots->moving) continue;
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

/* Interface values in lanes; returns what is behind them. */
static const double *widen_numbers(const double *from, size_t bytes, void *to) {
    num *out = to;
    for (size_t i = 0; i < bytes / sizeof(num); i++, from += DB_SPOT_DUAL) {
        out[i].v = l_set(from[0]);
        for (int k = 0; k < DIRS; k++) out[i].d[k] = l_set(from[1 + k]);
    }
    return from;
}

/* Returns the numbers of panels and sources. */
static const double *start_pass(const spot_block *b, size_t pass, interface_values *z) {
    const double *from = b->spots->dual + pass * b->spots->dual_length;
    from = widen_numbers(from, offsetof(spread_interface, parts), &z->spread);
    from = widen_numbers(from, sizeof z->layer_step, &z->layer_step);
    z->spread.parts = b->spots->pass[pass].parts;
    return widen_numbers(from, sizeof z->attenuation, &z->attenuation);
}

/* Source and panel of the spots that follow. */
static void start_kind(const spot_block *b, const double *panels, const db_spot_name *name,
                       interface_values *z) {
    const size_t panel = sizeof *z->panel / sizeof(num) * DB_SPOT_DUAL,
                 source = sizeof *z->source / sizeof(num) * DB_SPOT_DUAL;
    (void)widen_numbers(panels + name->panel * panel, sizeof *z->panel, z->panel);
    const double *const sources = panels + b->panels * panel;
    (void)widen_numbers(sources + name->source * source, sizeof *z->source, z->source);
    const size_t curves = 2 * (size_t)b->kinds;
    if (curves)
        (void)widen_numbers(sources + b->sources * source + name->source * curves * DB_SPOT_DUAL,
                            curves * sizeof *z->site_curve, z->site_curve);
}

/* F^2 at the energy of the spots' source. */
static num square_by_energy(const spot_block *b, const num *curve, const spot_vector *vector) {
    const db_structure_factors *const f = &b->spots->experiment->structure_factors;
    const size_t each = db_site_part(b->kinds);
    const double outside[DB_MOST_SITE_PART] = { f->default_F };
    double value[DB_MOST_SITE_PART][LANES];
    lane part[DB_MOST_SITE_PART];
    for (int j = 0; j < LANES; j++) {
        size_t entry;
        const double *const own =
            db_amplitude_entry(f, b->entry[vector->number[j]].name.hkl, &entry)
                ? f->sites->part + entry * each
                : outside;
        for (size_t n = 0; n < each; n++) value[n][j] = own[n];
    }
    for (size_t n = 0; n < each; n++) part[n] = l_load(value[n]);
    return site_square(b->kinds, part, curve);
}

static num square_of(const spot_block *b, const db_spot_pass *pass, const num *curve,
                     const spot_vector *vector) {
    if (b->kinds) return square_by_energy(b, curve, vector);
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
    return n_sqr(amplitude);
}

static spot_node node_of(const spot_block *b, const interface_values *z,
                         const spot_vector *vector) {
    lane hkl[3];
    for (int c = 0; c < 3; c++) hkl[c] = gathered(b->value[c], vector);
    const spot_node start = spot_node_of(z, hkl, NULL);
    if (!b->spots->moving) return start;
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

static void store_columns(const spot_block *b, const spot_vector *vector, size_t place, int length,
                          const lane *column) {
    double value[DB_SPOT_COLUMNS_MOVING][LANES];
    for (int c = 0; c < length; c++) l_store(value[c], column[c]);
    for (int j = 0; j < vector->count; j++) {
        const size_t at =
            ((b->first + (size_t)vector->number[j]) * b->spots->each + place) * (size_t)length;
        for (int c = 0; c < length; c++)
            if (b->slope_double)
                b->slope_double[at + (size_t)c] = value[c][j];
            else
                b->slope_float[at + (size_t)c] = (float)value[c][j];
    }
}

/* Where a source's spots have the slopes by the parameters of a pass; -1: they have none. Returns whether
 * they have any. */
static int slope_places(const spot_block *b, const db_spot_pass *pass, size_t source,
                        int place[DIRS]) {
    const size_t each = b->spots->each;
    const uint16_t *const which = b->spots->which ? b->spots->which + source * each : NULL;
    int any = 0;
    for (int k = 0; k < DIRS; k++) {
        place[k] = which ? -1 : pass->place[k];
        for (size_t i = 0; which && i < each; i++)
            if (which[i] == pass->place[k]) place[k] = (int)i;
        any |= place[k] >= 0;
    }
    return any;
}

/* A call of its own: with AVX-512 the frames of both would be beyond the bound for threads with small stacks. */
static __attribute__((noinline)) void fill_vector(const spot_block *b, const db_spot_pass *pass,
                                                  const interface_values *z,
                                                  const db_spot_name *kind, const int place[DIRS],
                                                  const spot_vector *vector) {
    const int moving = b->spots->moving;
    const db_spot_name name = { .tail = kind->tail, .passage = { .moves = kind->passage.moves } };
    const spot_node node = node_of(b, z, vector);
    const spot_values s =
        spot_of(b->spots->experiment, z, &name, &node, square_of(b, pass, z->site_curve, vector));
    lane inside[3], column[DB_SPOT_COLUMNS_MOVING];
    for (int c = 0; c < 3; c++) inside[c] = gathered(b->value[INSIDE + c], vector);
    for (int k = 0; k < DIRS; k++) {
        if (place[k] < 0) continue;
        if (moving)
            spot_move_coefficients(&s, k, column);
        else
            spot_rest_coefficients(&s, inside, k, column);
        store_columns(b, vector, (size_t)place[k],
                      moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS, column);
    }
}

static void fill_pass(const spot_block *b, int count, size_t number) {
    const db_spot_pass *pass = &b->spots->pass[number];
    panel_interface panel;
    source_interface source;
    num curve[DB_MOST_SITE_CURVES];
    interface_values z = { .panel = &panel, .source = &source, .site_curve = curve };
    const db_spot_name *kind = NULL;
    const double *const panels = start_pass(b, number, &z);
    int place[DIRS], any = 0;
    for (int i = 0; i < count;) {
        const db_spot_name *name = &b->entry[b->order[i]].name;
        if (!kind || !same_kind(kind, name)) {
            any = slope_places(b, pass, name->source, place);
            start_kind(b, panels, name, &z);
        }
        kind = name;
        spot_vector vector = { .count = 0 };
        for (int j = 0; j < LANES; j++) {
            if (i < count && same_kind(kind, &b->entry[b->order[i]].name)) {
                vector.number[vector.count++] = b->order[i++];
            } else {
                vector.number[j] = vector.number[vector.count - 1];
            }
        }
        if (any) fill_vector(b, pass, &z, kind, place, &vector);
    }
}

#define INSTANCE_NAME_(tag) db_spot_slopes_##tag
#define INSTANCE_NAME(tag) INSTANCE_NAME_(tag)
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_kernel_spots *spots, size_t panels, size_t first,
                                    int count, const double *amplitude, double *slope_double,
                                    float *slope_float);
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_kernel_spots *spots, size_t panels, size_t first,
                                    int count, const double *amplitude, double *slope_double,
                                    float *slope_float) {
    spot_block b = { .spots = spots,
                     .panels = panels,
                     .sources = spots->experiment->beam.source_count,
                     .kinds = db_site_count(&spots->experiment->structure_factors),
                     .first = first,
                     .slope_double = slope_double,
                     .slope_float = slope_float,
                     .entry = spots->entry + first,
                     .amplitude = amplitude };
    order_spots(count, &b);
    read_spots(count, spots->spot + first, &b);
    for (size_t pass = 0; pass < spots->passes; pass++) fill_pass(&b, count, pass);
}
