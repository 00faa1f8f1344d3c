/* The pixel loop: LANES pixels side by side, summed over sub-pixels, layers of the sensor, sources, phi
 * steps and mosaic domains (docs/theory/pixel.md, Sum over samples). Gradient instances also sum the
 * columns, the derivatives of the pixel by the interface values.
 *
 * A source adds u (sum of F_c^2 F_latt^2 over samples + lattice-free scattering) to a pixel, with u =
 * scale omega capture w P. q = kappa d - s0 is bilinear in the interface values, so its slopes are its
 * own coefficients. Local duals carry what is not linear: omega, d and the capture fraction by the
 * position, P by the direction. */
#ifndef DB_KERNEL_PIXEL_GROUP_H
#define DB_KERNEL_PIXEL_GROUP_H

#include "kernel/debye_waller.h"
#include "kernel/halo_lanes.h"
#include "kernel/lattice_free.h"
#include "kernel/row_reach.h"
#include "kernel/samples.h"
#include "kernel/site.h"

/* 1 where the spacing 1/|q| is at least the resolution limit dmin, else 0. */
AD_INLINE fine resolved(const db_kernel_job *job, wide_vec3 q) {
    return narrow(
        w_select(w_within_resolution(w3_square(q).v, w_set(job->dmin)), w_set(1), w_set(0)));
}

/* d.W d of a source's polarization tensor W. tensor_on_d: receives W d. */
AD_INLINE fine_num polarization_form(const fine d[3], const fine_source *source,
                                     fine tensor_on_d[3]) {
    fine_num tensor[6];
    for (int n = 0; n < 6; n++) tensor[n] = fn_passive(f_set(source->polarization[n]));
    const fine_vec3 direction = f3_passive(d[0], d[1], d[2]),
                    turned = f3_symmetric(tensor, direction);
    tensor_on_d[0] = turned.x.v;
    tensor_on_d[1] = turned.y.v;
    tensor_on_d[2] = turned.z.v;
    return f3_dot(direction, turned);
}

/* The polarization factor P. Gradient instances also set its slope by d. */
AD_INLINE fine polarization_of(const fine d[3], const fine_source *source, fine by_d[3]) {
    fine tensor_on_d[3];
    const fine_num form = polarization_form(d, source, tensor_on_d);
#if DB_INSTANCE_KIND > 0
    const DISTANCE(num) p = DISTANCE(polarization_of_form)(DISTANCE(n_seed)(form.v, 0));
    f3_form_back(tensor_on_d, p.d[0], by_d);
#else
    const fine_num p = f_polarization_of_form(form);
    (void)by_d;
#endif
    return p.v;
}

/* q = kappa d - s0 in double: near the direct beam q is a small difference. */
AD_INLINE wide_vec3 q_of(const db_kernel_source_double *source, wide_vec3 d) {
    return w_scattering_vector(d, wn_passive(w_set(source->kappa)), wide_vector(source->s0));
}

#if DB_INSTANCE_KIND > 0
/* Columns of the parameters that move the sources: such a parameter moves q by kappa q - s0, with kappa
 * and s0 of job->source_slope, and P is linear in the tensor. by_weight: slope of the pixel by the
 * source's weight. */
AD_INLINE void add_source_slopes(const db_kernel_job *job, size_t j, const fine d[3],
                                 const fine q[3], fine omega, fine weight,
                                 const source_sums *source, fine by_weight, pixel_sums *sums) {
    const fine along =
        f_fma(source->by_q[0], q[0], f_fma(source->by_q[1], q[1], f_mul(source->by_q[2], q[2])));
    const fine both = f_mul(omega, source->sum);
    for (int n = 0; n < job->source_slopes; n++) {
        const fine_source *slope = &job->FINE(source_slope)[(size_t)n * job->source_count + j];
        /* P is linear in d.W d, whose slope is d.W'd: this form has no small difference near the beam */
        fine unused[3];
        const fine form = polarization_form(d, slope, unused).v;
        const fine p_slope =
            f_mul(DISTANCE(polarization_of_form)(DISTANCE(n_seed)(form, 0)).d[0], form);
        fine column = *loose_column(sums, DB_COLUMN_SOURCE + n);
        column = f_fma(along, f_set(slope->kappa), column);
        for (int c = 0; c < 3; c++) column = f_fnma(source->by_q[c], f_set(slope->s0[c]), column);
        column = f_fma(f_mul(both, weight), p_slope, column);
        column = f_fma(by_weight, f_set(slope->weight), column);
        *loose_column(sums, DB_COLUMN_SOURCE + n) = column;
    }
}
#endif

