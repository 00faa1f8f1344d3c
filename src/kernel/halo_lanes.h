/* The diffuse halo in lanes: sums over the samples of a scattering vector and over the nodes around each
 * (docs/theory/halo.md). Jobs without a halo skip it, outside of the loop over samples. It depends on the
 * Miller indices and on the numbers of db_kernel_halo, in which it is bilinear but for the profile, whose
 * slope is a dual number's; so its columns are sums over nodes times slopes of these numbers. */
#ifndef DB_KERNEL_HALO_LANES_H
#define DB_KERNEL_HALO_LANES_H

#include "kernel/debye_waller.h"

#if DB_INSTANCE_HALO
/* On devices: all nodes share the loop's instructions and registers. */
#if defined(AD_DEVICE_LANGUAGE)
#define DB_NODES_IN_TURN _Pragma("unroll 1")
#else
#define DB_NODES_IN_TURN
#endif
#define REAL SHAPE_REAL
#if DB_INSTANCE_KIND > 0
#define DIRS 1
#else
#define DIRS 0
#endif
#include "model/halo.h"

/* Of one sample: sums over nodes of F_c^2 times these. */
typedef struct {
    fine profile; /* and tail */
#if DB_INSTANCE_KIND > 0
    fine square;                                /* 1 */
    fine by_m[6];                               /* slope of the profile by the elements of M */
    fine by_offset[3];                          /* and by the offset */
    fine by_amplitude[DB_MAX_AMPLITUDE_SLOPES]; /* profile and tail, by structure factors */
#endif
} halo_nodes;

/* T v of a symmetric tensor. */
AD_INLINE void halo_turned(const double tensor[6], const fine v[3], fine out[3]) {
    static const int at[3][3] = { { 0, 3, 4 }, { 3, 1, 5 }, { 4, 5, 2 } };
    for (int r = 0; r < 3; r++) {
        out[r] = f_mul(f_set(tensor[at[r][0]]), v[0]);
        for (int c = 1; c < 3; c++) out[r] = f_fma(f_set(tensor[at[r][c]]), v[c], out[r]);
    }
}

AD_INLINE fine halo_dot(const fine a[3], const fine b[3]) {
    return f_fma(a[0], b[0], f_fma(a[1], b[1], f_mul(a[2], b[2])));
}

/* Sums of the products that elements of a symmetric tensor multiply, times a weight. */
AD_INLINE void add_halo_products(const fine v[3], fine weight, fine sum[6]) {
    const fine w[3] = { f_mul(weight, v[0]), f_mul(weight, v[1]), f_mul(weight, v[2]) };
    for (int r = 0; r < 3; r++) sum[r] = f_fma(w[r], v[r], sum[r]);
    for (int r = 0; r < 2; r++) {
        const fine twice = f_add(w[r], w[r]);
        for (int c = r + 1; c < 3; c++) sum[2 + r + c] = f_fma(twice, v[c], sum[2 + r + c]);
    }
}

/* Adds one node. offset: h - node. */
AD_INLINE void add_halo_node(const db_kernel_job *job, const wide node[3], const fine offset[3],
                             halo_nodes *sums) {
    const double *const number = job->halo.number;
    fine turned[3];
    const squared_amplitude f = nearest(job, node);
    halo_turned(number + DB_HALO_M, offset, turned);
    const num profile = halo_profile(n_seed(halo_dot(offset, turned), 0));
    const fine all = f_add(profile.v, f_set(number[DB_HALO_TAIL]));
    sums->profile = f_fma(f.intensity, all, sums->profile);
#if DB_INSTANCE_KIND > 0
    const fine by_square = f_mul(f.intensity, profile.d[0]), twice = f_add(by_square, by_square);
    sums->square = f_add(sums->square, f.intensity);
    add_halo_products(offset, by_square, sums->by_m);
    for (int j = 0; j < 3; j++) sums->by_offset[j] = f_fma(twice, turned[j], sums->by_offset[j]);
    for (int n = 0; n < job->amplitude_slopes; n++)
        sums->by_amplitude[n] = f_fma(f.by_amplitude[n], all, sums->by_amplitude[n]);
#endif
}

/* The nodes around h. */
AD_INLINE void sum_halo_nodes(const db_kernel_job *job, const wide h[3], halo_nodes *sums) {
    wide middle[3];
    sums->profile = f_set(0);
#if DB_INSTANCE_KIND > 0
    sums->square = f_set(0);
    for (int c = 0; c < 6; c++) sums->by_m[c] = f_set(0);
    for (int c = 0; c < 3; c++) sums->by_offset[c] = f_set(0);
    for (int n = 0; n < job->amplitude_slopes; n++) sums->by_amplitude[n] = f_set(0);
#endif
    for (int j = 0; j < 3; j++) middle[j] = w_nearest_node(h[j]);
    DB_NODES_IN_TURN
    for (int i = 0; i < DB_HALO_NODES; i++) {
        const int step[3] = { i / 9 - DB_HALO_REACH, i / 3 % 3 - DB_HALO_REACH,
                              i % 3 - DB_HALO_REACH };
        wide node[3];
        fine offset[3];
        for (int j = 0; j < 3; j++) {
            node[j] = w_add(middle[j], w_set(step[j]));
            offset[j] = narrow(w_sub(h[j], node[j]));
        }
        add_halo_node(job, node, offset, sums);
    }
}

