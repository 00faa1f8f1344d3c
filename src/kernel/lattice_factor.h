/* F_latt^2 of one sample with its slopes, put together from the per-axis factors of
 * kernel/lattice.h by the product rule. The shape is a compile-time constant after inlining. */
#ifndef DB_KERNEL_LATTICE_FACTOR_H
#define DB_KERNEL_LATTICE_FACTOR_H

#include "kernel/instance_types.h"

/* Crystal shapes as the loops know them. */
typedef enum {
    KERNEL_SQUARE = DB_SHAPE_SQUARE,
    KERNEL_ROUND = DB_SHAPE_ROUND,
    KERNEL_GAUSS = DB_SHAPE_GAUSS,
    KERNEL_TOPHAT = DB_SHAPE_TOPHAT,
    KERNEL_FEW_CELLS, /* square, by polynomials; not for derivatives by N */
    KERNEL_CUT = 16   /* added to a shape: without the samples that do not count (spot_cut.h) */
} kernel_shape;

/* The shape of a loop. TOPHAT spots have a sharp edge, so their loop always leaves out samples beyond it. */
AD_INLINE kernel_shape shape_of(const db_kernel_job *job) {
    const kernel_shape shape = (kernel_shape)job->shape;
    if (job->few_cells && DB_INSTANCE_KIND < 2 && !DB_INSTANCE_GENERAL) return KERNEL_FEW_CELLS;
    return job->cuts ? (kernel_shape)(shape | KERNEL_CUT) : shape;
}

typedef struct {
    fine value;
#if DB_INSTANCE_KIND > 0
    fine slope[3]; /* by h, k, l */
#endif
#if DB_INSTANCE_KIND > 1
    fine cells[3]; /* by N_a, N_b, N_c */
#endif
} lattice_factor;

#define REAL SHAPE_REAL
#if DB_INSTANCE_KIND == 0
#define DIRS 0
#elif DB_INSTANCE_KIND == 1
#define DIRS 1
#else
#define DIRS 2
#endif

AD_INLINE lattice_factor box_factor(const fine offset[3], const fine cells[3]) {
    sine_quotient q[3];
    for (int j = 0; j < 3; j++) q[j] = square_axis(n_seed(offset[j], 0), n_seed(cells[j], 1));
    const fine top = f_mul(f_mul(q[0].top.v, q[1].top.v), q[2].top.v);
    lattice_factor f;
#if DB_INSTANCE_KIND == 0
    const fine bottom = f_mul(f_mul(q[0].bottom.v, q[1].bottom.v), q[2].bottom.v);
    const fine amplitude = f_div(top, bottom);
    f.value = f_mul(amplitude, amplitude);
#else
    const fine bottom_ab = f_mul(q[0].bottom.v, q[1].bottom.v);
    const fine inverse = f_div(f_set(1), f_mul(bottom_ab, q[2].bottom.v));
    const fine inverse_c = f_mul(inverse, q[2].bottom.v);
    const num axis[3] = { square_factor(q[0], f_mul(inverse_c, q[1].bottom.v)),
                          square_factor(q[1], f_mul(inverse_c, q[0].bottom.v)),
                          square_factor(q[2], f_mul(inverse, bottom_ab)) };
    /* not the product of the axes, each of which has a rounding error of its inverse */
    const fine amplitude = f_mul(top, inverse), ab = f_mul(axis[0].v, axis[1].v);
    f.value = f_mul(amplitude, amplitude);
    const fine bc = f_mul(axis[1].v, axis[2].v), ac = f_mul(axis[0].v, axis[2].v);
    f.slope[0] = f_mul(axis[0].d[0], bc);
    f.slope[1] = f_mul(axis[1].d[0], ac);
    f.slope[2] = f_mul(axis[2].d[0], ab);
#endif
#if DB_INSTANCE_KIND > 1
    f.cells[0] = f_mul(axis[0].d[1], bc);
    f.cells[1] = f_mul(axis[1].d[1], ac);
    f.cells[2] = f_mul(axis[2].d[1], ab);
#endif
    return f;
}

