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
#define DIRS 3
#else
#define DIRS 0
#endif
#include "model/halo.h"

#if DB_INSTANCE_KIND > 0
/* Slopes of a sum of terms that depend on y = 1 + |C o|^2: by C o, and by C. */
typedef struct {
    fine by_k[3], by_c[6];
} halo_form_slopes;
#endif

/* Of one sample: sums over nodes of F_c^2 times these. */
typedef struct {
    fine profile; /* and its share of the rest */
#if DB_INSTANCE_KIND > 0
    fine square; /* 1 */
    halo_form_slopes form;
    fine by_amplitude[DB_MAX_AMPLITUDE_SLOPES]; /* profile and rest, by structure factors */
#endif
} halo_nodes;

/* Of one sample: what nodes beyond add (model/halo.h). */
typedef struct {
    fine value;
#if DB_INSTANCE_KIND > 0
    halo_form_slopes form;
    fine by_number[DB_HALO_EVEN - DB_HALO_UNTIL]; /* limits, rod, sheet; 1 by the even part */
#endif
} halo_rest;

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

/* k = C o, from row `first` on. */
AD_INLINE void halo_across(const double *c, int first, const fine o[3], fine k[3]) {
    if (first < 1)
        k[0] = f_fma(f_set(c[0]), o[0], f_fma(f_set(c[1]), o[1], f_mul(f_set(c[2]), o[2])));
    if (first < 2) k[1] = f_fma(f_set(c[3]), o[1], f_mul(f_set(c[4]), o[2]));
    k[2] = f_mul(f_set(c[5]), o[2]);
}

/* y of what has lost the rows before `first`. */
AD_INLINE fine halo_square_of(int first, const fine k[3]) {
    fine y = f_fma(k[2], k[2], f_set(1));
    for (int i = 1; i >= first; i--) y = f_fma(k[i], k[i], y);
    return y;
}

#if DB_INSTANCE_KIND > 0
AD_INLINE void clear_halo_form(halo_form_slopes *form) {
    for (int i = 0; i < 3; i++) form->by_k[i] = f_set(0);
    for (int i = 0; i < 6; i++) form->by_c[i] = f_set(0);
}

AD_INLINE void add_halo_form(int first, const fine o[3], const fine k[3], fine by_y,
                             halo_form_slopes *form) {
    const fine twice = f_add(by_y, by_y);
    for (int i = first; i < 3; i++) {
        const fine by_k = f_mul(twice, k[i]);
        form->by_k[i] = f_add(form->by_k[i], by_k);
        for (int j = i; j < 3; j++) {
            fine *const by_c = &form->by_c[i * (5 - i) / 2 + j];
            *by_c = f_fma(by_k, o[j], *by_c);
        }
    }
}
#endif

/* Adds a node, rod or sheet (3, 2, 1 dimensions) of the rest, times a weight, until limit number `until`. */
AD_INLINE void add_halo_part(const db_kernel_job *job, int dimensions, int until, double weight,
                             const fine o[3], const fine k[3], halo_rest *rest) {
    const int first = 3 - dimensions;
    const num part = halo_part(dimensions, n_seed(halo_square_of(first, k), 0),
                               n_seed(f_set(job->halo.number[DB_HALO_UNTIL + until]), 1));
    const fine w = f_set(weight);
    (void)o;
    rest->value = f_fma(w, part.v, rest->value);
#if DB_INSTANCE_KIND > 0
    add_halo_form(first, o, k, f_mul(w, part.d[0]), &rest->form);
    rest->by_number[until] = f_fma(w, part.d[1], rest->by_number[until]);
    if (first) /* by what weighs them: the second limit's part has the other sign */
        rest->by_number[2 + first] =
            f_fma(f_set(until == first ? -1 : 1), part.v, rest->by_number[2 + first]);
#endif
}

/* The difference of a rod or sheet between two limits; in cells whose axes are equally soft there is none. */
AD_INLINE void add_halo_layer(const db_kernel_job *job, int dimensions, const fine o[3],
                              halo_rest *rest) {
    const int first = 3 - dimensions;
    const double *const number = job->halo.number, *const until = number + DB_HALO_UNTIL;
    const double weight = number[first == 1 ? DB_HALO_ROD : DB_HALO_SHEET];
    fine k[3];
    if (!(until[first] < until[first - 1])) return;
    halo_across(number + DB_HALO_C, first, o, k);
    add_halo_part(job, dimensions, first - 1, weight, o, k, rest);
    add_halo_part(job, dimensions, first, -weight, o, k, rest);
}

