/* Squared structure factors of the nodes nearest to a bundle of Miller indices. Nodes outside the
 * box read the table's last entry, which holds default_F^2: no branch. */
#ifndef DB_KERNEL_TABLE_LOOKUP_H
#define DB_KERNEL_TABLE_LOOKUP_H

#define REAL double
#define DIRS 0
/* Table index of each lane's node. */
AD_INLINE wide table_index(const db_kernel_job *job, const wide node[3]) {
    const double *low = job->table_min, *extent = job->table_extent;
    const wide zero = l_set(0);
    wide offset[3];
    for (int j = 0; j < 3; j++) offset[j] = l_sub(node[j], l_set(low[j]));
    lane_mask inside = l_and(l_le(zero, offset[0]), l_lt(offset[0], l_set(extent[0])));
    inside = l_and(inside, l_and(l_le(zero, offset[1]), l_lt(offset[1], l_set(extent[1]))));
    inside = l_and(inside, l_and(l_le(zero, offset[2]), l_lt(offset[2], l_set(extent[2]))));
    const wide index =
        l_fma(l_fma(offset[0], l_set(extent[1]), offset[1]), l_set(extent[2]), offset[2]);
    return l_select(inside, index, l_set(extent[0] * extent[1] * extent[2]));
}
#undef REAL
#undef DIRS

AD_INLINE fine table_intensity(const db_kernel_job *job, const wide node[3]) {
    double index[LANES];
    SHAPE_REAL found[LANES];
    l_store_double(index, table_index(job, node));
#if defined(DB_INSTANCE_PRECISION_MIXED)
    for (int i = 0; i < LANES; i++) found[i] = job->intensity_float[(int64_t)index[i]];
#else
    for (int i = 0; i < LANES; i++) found[i] = job->intensity_double[(int64_t)index[i]];
#endif
#define REAL SHAPE_REAL
    return l_load(found);
#undef REAL
}

#endif
