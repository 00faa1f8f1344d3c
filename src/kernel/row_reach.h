/* Finds samples that contribute to no pixel of a group along a row, many samples at once: here the
 * lanes are samples, and the group is given by its two ends. For plans that leave samples out
 * (kernel/spot_cut.h). Whether a sample counts in one pixel is still decided in that pixel's
 * lane. */
#ifndef DB_KERNEL_ROW_REACH_H
#define DB_KERNEL_ROW_REACH_H

#include "kernel/lattice_factor.h"
#include "kernel/row.h"

#if LANES > 1
/* The first and last pixel of a group. */
typedef struct {
    int used; /* 0: not worth looking at */
    const row_terms *row;
    size_t first_term; /* of the source */
    /* their places along the row and 1/distance; the largest deviation of an index between them from the straight
     * line */
    SHAPE_REAL fast[2], inverse_distance[2], excess;
} group_ends;

/* Between the ends a direction d departs from the straight line by at most (3/8) (l/R)^2, l being
 * their distance: |d''| <= 3/R^2. An index is kappa a.d, at most half the largest, and a constant.
 * 1.1: R is smaller between the ends, by less than that if l < 0.4 R. 2^-20: rounding. */
AD_INLINE group_ends ends_of_group(kernel_shape shape, const db_kernel_job *job,
                                   const row_terms *row, wide fast, wide inverse_distance) {
    double place[LANES], inverse[LANES];
    w_store(place, fast);
    w_store(inverse, inverse_distance);
    const double nearest = inverse[0] > inverse[LANES - 1] ? inverse[0] : inverse[LANES - 1],
                 angle = (place[LANES - 1] - place[0]) * nearest,
                 half_largest = job->largest_index / 2;
    /* nodes that a group passes, from which on streaks cross nearly all groups; measured */
    const double most = shape % KERNEL_CUT == KERNEL_SQUARE ? LANES * LANES / 160.0 : 4;
    group_ends e = { .row = row };
    e.used = LANES >= 4 && angle < 0.4 && angle * half_largest < most;
    e.excess = (SHAPE_REAL)(half_largest * 3 / 8 * 1.21 * angle * angle +
                            (1 + job->largest_index) * 0x1p-20);
    for (int i = 0; i < 2; i++) {
        e.fast[i] = (SHAPE_REAL)place[i * (LANES - 1)];
        e.inverse_distance[i] = (SHAPE_REAL)inverse[i * (LANES - 1)];
    }
    return e;
}

/* A bit for each of the samples from number s on, one per lane, that may count somewhere in the group. An index is
 * at least as far from its node as in the middle of the group, less half the distance between the ends. */
AD_INLINE unsigned samples_in_reach(kernel_shape shape, const db_kernel_job *job,
                                    const group_ends *e, size_t s) {
    const size_t n = e->first_term + s;
    const fine half = f_set(0.5), zero = f_set(0);
    fine offset[3];
    for (int c = 0; c < 3; c++) {
        const fine at_start = f_load(e->row->at_start[c] + n),
                   along = f_load(e->row->along_fast[c] + n),
                   constant = f_load(e->row->constant[c] + n);
        fine h[2];
        for (int i = 0; i < 2; i++)
            h[i] = f_fma(f_fma(along, f_set(e->fast[i]), at_start), f_set(e->inverse_distance[i]),
                         constant);
        const fine reach = f_fma(half, f_abs(f_sub(h[1], h[0])), f_set(e->excess));
        const fine middle = f_reduce(f_mul(half, f_add(h[0], h[1])));
        offset[c] = f_max(f_sub(f_abs(middle), reach), zero);
    }
    return f_bitmask(sample_counts(shape, job, offset));
}

#else
/* A single pixel is looked at by itself. */
typedef struct {
    int used;
    size_t first_term;
} group_ends;
AD_INLINE group_ends ends_of_group(kernel_shape shape, const db_kernel_job *job,
                                   const row_terms *row, wide fast, wide inverse_distance) {
    const group_ends none = { 0, 0 };
    (void)shape, (void)job, (void)row, (void)fast, (void)inverse_distance;
    return none;
}
AD_INLINE unsigned samples_in_reach(kernel_shape shape, const db_kernel_job *job,
                                    const group_ends *e, size_t s) {
    (void)shape, (void)job, (void)e, (void)s;
    return 1;
}
#endif
#endif
