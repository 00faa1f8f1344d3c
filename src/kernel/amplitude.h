/* The squared structure factor F_c^2 that a sample of the crystal meets at its Miller indices: a
 * constant, the list's entry nearest to them, or the tricubic interpolation of the list, with its
 * slopes. Source: docs/theory/pixel.md, Structure factor. */
#ifndef DB_KERNEL_AMPLITUDE_H
#define DB_KERNEL_AMPLITUDE_H

#include "kernel/table_lookup.h"
#include "model/site_part.h"

typedef struct {
    fine intensity; /* F_c^2 */
#if DB_INSTANCE_KIND > 0
    fine slope[3];                              /* by h, k, l; interpolation only */
    fine by_amplitude[DB_MAX_AMPLITUDE_SLOPES]; /* by the structure factors among the parameters */
#endif
} squared_amplitude;

AD_INLINE wide floor_of(wide h) {
    const wide node = w_rint(h);
    return w_sub(node, w_select(w_lt(h, node), w_set(1), w_set(0)));
}

AD_INLINE wide at_least(wide a, double low) { return w_select(w_lt(a, w_set(low)), w_set(low), a); }

/* Index, in the table with margin, of the window of four entries per axis that begins one node
 * before `node`. */
AD_INLINE wide window_index(const db_kernel_job *job, const wide node[3]) {
    const double *low = job->margin_min;
    const double *extent = job->margin_extent;
    wide offset[3];
    for (int j = 0; j < 3; j++) {
        const double last = extent[j] - 4;
        /* a window that misses the box holds default_F only: any place in the margin will do */
        offset[j] = at_least(w_sub(node[j], w_set(low[j] + 1)), 0);
        offset[j] = w_neg(at_least(w_neg(offset[j]), -last));
    }
    return w_fma(w_fma(offset[0], w_set(extent[1]), offset[1]), w_set(extent[2]), offset[2]);
}

/* The structure factors by energy (db_site_kinds.part) of a sample's node, in lanes. */
AD_INLINE void gather_site_part(const db_kernel_job *job, const wide node[3],
                                wide part[DB_MOST_SITE_PART]) {
    const size_t each = db_site_part(job->site_kinds);
    double index[LANES], found[LANES];
    w_store(index, table_index(job, node));
    for (size_t n = 0; n < each; n++) {
        for (int i = 0; i < LANES; i++) found[i] = job->site_part[(size_t)index[i] * each + n];
        part[n] = w_load(found);
    }
}

/* Interpolation works in double: its 64 terms have both signs, and their rounding errors in float would exceed
 * those of the rest of the loop. */
#define REAL double
#if DB_INSTANCE_KIND > 0
#define DIRS 1
#else
#define DIRS 0
#endif

/* Four neighbours along l in each lane's window. */
AD_INLINE void window_row(const double *table, const double index[LANES], size_t offset,
                          wide row[4]) {
    double found[4][LANES];
    for (int i = 0; i < LANES; i++) {
        const double *from = table + (int64_t)index[i] + offset;
        for (int k = 0; k < 4; k++) found[k][i] = from[k];
    }
    for (int k = 0; k < 4; k++) row[k] = w_load(found[k]);
}

#if DB_INSTANCE_KIND > 0
/* The weight of the node `offset` after the origin; 0 unless it is one of the window's four. */
AD_INLINE wide weight_at(const num weight[4], wide offset) {
    wide found = w_set(0);
    for (int m = 0; m < 4; m++) found = w_select(w_eq(offset, w_set(m - 1)), weight[m].v, found);
    return found;
}
#endif

/* The window around Miller indices: the node that it begins one before, the weights of its nodes along
 * each axis, and its place in the table in each lane. */
typedef struct {
    wide node[3];
    num weight[3][4];
    double index[LANES];
} amplitude_window;

AD_INLINE void window_of(const db_kernel_job *job, const wide h[3], amplitude_window *w) {
    for (int j = 0; j < 3; j++) {
        w->node[j] = floor_of(h[j]);
        lagrange_weights(n_seed(w_sub(h[j], w->node[j]), 0), w->weight[j]);
    }
    w_store(w->index, window_index(job, w->node));
}