#if DB_INSTANCE_KIND < 2
/* A box of few cells along each axis. */
AD_INLINE lattice_factor small_box_factor(const db_kernel_job *job, const fine offset[3]) {
    num dh[3], axis[3];
    lattice_factor f;
    for (int j = 0; j < 3; j++) dh[j] = n_seed(offset[j], 0);
    few_cells_factors(dh, job->FINE(few), axis);
    const fine ab = f_mul(axis[0].v, axis[1].v);
    f.value = f_mul(ab, axis[2].v);
#if DB_INSTANCE_KIND > 0
    f.slope[0] = f_mul(axis[0].d[0], f_mul(axis[1].v, axis[2].v));
    f.slope[1] = f_mul(axis[1].d[0], f_mul(axis[0].v, axis[2].v));
    f.slope[2] = f_mul(axis[2].d[0], ab);
#endif
    return f;
}
#endif

/* N_a^2 N_b^2 N_c^2 spot(fudge G). A dual number with direction 0 for G carries the spot's
 * slope. */
AD_INLINE lattice_factor compact_factor(db_crystal_shape shape, const fine offset[3],
                                        const fine cells[3], fine fudge) {
    num share[3], size[3];
    for (int j = 0; j < 3; j++) {
        const num n = n_seed(cells[j], 1);
        share[j] = spot_radius_axis(n_seed(offset[j], 0), n);
        size[j] = n_sqr(n);
    }
    const num g = n_seed(f_mul(fudge, f_add(share[0].v, f_add(share[1].v, share[2].v))), 0);
    const num spot = shape == DB_SHAPE_ROUND   ? round_spot(g)
                     : shape == DB_SHAPE_GAUSS ? gauss_spot(g)
                                               : tophat_spot(g);
    const fine ab = f_mul(size[0].v, size[1].v), volume = f_mul(ab, size[2].v);
    lattice_factor f;
    f.value = f_mul(volume, spot.v);
#if DB_INSTANCE_KIND > 0
    const fine by_share = f_mul(volume, f_mul(fudge, spot.d[0]));
    for (int j = 0; j < 3; j++) f.slope[j] = f_mul(by_share, share[j].d[0]);
#endif
#if DB_INSTANCE_KIND > 1
    const fine others[3] = { f_mul(size[1].v, size[2].v), f_mul(size[0].v, size[2].v), ab };
    for (int j = 0; j < 3; j++)
        f.cells[j] = f_fma(by_share, share[j].d[1], f_mul(f_mul(size[j].d[1], others[j]), spot.v));
#endif
    return f;
}

AD_INLINE lattice_factor lattice_factor_of(kernel_shape shape, const db_kernel_job *job,
                                           const fine offset[3]) {
    const fine cells[3] = { f_set(job->cells[0]), f_set(job->cells[1]), f_set(job->cells[2]) };
#if DB_INSTANCE_KIND < 2
    if (shape == KERNEL_FEW_CELLS) return small_box_factor(job, offset);
#endif
    if (shape == KERNEL_SQUARE) return box_factor(offset, cells);
    return compact_factor((db_crystal_shape)shape, offset, cells, f_set(job->fudge));
}

AD_INLINE fine_mask sample_counts(kernel_shape shape, const db_kernel_job *job,
                                  const fine offset[3]) {
    const fine cells[3] = { f_set(job->cells[0]), f_set(job->cells[1]), f_set(job->cells[2]) };
    const fine cut = f_set(job->cut);
    return shape == KERNEL_SQUARE ? on_streaks(offset, cells, cut)
                                  : near_node(offset, cells, f_set(job->fudge), cut);
}

AD_INLINE void leave_out_beyond(fine_mask counts, lattice_factor *f) {
    f->value = f_keep(counts, f->value);
#if DB_INSTANCE_KIND > 0
    for (int j = 0; j < 3; j++) f->slope[j] = f_keep(counts, f->slope[j]);
#endif
#if DB_INSTANCE_KIND > 1
    for (int j = 0; j < 3; j++) f->cells[j] = f_keep(counts, f->cells[j]);
#endif
}

#undef REAL
#undef DIRS
#endif
