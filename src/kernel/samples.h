/* Sums over all phi steps and mosaic domains of the crystal for one scattering vector. A sample adds u F_c^2
 * F_latt^2(h); h = lattice . rotation . q is bilinear, so its slopes are its coefficients; F_c^2 and F_latt^2 have
 * slopes of their own. */
#ifndef DB_KERNEL_SAMPLES_H
#define DB_KERNEL_SAMPLES_H

#include "kernel/amplitude_slopes.h"
#include "kernel/lattice_factor.h"
#include "kernel/pixel_sums.h"
#include "kernel/row_reach.h"

/* How Miller indices are computed: from a scattering vector; from a place along one row for all lanes; or along
 * several rows. */
typedef enum { BY_VECTOR, ALONG_ROW, ACROSS_ROWS } index_mode;

typedef struct {
    wide_vec3 q;
    const row_term *term;         /* of the source's samples */
    const panel_term *panel_term; /* of the source's samples */
    wide fast, slow, inverse_distance;
    size_t source;   /* its number */
    group_ends ends; /* ALONG_ROW, of plans that leave samples out */
    int only;        /* 1: the pixels have no other source or site: their columns are written, not
                        added to */
} index_view;

/* Values that all pixels of a loop share: the job's, or constants, for which the compiler makes a separate loop. */
typedef struct {
    kernel_shape shape;
    index_mode index;
    int tabled;     /* structure factors are listed */
    int thermal;    /* there is a Debye-Waller factor */
    int only;       /* as in index_view */
    int shifted;    /* BY_VECTOR: INDEX_SHIFT is added to Miller indices, which have no table */
    int oversample; /* how often the loops run */
    size_t sources, samples;
    /* the job's; on devices a still's may be somewhere else */
    const db_kernel_source_double *source_double;
    const fine_source *source;
    const db_kernel_sample_double *sample_double;
    const fine_sample *sample;
    const double *only_node; /* general instances: NULL, or the only node that counts */
} loop_mode;

AD_INLINE loop_mode mode_of(const db_kernel_job *job, kernel_shape shape, index_mode index) {
    const loop_mode mode = { .shape = shape,
                             .index = index,
                             .tabled = job->table_used,
                             .thermal = job->debye_waller,
                             .only = 0,
                             .shifted = 0,
                             .oversample = job->oversample,
                             .sources = job->source_count,
                             .samples = job->sample_count,
                             .source_double = job->source_double,
                             .source = job->FINE(source),
                             .sample_double = job->sample_double,
                             .sample = job->FINE(sample),
                             .only_node = NULL };
    return mode;
}

/* One source seen from one sub-pixel. */
typedef struct {
    fine sum; /* of F_c^2 F_latt^2 over samples */
#if DB_INSTANCE_KIND > 0
    fine by_q[3]; /* slope of sum by q, laboratory frame, in units of u */
#endif
} source_sums;

#if DB_INSTANCE_KIND > 0
AD_INLINE fine dot3(const SHAPE_REAL m[3], const fine v[3]) {
    return f_fma(f_set(m[0]), v[0], f_fma(f_set(m[1]), v[1], f_mul(f_set(m[2]), v[2])));
}

/* Adds one sample's slopes: gh = u d(F_c^2 F_latt^2)/dh. */
AD_INLINE void add_sample_slopes(loop_mode mode, const db_kernel_job *job, size_t s,
                                 const fine q[3], const fine gh[3],
                                 fine lattice[DB_LATTICE_COLUMNS], pixel_sums *sums,
                                 source_sums *source) {
    AD_DEVICE_READ(fine_sample, read, &mode.sample[s]);
    /* doubles do not fit into a device's registers all at once */
    const fine_sample *const sample = sizeof(SHAPE_REAL) > sizeof(float) ? &mode.sample[s] : read;
    for (int c = 0; c < 3; c++) {
        const fine q_crystal = dot3(&sample->rotation[3 * c], q);
        for (int r = 0; r < 3; r++)
            lattice[3 * r + c] = f_fma(gh[r], q_crystal, lattice[3 * r + c]);
        for (int r = 0; r < 3; r++)
            source->by_q[c] = f_fma(f_set(sample->lattice[3 * r + c]), gh[r], source->by_q[c]);
    }
    for (int n = 0; n < job->rotation_slopes; n++) {
        const SHAPE_REAL *slope =
            job->FINE(lattice_slope) + ((size_t)n * job->sample_count + s) * 9;
        fine *const column = loose_column(sums, DB_COLUMN_ROTATION + n);
        for (int r = 0; r < 3; r++) *column = f_fma(gh[r], dot3(slope + 3 * r, q), *column);
    }
}
#endif

