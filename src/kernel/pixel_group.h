/* The pixel loop: LANES pixels through sub-pixels, sources, phi steps and mosaic domains
 * (model.md 11.1), and in gradient instances the columns: derivatives of the pixel by the interface
 * values.
 *
 * A sample enters the pixel as  u F_c^2 F_latt^2(h),  u = scale omega w P.  Its dependence on the
 * interface is linear step by step: h = lattice . rotation . q and q = kappa d - s0 are bilinear,
 * so their slopes are their coefficients; what is not linear (F_latt^2 by dh and N, omega and d by
 * the position, P by the direction) carries local duals. */
#ifndef DB_KERNEL_PIXEL_GROUP_H
#define DB_KERNEL_PIXEL_GROUP_H

typedef struct {
    fine intensity;
#if DB_INSTANCE_KIND > 0
    fine column[DB_COLUMN_COUNT];
#endif
} pixel_sums;

/* One source seen from one sub-pixel. */
typedef struct {
    fine sum; /* of F_c^2 F_latt^2 over samples */
#if DB_INSTANCE_KIND > 0
    fine by_q[3]; /* slope of sum by q, laboratory frame, in units of u */
#endif
} source_sums;

#define REAL SHAPE_REAL
#define DIRS 0

AD_INLINE fine fine_set(double a) { return l_set((SHAPE_REAL)a); }

AD_INLINE wide_vec3 wide_passive(const double v[3]) {
    return v3_passive_double_0(l_set_double(v[0]), l_set_double(v[1]), l_set_double(v[2]));
}

#if DB_INSTANCE_KIND > 0
AD_INLINE fine dot3(const SHAPE_REAL m[3], const fine v[3]) {
    return l_fma(l_set(m[0]), v[0], l_fma(l_set(m[1]), v[1], l_mul(l_set(m[2]), v[2])));
}

/* Adds one sample's slopes: gh = u F_c^2 dF_latt^2/dh. */
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

/* All phi steps and mosaic domains for one scattering vector; u: what multiplies F_c^2 F_latt^2. */
AD_INLINE source_sums add_samples(db_crystal_shape shape, const db_kernel_job *job, wide_vec3 q,
                                  fine u, pixel_sums *sums) {
    const fine cells[3] = { fine_set(job->cells[0]), fine_set(job->cells[1]),
                            fine_set(job->cells[2]) };
    const fine fudge = fine_set(job->fudge), default_intensity = fine_set(job->default_intensity);
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
        fine offset[3], intensity = default_intensity;
        if (job->table_used) {
            wide node[3];
            for (int j = 0; j < 3; j++) {
                node[j] = nearest_node_double_0(h[j]);
                offset[j] = narrow(l_sub_double(h[j], node[j]));
            }
            intensity = table_intensity(job, node);
        } else {
            /* which of two equally near nodes it is matters to the table only */
            for (int j = 0; j < 3; j++) offset[j] = narrow(l_reduce_double(h[j]));
        }
        const lattice_factor f = lattice_factor_of(shape, offset, cells, fudge);
        source.sum = l_fma(intensity, f.value, source.sum);
#if DB_INSTANCE_KIND > 0
        const fine weight = l_mul(u, intensity);
        const fine gh[3] = { l_mul(weight, f.slope[0]), l_mul(weight, f.slope[1]),
                             l_mul(weight, f.slope[2]) };
        add_sample_slopes(job, s, fine_q, gh, sums, &source);
#endif
#if DB_INSTANCE_KIND > 1
        for (int j = 0; j < 3; j++)
            sums->column[DB_COLUMN_CELLS + j] =
                l_fma(weight, f.cells[j], sums->column[DB_COLUMN_CELLS + j]);
#endif
    }
    return source;
}

#undef DIRS
#if DB_INSTANCE_KIND > 0
#define DIRS 3
#else
#define DIRS 0
#endif

AD_INLINE num polarization_of(vec3 d, const fine_source *source) {
    num tensor[6];
    for (int n = 0; n < 6; n++) tensor[n] = n_passive(l_set(source->polarization[n]));
    return polarization_factor(d, tensor);
}

#if DB_INSTANCE_KIND > 0
/* Columns of the parameters that move the sources: q = kappa d - s0, and P is linear in the tensor.
 */
AD_INLINE void add_source_slopes(const db_kernel_job *job, size_t j, vec3 d, fine omega,
                                 fine weight, fine p, const source_sums *source, pixel_sums *sums) {
    const fine along =
        l_fma(source->by_q[0], d.x.v, l_fma(source->by_q[1], d.y.v, l_mul(source->by_q[2], d.z.v)));
    const fine both = l_mul(omega, source->sum);
    for (int n = 0; n < job->source_slopes; n++) {
        const fine_source *slope = &job->FINE(source_slope)[(size_t)n * job->source_count + j];
        /* d.W'd/2 by the same formula: W' in the place of W, without the constant 1/2 */
        const fine p_slope = l_sub(polarization_of(d, slope).v, fine_set(0.5));
        fine column = sums->column[DB_COLUMN_SOURCE + n];
        column = l_fma(along, l_set(slope->kappa), column);
        for (int c = 0; c < 3; c++) column = l_fnma(source->by_q[c], l_set(slope->s0[c]), column);
        column = l_fma(l_mul(both, weight), p_slope, column);
        column = l_fma(l_mul(both, p), l_set(slope->weight), column);
        sums->column[DB_COLUMN_SOURCE + n] = column;
    }
}
#endif

