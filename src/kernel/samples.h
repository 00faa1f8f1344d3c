/* All phi steps and mosaic domains of the crystal for one scattering vector. A sample adds u F_c^2
 * F_latt^2(h), where h = lattice . rotation . q is bilinear, so that its slopes are its
 * coefficients; F_c^2 and F_latt^2 bring their own. */
#ifndef DB_KERNEL_SAMPLES_H
#define DB_KERNEL_SAMPLES_H

/* Where Miller indices come from: a scattering vector, or a place along a row. */
typedef struct {
    wide_vec3 q;
    const row_term *term; /* those of the source's samples */
    wide fast, inverse_distance;
    group_ends ends; /* of plans that leave samples out */
} index_view;

/* One source seen from one sub-pixel. */
typedef struct {
    fine sum; /* of F_c^2 F_latt^2 over samples */
#if DB_INSTANCE_KIND > 0
    fine by_q[3]; /* slope of sum by q, laboratory frame, in units of u */
#endif
} source_sums;

#define REAL SHAPE_REAL
#define DIRS 0

#if DB_INSTANCE_KIND > 0
AD_INLINE fine dot3(const SHAPE_REAL m[3], const fine v[3]) {
    return l_fma(l_set(m[0]), v[0], l_fma(l_set(m[1]), v[1], l_mul(l_set(m[2]), v[2])));
}

/* Adds one sample's slopes: gh = u d(F_c^2 F_latt^2)/dh. */
AD_INLINE void add_sample_slopes(const db_kernel_job *job, size_t s, const fine q[3],
                                 const fine gh[3], pixel_sums *sums, source_sums *source) {
    const fine_sample *sample = &job->FINE(sample)[s];
    for (int c = 0; c < 3; c++) {
        const fine q_crystal = dot3(&sample->rotation[3 * c], q);
        for (int r = 0; r < 3; r++) {
            fine *const column = &sums->column[DB_COLUMN_LATTICE + 3 * r + c];
            *column = l_fma(gh[r], q_crystal, *column);
        }
        for (int r = 0; r < 3; r++)
            source->by_q[c] = l_fma(l_set(sample->lattice[3 * r + c]), gh[r], source->by_q[c]);
    }
    for (int n = 0; n < job->rotation_slopes; n++) {
        const SHAPE_REAL *slope =
            job->FINE(lattice_slope) + ((size_t)n * job->sample_count + s) * 9;
        fine *const column = loose_column(sums, DB_COLUMN_ROTATION + n);
        for (int r = 0; r < 3; r++) *column = l_fma(gh[r], dot3(slope + 3 * r, q), *column);
    }
}
#endif

AD_INLINE void miller_indices(int along_row, const db_kernel_job *job, size_t sample,
                              const index_view *view, wide h[3]) {
    if (along_row) {
        const row_term *term = &view->term[sample];
        for (int j = 0; j < 3; j++)
            h[j] = row_index_double_0(term->linear[j], term->constant[j], view->fast,
                                      view->inverse_distance);
        return;
    }
    const wide_vec3 hkl =
        m3_apply_double_0(m3_passive_double_0(job->sample_double[sample].lattice), view->q);
    h[0] = hkl.x.v;
    h[1] = hkl.y.v;
    h[2] = hkl.z.v;
}

/* Long sums of floats lose digits: sums are taken in two stages, of so many terms each time. */
enum { DB_PARTIAL_SUM = 16 };

/* u: what multiplies F_c^2 F_latt^2; q: the scattering vector, for slopes. */
AD_INLINE source_sums add_samples(kernel_shape drawn, int general, int along_row,
                                  const db_kernel_job *job, const index_view *view, const fine q[3],
                                  fine u, pixel_sums *sums) {
    const int interpolate = general && job->interpolate, cut = drawn >= KERNEL_CUT;
    const kernel_shape shape = (kernel_shape)(drawn % KERNEL_CUT);
    const int look_up = job->table_used && !interpolate;
    const int constant = !general && !job->table_used; /* the same F_c for all samples */
    squared_amplitude f;
    f.intensity = fine_set(job->default_intensity);
    source_sums source;
    source.sum = fine_set(0);
    fine partial = fine_set(0);
    unsigned in_reach = 0;
    (void)in_reach;
    (void)u;
    (void)q;
    (void)sums;
#if DB_INSTANCE_KIND > 0
    for (int c = 0; c < 3; c++) source.by_q[c] = fine_set(0);
#endif
    for (size_t s = 0; s < job->sample_count; s++) {
        wide h[3], node[3];
        fine offset[3];
        if (s > 0 && s % DB_PARTIAL_SUM == 0) {
            source.sum = l_add(source.sum, partial);
            partial = fine_set(0);
        }
        if (cut && along_row && view->ends.used) {
            if (s % LANES == 0) in_reach = samples_in_reach(shape, job, &view->ends, s);
            if (!in_reach) {
                s += LANES - 1 - s % LANES;
                continue;
            }
            if (!(in_reach >> s % LANES & 1)) continue;
        }
        miller_indices(along_row, job, s, view, h);
        for (int j = 0; j < 3; j++) {
            node[j] = h[j];
            /* which of two equally near nodes it is matters to the table only */
            if (look_up) {
                node[j] = nearest_node_double_0(h[j]);
                offset[j] = narrow(l_sub_double(h[j], node[j]));
            } else
                offset[j] = along_row ? narrow_offset(h[j]) : narrow(l_reduce_double(h[j]));
        }
        if (cut && !l_any(sample_counts(shape, job, offset))) continue;
        if (interpolate)
            f = interpolated(job, h);
        else if (look_up && general)
            f = nearest(job, node);
        else if (look_up)
            f.intensity = table_intensity(job, node);
        lattice_factor lattice = lattice_factor_of(shape, job, offset);
        if (cut && shape != KERNEL_TOPHAT)
            leave_out_beyond(sample_counts(shape, job, offset), &lattice);
        partial =
            constant ? l_add(partial, lattice.value) : l_fma(f.intensity, lattice.value, partial);
#if DB_INSTANCE_KIND > 0
        const fine weight = l_mul(u, f.intensity);
        fine gh[3] = { l_mul(weight, lattice.slope[0]), l_mul(weight, lattice.slope[1]),
                       l_mul(weight, lattice.slope[2]) };
        if (general) {
            const fine by_intensity = l_mul(u, lattice.value);
            if (interpolate)
                for (int j = 0; j < 3; j++) gh[j] = l_fma(by_intensity, f.slope[j], gh[j]);
            for (int n = 0; n < job->amplitude_slopes; n++) {
                fine *const column = loose_column(sums, DB_COLUMN_AMPLITUDE + n);
                *column = l_fma(by_intensity, f.by_amplitude[n], *column);
            }
        }
        add_sample_slopes(job, s, q, gh, sums, &source);
#endif
#if DB_INSTANCE_KIND > 1
        for (int j = 0; j < 3; j++)
            sums->column[DB_COLUMN_CELLS + j] =
                l_fma(weight, lattice.cells[j], sums->column[DB_COLUMN_CELLS + j]);
#endif
    }
    source.sum = l_add(source.sum, partial);
    if (constant) source.sum = l_mul(source.sum, f.intensity);
    return source;
}

#undef REAL
#undef DIRS
#endif