#if DB_INSTANCE_KIND > 0
/* Adds slopes by parameters that move f' and f'' of the source: the sum, over kinds, of the slope by each times
 * its own slope by the parameter. */
AD_INLINE void add_curve_slopes(const db_kernel_job *job, size_t source, fine by_intensity,
                                const fine by_curve[DB_MOST_SITE_CURVES], pixel_sums *sums) {
    const size_t curves = 2 * (size_t)job->site_kinds;
    for (int n = 0; n < job->source_slopes; n++) {
        const double *const slope =
            job->site_curve_slope + ((size_t)n * job->source_count + source) * curves;
        fine sum = f_set(0);
        for (size_t c = 0; c < curves; c++)
            sum = f_fma(by_curve[c], f_set((SHAPE_REAL)slope[c]), sum);
        fine *const column = loose_column(sums, DB_COLUMN_SOURCE + n);
        *column = f_fma(by_intensity, sum, *column);
    }
}
#endif

AD_INLINE void miller_indices(loop_mode mode, size_t sample, const index_view *view, wide h[3]) {
    if (mode.index != BY_VECTOR) {
        const row_term *term = &view->term[sample];
        for (int j = 0; j < 3; j++) {
            const wide linear[2] = { mode.index == ALONG_ROW
                                         ? w_set(term->linear[j][0])
                                         : row_linear(&view->panel_term[sample], j, view->slow),
                                     w_set(term->linear[j][1]) };
            h[j] =
                w_row_index(linear, w_set(term->constant[j]), view->fast, view->inverse_distance);
        }
        return;
    }
    AD_DEVICE_READ(db_kernel_sample_double, place, &mode.sample_double[sample]);
    const double *const lattice = place->lattice;
    if (mode.shifted) {
        for (int j = 0; j < 3; j++)
            h[j] = w_fma(w_set(lattice[3 * j]), view->q.x.v,
                         w_fma(w_set(lattice[3 * j + 1]), view->q.y.v,
                               w_fma(w_set(lattice[3 * j + 2]), view->q.z.v, w_set(INDEX_SHIFT))));
        return;
    }
    const wide_vec3 hkl = wm3_apply(wm3_passive(lattice), view->q);
    h[0] = hkl.x.v;
    h[1] = hkl.y.v;
    h[2] = hkl.z.v;
}

/* Long sums of floats lose digits. So sums are made in two stages: of blocks of this many terms, then of the
 * blocks. */
enum { DB_PARTIAL_SUM = 16 };

/* 1: a sample's place is computed while the sample before it is summed, so that their chains of
 * operations overlap; with slopes they are too long for a processor to look that far ahead. Devices
 * have other threads to turn to, and fewer registers. */
#define DB_SAMPLES_AHEAD (LANES > 1 && DB_INSTANCE_KIND > 0 && !DB_INSTANCE_GENERAL)

/* On devices: handles several samples of an image per turn, which share the loop's instructions. */
#if defined(AD_DEVICE_LANGUAGE) && DB_INSTANCE_KIND == 0 && !DB_INSTANCE_GENERAL
#define DB_SAMPLES_UNROLLED _Pragma("unroll 4")
#else
#define DB_SAMPLES_UNROLLED
#endif

/* A sample's place in reciprocal space. */
typedef struct {
    wide h[3], node[3]; /* node: if its structure factor is looked up */
    fine offset[3];     /* from the nearest node */
} sample_place;

AD_INLINE sample_place place_sample(loop_mode mode, int look_up, const index_view *view, size_t s) {
    const int shifted = mode.index != BY_VECTOR || mode.shifted;
    sample_place m;
    miller_indices(mode, s, view, m.h);
    for (int j = 0; j < 3; j++) {
        m.node[j] = m.h[j];
        /* which of two equally near nodes it is matters to the table only */
        if (look_up) {
            m.node[j] = w_nearest_node(m.h[j]);
            m.offset[j] = narrow(w_sub(m.h[j], m.node[j]));
        } else
            m.offset[j] = shifted ? narrow_offset(m.h[j]) : narrow(w_reduce(m.h[j]));
    }
    return m;
}