/* On devices: declares that the rows' terms are in the shared memory of a block of threads, which
 * special instructions read. */
#if !defined(DB_IN_BLOCK_MEMORY)
#define DB_IN_BLOCK_MEMORY(pointer) (void)0
#endif

/* Terms of the rows of a group's pixels, for add_sources; NULL for BY_VECTOR. */
typedef struct {
    const row_terms *row; /* ALONG_ROW */
    /* ACROSS_ROWS: [source][sample]; the panel's terms are common to all rows */
    const panel_term *panel;
    const row_term *term;
    const row_view *view;
} group_rows;

/* Sum over the samples of one source, with the halo. */
AD_INLINE source_sums sampled(loop_mode mode, const db_kernel_job *job, const index_view *view,
                              const fine q[3], fine u, pixel_sums *sums) {
#if DB_SAMPLE_LOOPS
    return sample_loop_of(job, mode.index)(job, view, q, u, sums);
#else
    source_sums source = add_samples(mode, job, view, q, u, sums);
    if (HALO(job)) add_halo(job, &view->q, u, &source, sums);
    return source;
#endif
}

#if DB_INSTANCE_KIND == 0
/* Sum over the samples of source j, times the Debye-Waller factor if there is one. */
AD_INLINE source_sums crystal(loop_mode mode, const db_kernel_job *job,
                              const db_kernel_panel *panel, const group_rows *rows, size_t j,
                              const index_view *view, const fine q[3], fine u, pixel_sums *sums) {
#if defined(DB_INSTANCE_AMPLITUDES)
    if (mode.thermal) u = thermal_sum(job, w3_square(view->q).v, u);
#endif
    source_sums source = sampled(mode, job, view, q, u, sums);
    if (!mode.thermal) return source;
    if (mode.index == BY_VECTOR) {
        source.sum = thermal_sum(job, w3_square(view->q).v, source.sum);
        return source;
    }
    wide incident[2];
    if (mode.index == ALONG_ROW) {
        const double *const form = rows->row->incident + 2 * j;
        DB_IN_BLOCK_MEMORY(form);
        for (int c = 0; c < 2; c++) incident[c] = w_set(form[c]);
    } else
        row_incident_terms(panel, &job->source_double[j], rows->view->start, incident);
    source.sum = thermal_row(job, incident, j, view->fast, view->inverse_distance, source.sum);
    return source;
}
#else
AD_INLINE source_sums crystal(loop_mode mode, const db_kernel_job *job,
                              const db_kernel_panel *panel, const group_rows *rows, size_t j,
                              const index_view *view, const fine q[3], fine u, pixel_sums *sums) {
    (void)panel, (void)rows, (void)j;
    struct thermal factor;
    fine reduced = u;
    if (__builtin_expect(mode.thermal, 0))
        reduced = f_mul(u, thermal_at(job, q[0], q[1], q[2], &factor));
    source_sums source = sampled(mode, job, view, q, reduced, sums);
    if (__builtin_expect(mode.thermal, 0)) source = with_thermal_slopes(&factor, u, source, sums);
    return source;
}
#endif