/* One point of each pixel of the group: all sources. */
AD_INLINE void add_sub_pixel(db_crystal_shape shape, const db_kernel_job *job,
                             const db_kernel_panel *panel, wide fast, wide slow, pixel_sums *sums) {
    const wide_vec3 wide_x =
        pixel_position_double_0(wide_passive(panel->origin), wide_passive(panel->fast),
                                wide_passive(panel->slow), fast, slow);
    const wide_vec3 wide_d = v3_unit_double_0(wide_x);
    const vec3 x = v3_seed(narrow(wide_x.x.v), narrow(wide_x.y.v), narrow(wide_x.z.v), 0);
    const num omega = job->point_pixel
                          ? point_solid_angle(x)
                          : solid_angle(x, n_passive(fine_set(panel->z)),
                                        fine_set(panel->pixel_size[0] * panel->pixel_size[1]));
    const vec3 d = v3_seed(narrow(wide_d.x.v), narrow(wide_d.y.v), narrow(wide_d.z.v), 0);
#if DB_INSTANCE_KIND > 0
    fine by_d[3] = { fine_set(0), fine_set(0), fine_set(0) }, by_omega = fine_set(0);
#endif
    for (size_t j = 0; j < job->source_count; j++) {
        const db_kernel_source_double *s = &job->source_double[j];
        const fine_source *fine_s = &job->FINE(source)[j];
        const wide_vec3 q = scattering_vector_double_0(
            wide_d, n_passive_double_0(l_set_double(s->kappa)), wide_passive(s->s0));
        const num p = polarization_of(d, fine_s);
        const fine weight = l_set(fine_s->weight), wp = l_mul(weight, p.v), u = l_mul(omega.v, wp);
        const source_sums source = add_samples(shape, job, q, u, sums);
        sums->intensity = l_fma(u, source.sum, sums->intensity);
#if DB_INSTANCE_KIND > 0
        const fine by_p = l_mul(l_mul(omega.v, weight), source.sum), kappa = l_set(fine_s->kappa);
        for (int c = 0; c < 3; c++)
            by_d[c] = l_fma(source.by_q[c], kappa, l_fma(by_p, p.d[c], by_d[c]));
        by_omega = l_fma(wp, source.sum, by_omega);
        add_source_slopes(job, j, d, omega.v, weight, p.v, &source, sums);
#endif
    }
#if DB_INSTANCE_KIND > 0
    const vec3 direction = v3_unit(x);
    const fine f = narrow(fast), s = narrow(slow);
    for (int c = 0; c < 3; c++) {
        fine by_x = l_mul(by_omega, omega.d[c]);
        by_x = l_fma(by_d[0], direction.x.d[c], by_x);
        by_x = l_fma(by_d[1], direction.y.d[c], by_x);
        by_x = l_fma(by_d[2], direction.z.d[c], by_x);
        fine *const column = sums->column;
        column[DB_COLUMN_ORIGIN + c] = l_add(column[DB_COLUMN_ORIGIN + c], by_x);
        column[DB_COLUMN_FAST + c] = l_fma(f, by_x, column[DB_COLUMN_FAST + c]);
        column[DB_COLUMN_SLOW + c] = l_fma(s, by_x, column[DB_COLUMN_SLOW + c]);
    }
#endif
}

#undef REAL
#undef DIRS

AD_INLINE void clear_sums(const db_kernel_job *job, pixel_sums *sums) {
    sums->intensity = fine_set(0);
#if DB_INSTANCE_KIND > 0
    for (int c = 0; c < DB_COLUMN_INTENSITY; c++) sums->column[c] = fine_set(0);
    for (int c = 0; c < job->rotation_slopes; c++)
        sums->column[DB_COLUMN_ROTATION + c] = fine_set(0);
    for (int c = 0; c < job->source_slopes; c++) sums->column[DB_COLUMN_SOURCE + c] = fine_set(0);
#else
    (void)job;
#endif
#if DB_INSTANCE_KIND > 1
    for (int c = 0; c < 3; c++) sums->column[DB_COLUMN_CELLS + c] = fine_set(0);
#endif
}

/* A group of pixels; fast and slow: pixel numbers. The sums lack the overall scale. */
AD_INLINE void render_group(db_crystal_shape shape, const db_kernel_job *job,
                            const db_kernel_panel *panel, wide fast, wide slow, pixel_sums *sums) {
    const double step = job->sub_pixel;
    clear_sums(job, sums);
    for (int i = 0; i < job->oversample; i++)
        for (int j = 0; j < job->oversample; j++) {
            const wide f = l_mul_double(l_add_double(fast, l_set_double((j + 0.5) * step)),
                                        l_set_double(panel->pixel_size[0]));
            const wide s = l_mul_double(l_add_double(slow, l_set_double((i + 0.5) * step)),
                                        l_set_double(panel->pixel_size[1]));
            add_sub_pixel(shape, job, panel, f, s, sums);
        }
#if DB_INSTANCE_KIND > 0
    sums->column[DB_COLUMN_INTENSITY] = sums->intensity;
#endif
}

#endif