/* u: the factor of F_c^2 F_latt^2; q: the scattering vector, for slopes. */
AD_INLINE source_sums add_samples(loop_mode mode, const db_kernel_job *job, const index_view *view,
                                  const fine q[3], fine u, pixel_sums *sums) {
    const int interpolate = INTERPOLATED(job), cut = mode.shape >= KERNEL_CUT;
    const kernel_shape shape = (kernel_shape)(mode.shape % KERNEL_CUT);
    const int look_up = mode.tabled && !interpolate;
    const int constant = !GENERAL && !mode.tabled; /* the same F_c for all samples */
    const int ahead = DB_SAMPLES_AHEAD && !cut;
    squared_amplitude f;
    f.intensity = f_set(job->default_intensity);
    fine by_curve[DB_MOST_SITE_CURVES];
    (void)by_curve;
    source_sums source;
    source.sum = f_set(0);
    fine partial = f_set(0);
    (void)u;
    (void)q;
    (void)sums;
#if DB_INSTANCE_KIND > 0
    for (int c = 0; c < 3; c++) source.by_q[c] = f_set(0);
#if LANES > 1
    fine lattice_columns[DB_LATTICE_COLUMNS]; /* added to the columns in memory at the end */
    for (int c = 0; c < DB_LATTICE_COLUMNS; c++) lattice_columns[c] = f_set(0);
#else
    fine *const lattice_columns = &sums->column[DB_COLUMN_LATTICE];
#endif
#endif
    sample_place next;
    if (ahead) next = place_sample(mode, look_up, view, 0);
    unsigned in_reach = 0;
    (void)in_reach;
    DB_SAMPLES_UNROLLED
    for (size_t s = 0; s < mode.samples; s++) {
        if (s > 0 && s % DB_PARTIAL_SUM == 0) {
            source.sum = f_add(source.sum, partial);
            partial = f_set(0);
        }
        if (cut && mode.index == ALONG_ROW && view->ends.used) {
            if (s % LANES == 0) in_reach = samples_in_reach(shape, job, &view->ends, s);
            if (!in_reach) {
                s += LANES - 1 - s % LANES;
                continue;
            }
            if (!(in_reach >> s % LANES & 1)) continue;
        }
        const sample_place here = ahead ? next : place_sample(mode, look_up, view, s);
        if (ahead && s + 1 < mode.samples) next = place_sample(mode, look_up, view, s + 1);
        if (cut && !f_any(sample_counts(shape, job, here.offset))) continue;
        if (interpolate)
            f = interpolated(job, here.h);
        else if (look_up && BY_ENERGY(job))
            f = by_energy(job, view->source, here.node, by_curve);
        else if (look_up && GENERAL)
            f = nearest(job, here.node);
        else if (look_up)
            f.intensity = table_intensity(job, here.node);
        if (GENERAL && mode.only_node)
            f.intensity = intensity_at(mode.only_node, here.node, f.intensity);
        lattice_factor lattice = lattice_factor_of(shape, job, here.offset);
        if (cut && shape != KERNEL_TOPHAT)
            leave_out_beyond(sample_counts(shape, job, here.offset), &lattice);
#if defined(DB_INSTANCE_AMPLITUDES)
        if (interpolate)
            f.intensity = add_interpolated(job, here.h, f_mul(u, lattice.value), sums);
        else
            add_nearest(job, look_up, here.node, f_mul(u, lattice.value), sums);
#endif
        partial =
            constant ? f_add(partial, lattice.value) : f_fma(f.intensity, lattice.value, partial);
#if DB_INSTANCE_KIND > 0
        const fine weight = f_mul(u, f.intensity);
        fine gh[3] = { f_mul(weight, lattice.slope[0]), f_mul(weight, lattice.slope[1]),
                       f_mul(weight, lattice.slope[2]) };
        if (GENERAL) {
            const fine by_intensity = f_mul(u, lattice.value);
            if (interpolate)
                for (int j = 0; j < 3; j++) gh[j] = f_fma(by_intensity, f.slope[j], gh[j]);
            for (int n = 0; n < job->amplitude_slopes; n++) {
                fine *const column = loose_column(sums, DB_COLUMN_AMPLITUDE + n);
                *column = f_fma(by_intensity, f.by_amplitude[n], *column);
            }
            if (BY_ENERGY(job)) add_curve_slopes(job, view->source, by_intensity, by_curve, sums);
        }
        add_sample_slopes(mode, job, s, q, gh, lattice_columns, sums, &source);
#endif
#if DB_INSTANCE_KIND > 1
        for (int j = 0; j < 3; j++)
            sums->column[DB_COLUMN_CELLS + j] =
                f_fma(weight, lattice.cells[j], sums->column[DB_COLUMN_CELLS + j]);
#endif
    }
#if DB_INSTANCE_KIND > 0 && LANES > 1
    if (!view->only)
        for (int c = 0; c < DB_LATTICE_COLUMNS; c++)
            lattice_columns[c] = f_add(sums->column[DB_COLUMN_LATTICE + c], lattice_columns[c]);
    for (int c = 0; c < DB_LATTICE_COLUMNS; c++)
        sums->column[DB_COLUMN_LATTICE + c] = lattice_columns[c];
#endif
    source.sum = f_add(source.sum, partial);
    if (constant) source.sum = f_mul(source.sum, f_set(job->default_intensity));
    return source;
}