/* Applies the cubic along each axis in turn. Its slopes follow from those of the weights by the product rule. */
AD_INLINE wide window_amplitude(const db_kernel_job *job, const double *table,
                                const amplitude_window *w, wide by_h[3]) {
    const size_t along_l = (size_t)job->margin_extent[2],
                 along_k = (size_t)job->margin_extent[1] * along_l;
    wide f = w_set(0);
#if DB_INSTANCE_KIND > 0
    for (int j = 0; j < 3; j++) by_h[j] = w_set(0);
#else
    (void)by_h;
#endif
    for (size_t a = 0; a < 4; a++) {
        wide plane = w_set(0);
#if DB_INSTANCE_KIND > 0
        wide plane_by_k = w_set(0), plane_by_l = w_set(0);
#endif
        for (size_t b = 0; b < 4; b++) {
            wide entry[4];
            window_row(table, w->index, a * along_k + b * along_l, entry);
            num row = n_scale(w->weight[2][0], entry[0]);
            for (int c = 1; c < 4; c++) row = n_add(row, n_scale(w->weight[2][c], entry[c]));
            plane = w_fma(w->weight[1][b].v, row.v, plane);
#if DB_INSTANCE_KIND > 0
            plane_by_k = w_fma(w->weight[1][b].d[0], row.v, plane_by_k);
            plane_by_l = w_fma(w->weight[1][b].v, row.d[0], plane_by_l);
#endif
        }
        f = w_fma(w->weight[0][a].v, plane, f);
#if DB_INSTANCE_KIND > 0
        by_h[0] = w_fma(w->weight[0][a].d[0], plane, by_h[0]);
        by_h[1] = w_fma(w->weight[0][a].v, plane_by_k, by_h[1]);
        by_h[2] = w_fma(w->weight[0][a].v, plane_by_l, by_h[2]);
#endif
    }
    return f;
}

AD_INLINE squared_amplitude interpolated(const db_kernel_job *job, const wide h[3]) {
    amplitude_window w;
    wide by_h[3];
    window_of(job, h, &w);
    const wide f = window_amplitude(job, job->amplitude_table, &w, by_h);
    squared_amplitude s;
    s.intensity = narrow(w_mul(f, f));
#if DB_INSTANCE_KIND > 0
    const wide twice = w_add(f, f);
    for (int j = 0; j < 3; j++) s.slope[j] = narrow(w_mul(twice, by_h[j]));
    for (int n = 0; n < job->amplitude_slopes; n++) {
        wide product = twice;
        for (int j = 0; j < 3; j++)
            product = w_mul(product, weight_at(w.weight[j],
                                               w_sub(w_set(job->amplitude[n].node[j]), w.node[j])));
        s.by_amplitude[n] = narrow(product);
    }
#endif
    return s;
}
#undef REAL
#undef DIRS

/* F_c^2 at a source's energy, and its slopes by f' and f'' of each kind of sites: 2 Re(conj(F) G) and
 * 2 Re(conj(F) i G). */
#define REAL double
#define DIRS 0
AD_INLINE squared_amplitude by_energy(const db_kernel_job *job, size_t source, const wide node[3],
                                      fine by_curve[DB_MOST_SITE_CURVES]) {
    const int kinds = job->site_kinds;
    const double *const value = job->site_curve + 2 * (size_t)kinds * source;
    wide part[DB_MOST_SITE_PART];
    wide_num curve[DB_MOST_SITE_CURVES];
    squared_amplitude s;
    (void)by_curve;
    gather_site_part(job, node, part);
    for (int c = 0; c < 2 * kinds; c++) curve[c] = wn_passive(w_set(value[c]));
    const site_sum f = site_factor(kinds, part, curve);
    s.intensity = narrow(w_fma(f.real.v, f.real.v, w_mul(f.imaginary.v, f.imaginary.v)));
#if DB_INSTANCE_KIND > 0
    for (int j = 0; j < 3; j++) s.slope[j] = f_set(0);
    for (int k = 0; k < kinds; k++) {
        const wide *const g = part + 2 + 2 * k;
        const wide along = w_fma(f.real.v, g[0], w_mul(f.imaginary.v, g[1])),
                   across = w_sub(w_mul(f.imaginary.v, g[0]), w_mul(f.real.v, g[1]));
        by_curve[2 * k] = narrow(w_add(along, along));
        by_curve[2 * k + 1] = narrow(w_add(across, across));
    }
#endif
    return s;
}
#undef REAL
#undef DIRS

/* An intensity where the node is that one, else 0. */
AD_INLINE fine intensity_at(const double *only, const wide node[3], fine intensity) {
    for (int j = 0; j < 3; j++)
        intensity =
            f_select(f_eq(narrow(w_sub(node[j], w_set(only[j]))), f_set(0)), intensity, f_set(0));
    return intensity;
}

AD_INLINE squared_amplitude nearest(const db_kernel_job *job, const wide node[3]) {
    squared_amplitude s;
    s.intensity = table_intensity(job, node);
#if DB_INSTANCE_KIND > 0
    for (int j = 0; j < 3; j++) s.slope[j] = f_set(0);
    for (int n = 0; n < job->amplitude_slopes; n++) {
        fine product = f_set(job->amplitude[n].twice);
        for (int j = 0; j < 3; j++) {
            const wide offset = w_sub(w_set(job->amplitude[n].node[j]), node[j]);
            product = f_select(f_eq(narrow(offset), f_set(0)), product, f_set(0));
        }
        s.by_amplitude[n] = product;
    }
#endif
    return s;
}

#endif
