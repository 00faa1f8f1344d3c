/* All phi steps and mosaic domains of the crystal for one scattering vector. A sample adds u F_c^2
 * F_latt^2(h), where h = lattice . rotation . q is bilinear, so that its slopes are its
 * coefficients; F_c^2 and F_latt^2 bring their own. */
#ifndef DB_KERNEL_SAMPLES_H
#define DB_KERNEL_SAMPLES_H

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
        fine *const column = &sums->column[DB_COLUMN_ROTATION + n];
        for (int r = 0; r < 3; r++) *column = l_fma(gh[r], dot3(slope + 3 * r, q), *column);
    }
}
#endif

/* u: what multiplies F_c^2 F_latt^2. */
AD_INLINE source_sums add_samples(db_crystal_shape shape, int general, const db_kernel_job *job,
                                  wide_vec3 q, fine u, pixel_sums *sums) {
    const fine cells[3] = { fine_set(job->cells[0]), fine_set(job->cells[1]),
                            fine_set(job->cells[2]) };
    const fine fudge = fine_set(job->fudge);
    const int interpolate = general && job->interpolate;
    squared_amplitude f;
    f.intensity = fine_set(job->default_intensity);
    source_sums source;
    source.sum = fine_set(0);
    (void)u;
    (void)sums;
#if DB_INSTANCE_KIND > 0
    const fine fine_q[3] = { narrow(q.x.v), narrow(q.y.v), narrow(q.z.v) };
    for (int c = 0; c < 3; c++) source.by_q[c] = fine_set(0);
#endif
    for (size_t s = 0; s < job->sample_count; s++) {
        const wide_vec3 hkl =
            m3_apply_double_0(m3_passive_double_0(job->sample_double[s].lattice), q);
        const wide h[3] = { hkl.x.v, hkl.y.v, hkl.z.v };
        fine offset[3];
        if (job->table_used && !interpolate) {
            wide node[3];
            for (int j = 0; j < 3; j++) {
                node[j] = nearest_node_double_0(h[j]);
                offset[j] = narrow(l_sub_double(h[j], node[j]));
            }
            if (general)
                f = nearest(job, node);
            else
                f.intensity = table_intensity(job, node);
        } else {
            /* which of two equally near nodes it is matters to the table only */
            for (int j = 0; j < 3; j++) offset[j] = narrow(l_reduce_double(h[j]));
            if (interpolate) f = interpolated(job, h);
        }
        const lattice_factor lattice = lattice_factor_of(shape, offset, cells, fudge);
        source.sum = l_fma(f.intensity, lattice.value, source.sum);
#if DB_INSTANCE_KIND > 0
        const fine weight = l_mul(u, f.intensity);
        fine gh[3] = { l_mul(weight, lattice.slope[0]), l_mul(weight, lattice.slope[1]),
                       l_mul(weight, lattice.slope[2]) };
        if (general) {
            const fine by_intensity = l_mul(u, lattice.value);
            if (interpolate)
                for (int j = 0; j < 3; j++) gh[j] = l_fma(by_intensity, f.slope[j], gh[j]);
            for (int n = 0; n < job->amplitude_slopes; n++)
                sums->column[DB_COLUMN_AMPLITUDE + n] =
                    l_fma(by_intensity, f.by_amplitude[n], sums->column[DB_COLUMN_AMPLITUDE + n]);
        }
        add_sample_slopes(job, s, fine_q, gh, sums, &source);
#endif
#if DB_INSTANCE_KIND > 1
        for (int j = 0; j < 3; j++)
            sums->column[DB_COLUMN_CELLS + j] =
                l_fma(weight, lattice.cells[j], sums->column[DB_COLUMN_CELLS + j]);
#endif
    }
    return source;
}

#undef REAL
#undef DIRS
#endif