/* Crystal and background at one scattering vector, in general jobs. */
AD_INLINE source_sums scattered(loop_mode mode, const db_kernel_job *job, const index_view *view,
                                const fine q[3], fine u, pixel_sums *sums) {
    fine counts = f_set(1);
    if (job->dmin > 0) counts = resolved(job, view->q);
    source_sums source = crystal(mode, job, NULL, NULL, 0, view, q, f_mul(u, counts), sums);
    const lattice_free background = lattice_free_scattering(job, view->q);
    source.sum = f_fma(source.sum, counts, background.sum);
#if DB_INSTANCE_KIND > 0
    for (int c = 0; c < 3; c++) source.by_q[c] = f_fma(u, background.by_q[c], source.by_q[c]);
    sums->column[DB_COLUMN_WATER] = f_add(sums->column[DB_COLUMN_WATER], u);
    sums->column[DB_COLUMN_MOLECULES] =
        f_fma(u, background.per_molecule, sums->column[DB_COLUMN_MOLECULES]);
#endif
    return source;
}

#if DB_INSTANCE_KIND == 0
/* The polarization factor in images. Along a row it is a parabola divided by |x|^2. */
AD_INLINE fine image_polarization(index_mode index, const db_kernel_job *job,
                                  const db_kernel_panel *panel, const group_rows *rows, size_t j,
                                  const site *s) {
    fine power[3];
    if (index == BY_VECTOR) return polarization_of(s->d, &job->FINE(source)[j], NULL);
    if (index == ALONG_ROW) {
        const SHAPE_REAL *const form = rows->row->polarization + 3 * j;
        DB_IN_BLOCK_MEMORY(form);
        for (int c = 0; c < 3; c++) power[c] = f_set(form[c]);
    } else {
        wide terms[3];
        row_polarization_terms(panel, &job->source_double[j], rows->view->start, terms);
        for (int c = 0; c < 3; c++) power[c] = narrow(terms[c]);
    }
    return f_row_polarization(power, s->fast, f_mul(s->inverse, s->inverse));
}
#endif

/* Adds the light of all sources at one point of each pixel of the group, in one layer. In images along
 * rows the site has a solid angle, but no direction. */
AD_INLINE void add_sources(loop_mode mode, const db_kernel_job *job, const db_kernel_panel *panel,
                           const group_rows *rows, const site *s, index_view *view,
                           pixel_sums *sums) {
    const fine omega = GENERAL ? f_mul(s->omega.v, s->capture) : s->omega.v;
#if DB_INSTANCE_KIND > 0
    fine by_d[3] = { f_set(0), f_set(0), f_set(0) }, by_omega = f_set(0);
#endif
    view->only = mode.only;
    fine intensity = f_set(0);
    for (size_t j = 0; j < mode.sources; j++) {
        const db_kernel_source_double *wide_s = &mode.source_double[j];
        const fine_source *fine_s = &mode.source[j];
        fine q[3] = { omega, omega, omega };
        if (GENERAL) view->source = j;
        if (mode.index == ALONG_ROW) {
            view->ends.first_term = j * job->sample_count;
            view->term = rows->row->term + view->ends.first_term;
            DB_IN_BLOCK_MEMORY(view->term);
        } else if (mode.index == ACROSS_ROWS) {
            view->term = rows->term + j * job->sample_count;
            view->panel_term = rows->panel + j * job->sample_count;
        } else
            view->q = q_of(wide_s, s->wide_d);
#if DB_INSTANCE_KIND > 0
        fine p_by_d[3];
        narrow_vector(mode.index == BY_VECTOR ? view->q : q_of(wide_s, s->wide_d), q);
        const fine p = polarization_of(s->d, fine_s, p_by_d);
#else
        const fine p = image_polarization(mode.index, job, panel, rows, j, s);
#endif
        const fine weight = f_set(fine_s->weight), wp = f_mul(weight, p), u = f_mul(omega, wp);
        const source_sums source = GENERAL ? scattered(mode, job, view, q, u, sums)
                                           : crystal(mode, job, panel, rows, j, view, q, u, sums);
        intensity = f_fma(u, source.sum, intensity);
        if (j % DB_PARTIAL_SUM == DB_PARTIAL_SUM - 1) {
            sums->intensity = f_add(sums->intensity, intensity);
            intensity = f_set(0);
        }
#if DB_INSTANCE_KIND > 0
        const fine by_p = f_mul(f_mul(omega, weight), source.sum), kappa = f_set(fine_s->kappa);
        for (int c = 0; c < 3; c++)
            by_d[c] = f_fma(source.by_q[c], kappa, f_fma(by_p, p_by_d[c], by_d[c]));
        by_omega = f_fma(wp, source.sum, by_omega);
        add_source_slopes(job, j, s->d, q, omega, weight, &source,
                          f_mul(f_mul(omega, source.sum), p), sums);
#endif
    }
    sums->intensity = f_add(sums->intensity, intensity);
#if DB_INSTANCE_KIND > 0
    add_site_slopes(mode.only, job, panel, s, by_d, by_omega, sums);
#endif
}

