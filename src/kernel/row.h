/* Terms that the pixels of one row of a flat panel share, for plain jobs. The position is linear along the row,
 * and so is everything bilinear in it: a Miller index costs two multiplications and additions. */
#ifndef DB_KERNEL_ROW_H
#define DB_KERNEL_ROW_H

#include "kernel/instance_types.h"
#include "kernel/row_room.h"

#include <string.h>

typedef struct {
    double start[3];  /* position of the row's first point (m) */
    SHAPE_REAL slow;  /* its place along slow (m) */
    double square[3]; /* coefficients of powers of f in |x|^2 */
    /* [source][3], coefficients of powers of f in x.W x; images only */
    SHAPE_REAL *polarization;
    /* [source][2], coefficients of powers of f in -2 kappa x.s0; with a Debye-Waller factor */
    double *incident;
    row_term *term; /* [source][sample] */
#if LANES > 1
    /* Of plans that leave samples out: the terms of bundles of samples, without INDEX_SHIFT, and
     * room behind the last bundle. [vector][source x sample] */
    SHAPE_REAL *at_start[3]; /* linear[][0] */
    SHAPE_REAL *along_fast[3];
    SHAPE_REAL *constant[3];
#endif
} row_terms;

/* Rows at `slow` (m from the panel's corner): their first points, ... */
AD_INLINE wide_vec3 row_start(const db_kernel_panel *panel, wide slow) {
    return w3_add(wide_vector(panel->origin), w3_scale(wide_vector(panel->slow), wn_passive(slow)));
}

/* ... and the coefficients of powers of f in |x|^2, ... */
AD_INLINE void row_square_terms(const db_kernel_panel *panel, wide_vec3 start, wide power[3]) {
    const wide_vec3 fast = wide_vector(panel->fast);
    const wide mixed = w3_dot(start, fast).v;
    power[0] = w3_dot(start, start).v;
    power[1] = w_add(mixed, mixed);
    power[2] = w3_dot(fast, fast).v;
}

/* ... in x.W x ... */
AD_INLINE void row_polarization_terms(const db_kernel_panel *panel,
                                      const db_kernel_source_double *source, wide_vec3 start,
                                      wide power[3]) {
    wide_num tensor[6];
    for (int n = 0; n < 6; n++) tensor[n] = wn_passive(w_set(source->polarization[n]));
    const wide_vec3 fast = wide_vector(panel->fast), turned = w3_symmetric(tensor, fast);
    const wide mixed = w3_dot(start, turned).v;
    power[0] = w3_dot(start, w3_symmetric(tensor, start)).v;
    power[1] = w_add(mixed, mixed);
    power[2] = w3_dot(fast, turned).v;
}

/* ... and in -2 kappa x.s0. */
AD_INLINE void row_incident_terms(const db_kernel_panel *panel,
                                  const db_kernel_source_double *source, wide_vec3 start,
                                  wide power[2]) {
    const wide_vec3 s0 = wide_vector(source->s0);
    const wide factor = w_set(-2 * source->kappa);
    power[0] = w_mul(factor, w3_dot(s0, start).v);
    power[1] = w_mul(factor, w3_dot(s0, wide_vector(panel->fast)).v);
}

/* kappa a.x at the beginning of rows. */
AD_INLINE wide row_linear(const panel_term *term, int axis, wide slow) {
    return w_fma(slow, w_set(term->along_slow[axis]), w_set(term->corner[axis]));
}

/* As row_linear, for one row: one lane of it. */
AD_INLINE double one_row_linear(const panel_term *term, int axis, double slow) {
#if LANES == 1
    return row_linear(term, axis, slow);
#else
    return vec_fma_one(slow, term->along_slow[axis], term->corner[axis]);
#endif
}

AD_INLINE double first_lane(wide a) {
    double lanes[LANES];
    w_store(lanes, a);
    return lanes[0];
}

AD_INLINE double row_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The part of a term, for a source and a sample, that all rows share. */
AD_INLINE void fill_panel_term(const db_kernel_job *job, const db_kernel_panel *panel,
                               size_t source_number, size_t sample, panel_term *whole,
                               row_term *term) {
    const double shift = job->table_used ? 0 : INDEX_SHIFT;
    const db_kernel_source_double *source = &job->source_double[source_number];
    const double *lattice = job->sample_double[sample].lattice;
    for (int i = 0; i < 3; i++) {
        const double *a = lattice + 3 * i;
        whole->corner[i] = source->kappa * row_dot(a, panel->origin);
        whole->along_slow[i] = source->kappa * row_dot(a, panel->slow);
        term->linear[i][1] = source->kappa * row_dot(a, panel->fast);
        term->constant[i] = shift - row_dot(a, source->s0);
    }
}

/* The part of a term that depends on the row: a sub-pixel row at `slow` (m from the panel's corner). */
AD_INLINE void place_term(const panel_term *whole, double slow, row_term *term) {
    for (int i = 0; i < 3; i++) term->linear[i][0] = one_row_linear(whole, i, slow);
}