#if DB_INSTANCE_KIND > 0 && !DB_INSTANCE_GENERAL && !defined(AD_DEVICE_LANGUAGE)
/* The loop with slopes: a function for each shape, origin of the Miller indices and kind of
 * structure factors. It is not inlined, since its columns leave no registers for the code around
 * it. */
typedef source_sums (*sample_loop)(const db_kernel_job *job, const index_view *view,
                                   const fine q[3], fine u, pixel_sums *sums);
#define SAMPLE_LOOP(name, shape, index, listed)                                                    \
    static __attribute__((noinline)) source_sums name(const db_kernel_job *job,                    \
                                                      const index_view *view, const fine q[3],     \
                                                      fine u, pixel_sums *sums) {                  \
        loop_mode mode = mode_of(job, (kernel_shape)(shape), index);                               \
        mode.tabled = listed;                                                                      \
        return add_samples(mode, job, view, q, u, sums);                                           \
    }
#define SAMPLE_LOOPS(name, shape)                                                                  \
    SAMPLE_LOOP(name##_by_vector, shape, BY_VECTOR, job->table_used)                               \
    SAMPLE_LOOP(name##_along_row, shape, ALONG_ROW, 0)                                             \
    SAMPLE_LOOP(name##_across_rows, shape, ACROSS_ROWS, 0)                                         \
    SAMPLE_LOOP(name##_listed_along_row, shape, ALONG_ROW, 1)                                      \
    SAMPLE_LOOP(name##_listed_across_rows, shape, ACROSS_ROWS, 1)
SAMPLE_LOOPS(square, KERNEL_SQUARE)
SAMPLE_LOOPS(round, KERNEL_ROUND)
SAMPLE_LOOPS(gauss, KERNEL_GAUSS)
SAMPLE_LOOPS(square_cut, KERNEL_SQUARE | KERNEL_CUT)
SAMPLE_LOOPS(round_cut, KERNEL_ROUND | KERNEL_CUT)
SAMPLE_LOOPS(gauss_cut, KERNEL_GAUSS | KERNEL_CUT)
SAMPLE_LOOPS(tophat_cut, KERNEL_TOPHAT | KERNEL_CUT)
#if DB_INSTANCE_KIND < 2
SAMPLE_LOOPS(few_cells, KERNEL_FEW_CELLS)
#endif

AD_INLINE sample_loop sample_loop_of(const db_kernel_job *job, index_mode index) {
#define LOOPS_OF(name)                                                                             \
    {                                                                                              \
        { name##_by_vector, name##_along_row, name##_across_rows }, {                              \
            name##_by_vector, name##_listed_along_row, name##_listed_across_rows                   \
        }                                                                                          \
    }
    static const sample_loop loops[2 * KERNEL_CUT][2][3] = {
        [KERNEL_SQUARE] = LOOPS_OF(square),
        [KERNEL_ROUND] = LOOPS_OF(round),
        [KERNEL_GAUSS] = LOOPS_OF(gauss),
        [KERNEL_SQUARE | KERNEL_CUT] = LOOPS_OF(square_cut),
        [KERNEL_ROUND | KERNEL_CUT] = LOOPS_OF(round_cut),
        [KERNEL_GAUSS | KERNEL_CUT] = LOOPS_OF(gauss_cut),
        [KERNEL_TOPHAT | KERNEL_CUT] = LOOPS_OF(tophat_cut),
#if DB_INSTANCE_KIND < 2
        [KERNEL_FEW_CELLS] = LOOPS_OF(few_cells),
#endif
    };
#undef LOOPS_OF
    return loops[shape_of(job)][job->table_used != 0][index];
}
#undef SAMPLE_LOOP
#undef SAMPLE_LOOPS
#define DB_SAMPLE_LOOPS 1
#else
#define DB_SAMPLE_LOOPS 0
#endif

#endif