AD_INLINE void clear_sums(int only, const db_kernel_job *job, pixel_sums *sums) {
    sums->intensity = f_set(0);
#if DB_INSTANCE_KIND > 0
#if !defined(AD_DEVICE_LANGUAGE)
#pragma GCC unroll 18
#endif
    for (int c = 0; c < DB_COLUMN_INTENSITY && !only; c++) sums->column[c] = f_set(0);
    sums->column[DB_COLUMN_DEBYE_WALLER] = f_set(0);
    if (GENERAL) {
        for (int c = DB_COLUMN_Z; c < DB_COLUMN_CELLS; c++) sums->column[c] = f_set(0);
        for (int c = 0; c < job->amplitude_slopes; c++)
            *loose_column(sums, DB_COLUMN_AMPLITUDE + c) = f_set(0);
    }
    for (int c = 0; c < job->rotation_slopes; c++)
        *loose_column(sums, DB_COLUMN_ROTATION + c) = f_set(0);
    for (int c = 0; c < job->source_slopes; c++)
        *loose_column(sums, DB_COLUMN_SOURCE + c) = f_set(0);
#else
    (void)only, (void)job;
#endif
#if DB_INSTANCE_KIND > 1
    for (int c = 0; c < 3; c++) sums->column[DB_COLUMN_CELLS + c] = f_set(0);
#endif
}

/* Functions that are large and called from several places: compiled once for each shape. */
#if !defined(AD_DEVICE_LANGUAGE)
#define DB_GROUP_FN static __attribute__((noinline, unused))
#else
#define DB_GROUP_FN AD_INLINE
#endif

/* Renders a group of pixels with numbers fast and slow. The sums lack the overall scale. */
AD_INLINE void render_places(loop_mode mode, const db_kernel_job *job, const db_kernel_panel *panel,
                             wide fast, wide slow, pixel_sums *sums) {
    const double step = job->sub_pixel;
    const int layers = GENERAL ? job->layers : 1;
    clear_sums(0, job, sums);
    for (int i = 0; i < mode.oversample; i++)
        for (int j = 0; j < mode.oversample; j++) {
            const wide f = w_mul(w_add(fast, w_set((j + 0.5) * step)), w_set(panel->pixel_size[0]));
            const wide s = w_mul(w_add(slow, w_set((i + 0.5) * step)), w_set(panel->pixel_size[1]));
            for (int layer = 0; layer < layers; layer++) {
                const site place = site_of(job, panel, layer, f, s);
                index_view view;
                add_sources(mode, job, panel, NULL, &place, &view, sums);
            }
        }
#if DB_INSTANCE_KIND > 0
    sums->column[DB_COLUMN_INTENSITY] = sums->intensity;
#endif
}

DB_GROUP_FN void render_group(kernel_shape shape, const db_kernel_job *job,
                              const db_kernel_panel *panel, wide fast, wide slow,
                              pixel_sums *sums) {
    render_places(mode_of(job, shape, BY_VECTOR), job, panel, fast, slow, sums);
}

#if DB_INSTANCE_KIND > 0
#define DB_ROW_GROUP_FN DB_GROUP_FN
#else
#define DB_ROW_GROUP_FN AD_INLINE
#endif

typedef enum { WITHOUT_DEBYE_WALLER, WITH_DEBYE_WALLER } thermal_mode;