/* offset: from the nearest node, in the halo's basis. */
AD_INLINE void sum_halo_rest(const db_kernel_job *job, const fine offset[3], halo_rest *rest) {
    const double *const number = job->halo.number;
    rest->value = f_set(number[DB_HALO_EVEN]);
#if DB_INSTANCE_KIND > 0
    clear_halo_form(&rest->form);
    for (int i = 0; i < DB_HALO_EVEN - DB_HALO_UNTIL; i++) rest->by_number[i] = f_set(0);
#endif
    DB_NODES_IN_TURN
    for (int i = 0; i < DB_HALO_NODES; i++) {
        const int step[3] = { i % 3 - DB_HALO_REACH, i / 3 % 3 - DB_HALO_REACH,
                              i / 9 - DB_HALO_REACH };
        fine o[3], k[3];
        for (int j = 0; j < 3; j++) o[j] = f_sub(offset[j], f_set(step[j]));
        if (i % 9 == 0) add_halo_layer(job, 1, o, rest);
        if (i % 3 == 0) add_halo_layer(job, 2, o, rest);
        halo_across(number + DB_HALO_C, 0, o, k);
        add_halo_part(job, 3, 0, -1, o, k, rest);
    }
}

/* Adds one node. o: its offset in the halo's basis; share: of the rest. */
AD_INLINE void add_halo_node(const db_kernel_job *job, const wide node[3], const fine o[3],
                             fine share, halo_nodes *sums) {
    fine k[3];
    const squared_amplitude f = nearest(job, node);
    halo_across(job->halo.number + DB_HALO_C, 0, o, k);
    const num profile = halo_profile(n_seed(halo_square_of(0, k), 0));
    const fine all = f_add(profile.v, share);
    sums->profile = f_fma(f.intensity, all, sums->profile);
#if DB_INSTANCE_KIND > 0
    sums->square = f_add(sums->square, f.intensity);
    add_halo_form(0, o, k, f_mul(f.intensity, profile.d[0]), &sums->form);
    for (int n = 0; n < job->amplitude_slopes; n++)
        sums->by_amplitude[n] = f_fma(f.by_amplitude[n], all, sums->by_amplitude[n]);
#endif
}

/* The nodes around a place. middle: the nearest one; both, and offset, in the halo's basis. */
AD_INLINE void sum_halo_nodes(const db_kernel_job *job, const wide middle[3], const fine offset[3],
                              fine share, halo_nodes *sums) {
    const double *const basis = job->halo.number + DB_HALO_BASIS;
    sums->profile = f_set(0);
#if DB_INSTANCE_KIND > 0
    sums->square = f_set(0);
    clear_halo_form(&sums->form);
    for (int n = 0; n < job->amplitude_slopes; n++) sums->by_amplitude[n] = f_set(0);
#endif
    DB_NODES_IN_TURN
    for (int i = 0; i < DB_HALO_NODES; i++) {
        const int step[3] = { i % 3 - DB_HALO_REACH, i / 3 % 3 - DB_HALO_REACH,
                              i / 9 - DB_HALO_REACH };
        wide there[3], node[3];
        fine o[3];
        for (int j = 0; j < 3; j++) {
            there[j] = w_add(middle[j], w_set(step[j]));
            o[j] = f_sub(offset[j], f_set(step[j]));
        }
        for (int c = 0; c < 3; c++)
            node[c] =
                w_fma(w_set(basis[c]), there[0],
                      w_fma(w_set(basis[3 + c]), there[1], w_mul(w_set(basis[6 + c]), there[2])));
        add_halo_node(job, node, o, share, sums);
    }
}

/* One sample: the nodes around h, and what nodes beyond add. */
AD_INLINE void sum_halo(const db_kernel_job *job, const wide h[3], halo_nodes *nodes,
                        halo_rest *rest) {
    const double *const inverse = job->halo.number + DB_HALO_INVERSE;
    wide middle[3];
    fine offset[3];
    for (int i = 0; i < 3; i++) {
        const wide place =
            w_fma(w_set(inverse[3 * i]), h[0],
                  w_fma(w_set(inverse[3 * i + 1]), h[1], w_mul(w_set(inverse[3 * i + 2]), h[2])));
        middle[i] = w_nearest_node(place);
        offset[i] = narrow(w_sub(place, middle[i]));
    }
    sum_halo_rest(job, offset, rest);
    sum_halo_nodes(job, middle, offset, f_mul(rest->value, f_set(1.0 / DB_HALO_NODES)), nodes);
}