#if DB_INSTANCE_KIND > 0
/* Columns of a sample. u: what multiplies squared amplitudes; h: Miller indices; u_turned: U h; strength:
 * h.U h. */
AD_INLINE void add_halo_slopes(const db_kernel_job *job, size_t s, const fine q[3], fine u,
                               const fine h[3], const fine u_turned[3], fine strength,
                               const halo_nodes *nodes, pixel_sums *sums, source_sums *source) {
    const db_kernel_halo *const halo = &job->halo;
    const fine by_density = f_mul(u, f_mul(strength, nodes->profile)),
               by_sum = f_mul(f_mul(u, f_set(halo->number[DB_HALO_DENSITY])), strength),
               by_strength = f_mul(f_mul(u, f_set(halo->number[DB_HALO_DENSITY])), nodes->profile),
               twice = f_add(by_strength, by_strength);
    fine gh[3], by_u[6];
    for (int j = 0; j < 3; j++)
        gh[j] = f_fma(by_sum, nodes->by_offset[j], f_mul(twice, u_turned[j]));
    add_sample_slopes(mode_of(job, KERNEL_SQUARE, BY_VECTOR), job, s, q, gh,
                      &sums->column[DB_COLUMN_LATTICE], sums, source);
    for (int c = 0; c < 6; c++) by_u[c] = f_set(0);
    add_halo_products(h, by_strength, by_u);
    for (int n = 0; n < job->rotation_slopes; n++) {
        const double *const slope = halo->slope + (size_t)n * DB_HALO_NUMBERS;
        fine *const column = loose_column(sums, DB_COLUMN_ROTATION + n);
        fine of_nodes = f_mul(nodes->square, f_set(slope[DB_HALO_TAIL]));
        for (int c = 0; c < 6; c++) {
            of_nodes = f_fma(nodes->by_m[c], f_set(slope[DB_HALO_M + c]), of_nodes);
            *column = f_fma(by_u[c], f_set(slope[DB_HALO_U + c]), *column);
        }
        *column = f_fma(by_sum, of_nodes, *column);
        *column = f_fma(by_density, f_set(slope[DB_HALO_DENSITY]), *column);
    }
    for (int n = 0; n < job->amplitude_slopes; n++) {
        fine *const column = loose_column(sums, DB_COLUMN_AMPLITUDE + n);
        *column = f_fma(by_sum, nodes->by_amplitude[n], *column);
    }
#if DB_INSTANCE_KIND > 1
    /* it is proportional to the number of cells */
    const fine value = f_mul(by_sum, nodes->profile);
    for (int j = 0; j < 3; j++)
        sums->column[DB_COLUMN_CELLS + j] =
            f_fma(value, f_set(1 / job->cells[j]), sums->column[DB_COLUMN_CELLS + j]);
#endif
}
#endif

/* Adds the halo of all samples to those of a source, as F_c^2 F_latt^2. u: what multiplies them. */
DB_RARE_FN void add_halo(const db_kernel_job *job, const wide_vec3 *q, fine u, source_sums *source,
                         pixel_sums *sums) {
    const double *const number = job->halo.number;
    fine total = f_set(0), fine_q[3];
    (void)u, (void)sums;
    narrow_vector(*q, fine_q);
    for (size_t s = 0; s < job->sample_count; s++) {
        const wide_vec3 hkl = wm3_apply(wm3_passive(job->sample_double[s].lattice), *q);
        const wide h[3] = { hkl.x.v, hkl.y.v, hkl.z.v };
        fine fine_h[3], u_turned[3];
        halo_nodes nodes;
        for (int j = 0; j < 3; j++) fine_h[j] = narrow(h[j]);
        sum_halo_nodes(job, h, &nodes);
        halo_turned(number + DB_HALO_U, fine_h, u_turned);
        const fine strength = halo_dot(fine_h, u_turned);
        total = f_fma(strength, nodes.profile, total);
#if DB_INSTANCE_KIND > 0
        add_halo_slopes(job, s, fine_q, u, fine_h, u_turned, strength, &nodes, sums, source);
#endif
    }
    source->sum = f_fma(f_set(number[DB_HALO_DENSITY]), total, source->sum);
}
#undef DIRS
#undef REAL
#else
#define add_halo(job, q, u, source, sums) (void)0
#endif

#endif
