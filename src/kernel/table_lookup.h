/* Squared structure factors of the nodes nearest to a bundle of Miller indices. Nodes outside the
 * box read the table's last entry, which holds default_F^2: no branch. */
#ifndef DB_KERNEL_TABLE_LOOKUP_H
#define DB_KERNEL_TABLE_LOOKUP_H

#include "kernel/instance_types.h"

/* Table index of each lane's node. */
AD_INLINE wide table_index(const db_kernel_job *job, const wide node[3]) {
    const double *low = job->table_min;
    const double *extent = job->table_extent;
    const wide zero = w_set(0);
    wide offset[3];
    for (int j = 0; j < 3; j++) offset[j] = w_sub(node[j], w_set(low[j]));
    wide_mask inside = w_and(w_le(zero, offset[0]), w_lt(offset[0], w_set(extent[0])));
    inside = w_and(inside, w_and(w_le(zero, offset[1]), w_lt(offset[1], w_set(extent[1]))));
    inside = w_and(inside, w_and(w_le(zero, offset[2]), w_lt(offset[2], w_set(extent[2]))));
    const wide index =
        w_fma(w_fma(offset[0], w_set(extent[1]), offset[1]), w_set(extent[2]), offset[2]);
    return w_select(inside, index, w_set(extent[0] * extent[1] * extent[2]));
}

AD_INLINE fine table_intensity(const db_kernel_job *job, const wide node[3]) {
    double index[LANES];
    SHAPE_REAL found[LANES];
    w_store(index, table_index(job, node));
#if defined(DB_INSTANCE_PRECISION_MIXED)
    for (int i = 0; i < LANES; i++) found[i] = job->intensity_float[(int64_t)index[i]];
#else
    for (int i = 0; i < LANES; i++) found[i] = job->intensity_double[(int64_t)index[i]];
#endif
    return f_load(found);
}

#endif