/* Renders a group of pixels of one row (fast: their numbers) from the terms of its sub-pixel rows. */
AD_INLINE void render_row_places(loop_mode mode, const db_kernel_job *job,
                                 const db_kernel_panel *panel, const row_terms *sub_rows, wide fast,
                                 pixel_sums *sums) {
    mode.only = LANES > 1 && mode.oversample == 1 && mode.sources == 1;
    clear_sums(mode.only, job, sums);
    for (int i = 0; i < mode.oversample; i++) {
        const row_view row = view_along_row(&sub_rows[i]);
        const group_rows rows = { &sub_rows[i], NULL, NULL, &row };
        for (int j = 0; j < mode.oversample; j++) {
            index_view view;
            const site place =
                row_site(job, panel, &row, w_add(fast, w_set((j + 0.5) * job->sub_pixel)), &view);
            if (mode.shape >= KERNEL_CUT)
                view.ends =
                    ends_of_group(mode.shape, job, rows.row, view.fast, view.inverse_distance);
            add_sources(mode, job, panel, &rows, &place, &view, sums);
        }
    }
#if DB_INSTANCE_KIND > 0
    sums->column[DB_COLUMN_INTENSITY] = sums->intensity;
#endif
}

DB_ROW_GROUP_FN void render_row_group(kernel_shape shape, thermal_mode thermal,
                                      const db_kernel_job *job, const db_kernel_panel *panel,
                                      const row_terms *sub_rows, wide fast, pixel_sums *sums) {
    loop_mode mode = mode_of(job, shape, ALONG_ROW);
    mode.thermal = thermal == WITH_DEBYE_WALLER;
#if DB_INSTANCE_KIND > 0
    if (job->source_count == 1 && job->oversample == 1 && !mode.thermal) {
        mode.sources = 1;
        mode.oversample = 1;
        render_row_places(mode, job, panel, sub_rows, fast, sums);
        return;
    }
#endif
    render_row_places(mode, job, panel, sub_rows, fast, sums);
}

/* Mode for one source, sub-pixel and sample: without loops, which would take more time than the
 * physics. */
AD_INLINE loop_mode still_mode(const db_kernel_job *job, kernel_shape shape, index_mode index) {
    loop_mode mode = mode_of(job, shape, index);
    mode.thermal = 0;
    mode.oversample = 1;
    mode.sources = mode.samples = 1;
    return mode;
}

#if DB_INSTANCE_KIND == 0
AD_INLINE void render_still_group(kernel_shape shape, const db_kernel_job *job,
                                  const db_kernel_panel *panel, const row_terms *row, wide fast,
                                  pixel_sums *sums) {
    render_row_places(still_mode(job, shape, ALONG_ROW), job, panel, row, fast, sums);
}
#endif

#if LANES > 1
/* Renders a group of pixels of several rows from the panel's terms. */
DB_ROW_GROUP_FN void render_rows_group(kernel_shape shape, const db_kernel_job *job,
                                       const db_kernel_panel *panel, const tile_terms *tile,
                                       wide fast, wide slow, pixel_sums *sums) {
    clear_sums(0, job, sums);
    for (int i = 0; i < job->oversample; i++) {
        index_view view;
        view.slow =
            w_mul(w_add(slow, w_set((i + 0.5) * job->sub_pixel)), w_set(panel->pixel_size[1]));
        const row_view row = view_across_rows(panel, view.slow);
        const group_rows rows = { NULL, tile->panel, tile->row[0].term, &row };
        for (int j = 0; j < job->oversample; j++) {
            const site place =
                row_site(job, panel, &row, w_add(fast, w_set((j + 0.5) * job->sub_pixel)), &view);
            add_sources(mode_of(job, shape, ACROSS_ROWS), job, panel, &rows, &place, &view, sums);
        }
    }
#if DB_INSTANCE_KIND > 0
    sums->column[DB_COLUMN_INTENSITY] = sums->intensity;
#endif
}
#endif

#endif