#if DB_INSTANCE_KIND > 0
/* Columns of a sample. u: what multiplies squared amplitudes; h: Miller indices; u_turned: U h; strength:
 * h.U h. */
AD_INLINE void add_halo_slopes(const db_kernel_job *job, size_t s, const fine q[3], fine u,
                               const fine h[3], const fine u_turned[3], fine strength,
                               const halo_nodes *nodes, const halo_rest *rest, pixel_sums *sums,
                               source_sums *source) {
    const db_kernel_halo *const halo = &job->halo;
    const double *const c = halo->number + DB_HALO_C;
    const double *const inverse = halo->number + DB_HALO_INVERSE;
    const fine mean = f_mul(nodes->square, f_set(1.0 / DB_HALO_NODES));
    const fine by_density = f_mul(u, f_mul(strength, nodes->profile)),
               by_sum = f_mul(f_mul(u, f_set(halo->number[DB_HALO_DENSITY])), strength),
               by_strength = f_mul(f_mul(u, f_set(halo->number[DB_HALO_DENSITY])), nodes->profile),
               twice = f_add(by_strength, by_strength);
    fine by_k[3], by_o[3], gh[3], by_c[6], by_u[6];
    for (int i = 0; i < 3; i++) by_k[i] = f_fma(mean, rest->form.by_k[i], nodes->form.by_k[i]);
    for (int i = 0; i < 6; i++) by_c[i] = f_fma(mean, rest->form.by_c[i], nodes->form.by_c[i]);
    by_o[0] = f_mul(f_set(c[0]), by_k[0]);
    by_o[1] = f_fma(f_set(c[1]), by_k[0], f_mul(f_set(c[3]), by_k[1]));
    by_o[2] = f_fma(f_set(c[2]), by_k[0], f_fma(f_set(c[4]), by_k[1], f_mul(f_set(c[5]), by_k[2])));
    for (int j = 0; j < 3; j++) {
        fine by_h = f_mul(f_set(inverse[j]), by_o[0]);
        for (int i = 1; i < 3; i++) by_h = f_fma(f_set(inverse[3 * i + j]), by_o[i], by_h);
        gh[j] = f_fma(by_sum, by_h, f_mul(twice, u_turned[j]));
    }
    add_sample_slopes(mode_of(job, KERNEL_SQUARE, BY_VECTOR), job, s, q, gh,
                      &sums->column[DB_COLUMN_LATTICE], sums, source);
    for (int i = 0; i < 6; i++) by_u[i] = f_set(0);
    add_halo_products(h, by_strength, by_u);
    for (int n = 0; n < job->rotation_slopes; n++) {
        const double *const slope = halo->slope + (size_t)n * DB_HALO_SLOPES;
        fine *const column = loose_column(sums, DB_COLUMN_ROTATION + n);
        fine of_rest = f_set(slope[DB_HALO_EVEN]), of_nodes = f_set(0);
        for (int i = 0; i < DB_HALO_EVEN - DB_HALO_UNTIL; i++)
            of_rest = f_fma(rest->by_number[i], f_set(slope[DB_HALO_UNTIL + i]), of_rest);
        for (int i = 0; i < 6; i++) {
            of_nodes = f_fma(by_c[i], f_set(slope[DB_HALO_C + i]), of_nodes);
            *column = f_fma(by_u[i], f_set(slope[DB_HALO_U + i]), *column);
        }
        of_nodes = f_fma(mean, of_rest, of_nodes);
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
        halo_rest rest;
        for (int j = 0; j < 3; j++) fine_h[j] = narrow(h[j]);
        sum_halo(job, h, &nodes, &rest);
        halo_turned(number + DB_HALO_U, fine_h, u_turned);
        const fine strength = halo_dot(fine_h, u_turned);
        total = f_fma(strength, nodes.profile, total);
#if DB_INSTANCE_KIND > 0
        add_halo_slopes(job, s, fine_q, u, fine_h, u_turned, strength, &nodes, &rest, sums, source);
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