/* The values of a row, for all sources. */
AD_INLINE void place_row(const db_kernel_panel *panel, double slow, row_terms *row) {
    const wide_vec3 start = row_start(panel, w_set(slow));
    wide power[3];
    row->slow = (SHAPE_REAL)slow;
    row->start[0] = first_lane(start.x.v);
    row->start[1] = first_lane(start.y.v);
    row->start[2] = first_lane(start.z.v);
    row_square_terms(panel, start, power);
    for (int c = 0; c < 3; c++) row->square[c] = first_lane(power[c]);
}
AD_INLINE void fill_row_source(const db_kernel_job *job, const db_kernel_panel *panel,
                               size_t source, double slow, const row_terms *row) {
    const db_kernel_source_double *s = &job->source_double[source];
    const wide_vec3 start = row_start(panel, w_set(slow));
    wide power[3];
    row_polarization_terms(panel, s, start, power);
    for (int c = 0; c < 3; c++)
        row->polarization[3 * source + (size_t)c] = (SHAPE_REAL)first_lane(power[c]);
    if (!job->debye_waller) return;
    row_incident_terms(panel, s, start, power);
    for (int c = 0; c < 2; c++) row->incident[2 * source + (size_t)c] = first_lane(power[c]);
}

#if LANES > 1
/* The terms of a tile; its rows are rendered one after another. */
typedef struct {
    panel_term *panel;               /* [source][sample] */
    row_terms row[DB_MOST_SUB_ROWS]; /* one for each row of sub-pixels */
} tile_terms;

/* Divides a thread's room (db_row_room bytes) among the arrays. */
AD_INLINE void furnish(const db_kernel_job *job, void *room, tile_terms *tile) {
    const size_t sources = job->source_count, count = sources * job->sample_count,
                 bundled = count + LANES, rows = (size_t)job->oversample;
    tile->panel = (panel_term *)room;
    row_term *const term = (row_term *)(tile->panel + count);
    double *const incident = (double *)(term + rows * count);
    SHAPE_REAL *const bundles = (SHAPE_REAL *)(incident + rows * 2 * sources);
    SHAPE_REAL *const polarization = bundles + (2 + rows) * 3 * bundled;
    for (size_t i = 0; i < rows; i++) {
        row_terms *const row = &tile->row[i];
        row->term = term + i * count;
        row->incident = incident + i * 2 * sources;
        row->polarization = polarization + i * 3 * sources;
        for (size_t c = 0; c < 3; c++) {
            row->along_fast[c] = bundles + c * bundled;
            row->constant[c] = bundles + (3 + c) * bundled;
            row->at_start[c] = bundles + ((2 + i) * 3 + c) * bundled;
        }
    }
}

AD_INLINE void fill_bundles(const db_kernel_job *job, size_t count, const tile_terms *tile) {
    const double shift = job->table_used ? 0 : INDEX_SHIFT;
    const row_terms *const first = &tile->row[0];
    for (int c = 0; c < 3; c++) {
        for (size_t n = 0; n < count; n++) {
            first->along_fast[c][n] = (SHAPE_REAL)first->term[n].linear[c][1];
            first->constant[c][n] = (SHAPE_REAL)(first->term[n].constant[c] - shift);
        }
        for (size_t n = count; n < count + LANES; n++) {
            first->along_fast[c][n] = first->constant[c][n] = 0;
            for (int i = 0; i < job->oversample; i++) tile->row[i].at_start[c][n] = 0;
        }
    }
}

AD_INLINE void fill_panel_terms(const db_kernel_job *job, const db_kernel_panel *panel,
                                const tile_terms *tile) {
    const size_t count = job->source_count * job->sample_count;
    for (size_t j = 0, n = 0; j < job->source_count; j++)
        for (size_t s = 0; s < job->sample_count; s++, n++)
            fill_panel_term(job, panel, j, s, &tile->panel[n], &tile->row[0].term[n]);
    for (int i = 1; i < job->oversample; i++)
        memcpy(tile->row[i].term, tile->row[0].term, count * sizeof(row_term));
    if (job->cuts) fill_bundles(job, count, tile);
}

/* Sub-pixel row number i. */
AD_INLINE void fill_row(const db_kernel_job *job, const db_kernel_panel *panel, double slow, int i,
                        tile_terms *tile) {
    row_terms *row = &tile->row[i];
    place_row(panel, slow, row);
    for (size_t j = 0; DB_INSTANCE_KIND == 0 && j < job->source_count; j++)
        fill_row_source(job, panel, j, slow, row);
    const size_t count = job->source_count * job->sample_count;
    for (size_t n = 0; n < count; n++) place_term(&tile->panel[n], slow, &row->term[n]);
    for (int c = 0; c < 3 && job->cuts; c++)
        for (size_t n = 0; n < count; n++)
            row->at_start[c][n] = (SHAPE_REAL)row->term[n].linear[c][0];
}
#endif

#endif
