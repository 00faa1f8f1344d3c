/* Spots in closed form, at a point of each pixel of a group: value, slopes, and the factors of a beam
 * that multiply spots.
 *
 * A spot at rest is a Gaussian of z = W (d - c). The components of z are of the order of 1 wherever the
 * spot counts, so float suffices for values and slopes once z is known. With g = exp(-z^2/2), e =
 * amplitude g, and a parameter that moves z by dz = G z + b, the derivative is
 *
 *   g d(amplitude) - e (z.G z + z.b).
 *
 * This is a sum of columns g, g y_i, g y_i y_j times coefficients, which the engine computes with dual
 * numbers (kernel/spot_slopes_instance.c). Here y = z - z_0, and z_0 belongs to a place inside the spot.
 * If only the tail of a spot lies on the panel, z hardly varies there, and columns in z itself would be
 * nearly proportional to one another.
 *
 * A spot that moves through the range from..to has
 *
 *   e = amplitude exp(-(z_1^2 + z_2^2)/2) h(z_3),   h = Phi(to - z_3) - Phi(from - z_3),
 *
 * with the normal distribution Phi. */
#ifndef DB_KERNEL_SPOT_LANES_H
#define DB_KERNEL_SPOT_LANES_H

#include "kernel/pixel_group.h"

/* A spot in lanes. */
typedef struct {
    fine z[3];
    fine g;                     /* the spot without its amplitude; 0 where it does not count */
    fine by_z3, by_from, by_to; /* slopes of g, in jobs whose crystal turns */
    fine_mask counts;           /* lanes in which the spot counts */
} lane_spot;

typedef enum { SPOTS_REST, SPOTS_MOVE } spot_motion;

#define REAL SHAPE_REAL
#if DB_INSTANCE_KIND > 0
#define DIRS 3
#else
#define DIRS 0
#endif
#include "kernel/spot_shape.h"
/* Multiplies g by h(z_3), the part of a moving spot that its range shows; slopes by z_3, from and to. */
AD_INLINE void spot_seen(const SHAPE_REAL *v, lane_spot *s, fine z3) {
    const fine from = f_set(v[DB_SPOT_FROM]), to = f_set(v[DB_SPOT_TO]);
    const int narrow = v[DB_SPOT_TO] - v[DB_SPOT_FROM] < (SHAPE_REAL)DB_SPOT_NARROW;
    const num part = spot_passed(narrow, n_seed(from, 1), n_seed(to, 2), n_seed(z3, 0));
#if DB_INSTANCE_KIND > 0
    s->by_z3 = f_mul(s->g, part.d[0]);
    s->by_from = f_mul(s->g, part.d[1]);
    s->by_to = f_mul(s->g, part.d[2]);
#endif
    s->g = f_mul(s->g, part.v);
}
#undef DIRS
#undef REAL

/* Numbers of a spot that all groups of pixels use. A copy stays in registers; memory behind a pointer
 * would be read again. */
typedef struct {
    wide white[9], offset[3];
    fine cut;
#if DB_INSTANCE_KIND > 0
    fine by_d[9]; /* W, for slopes by d */
#endif
} spot_constants;

AD_INLINE spot_constants constants_of(const db_kernel_spot *spot) {
    const SHAPE_REAL *v = spot->FINE(value);
    spot_constants c = { .cut = f_set(v[DB_SPOT_CUT]) };
    for (int i = 0; i < 9; i++) c.white[i] = w_set(spot->white[i]);
    for (int i = 0; i < 3; i++) c.offset[i] = w_set(spot->offset[i]);
#if DB_INSTANCE_KIND > 0
    for (int i = 0; i < 9; i++) c.by_d[i] = f_set((SHAPE_REAL)spot->white[i]);
#endif
    return c;
}

/* z of a point in direction d. W of a spot at rest is a lower triangle. */
AD_INLINE void spot_place(spot_motion motion, const spot_constants *spot, wide_vec3 d, fine z[3]) {
    const wide *w = spot->white;
    const int moves = motion == SPOTS_MOVE;
    for (int i = 0; i < 3; i++) {
        wide sum = w_fma(w[3 * i], d.x.v, spot->offset[i]);
        if (moves || i > 0) sum = w_fma(w[3 * i + 1], d.y.v, sum);
        if (moves || i > 1) sum = w_fma(w[3 * i + 2], d.z.v, sum);
        z[i] = narrow(sum);
    }
}

/* A spot at a point of each lane. Returns 0 if the spot counts in no lane. */
AD_INLINE int spot_in_lanes(spot_motion motion, const db_kernel_spot *spot,
                            const spot_constants *constants, wide_vec3 d, lane_spot *s) {
    const SHAPE_REAL *v = spot->FINE(value);
    const int moves = motion == SPOTS_MOVE;
    spot_place(motion, constants, d, s->z);
    fine square = f_fma(s->z[0], s->z[0], f_mul(s->z[1], s->z[1]));
    const fine z3 = s->z[2], rest = f_set(v[DB_SPOT_AT_REST]);
    square = f_fma(moves ? f_mul(rest, z3) : z3, z3, square);
    fine nearest = square; /* smallest z^2 while the spot moves through its range */
    if (moves) {
        const fine outside = f_max(
            f_max(f_sub(f_set(v[DB_SPOT_FROM]), z3), f_sub(z3, f_set(v[DB_SPOT_TO]))), f_set(0));
        nearest = f_fma(outside, outside, nearest);
    }
    s->counts = f_lt(nearest, constants->cut);
    if ((moves || DB_INSTANCE_KIND > 0) && !f_any(s->counts)) return 0;
    s->g = f_keep(s->counts, f_exp(f_mul(f_set(-0.5), square)));
    if (!moves) return 1;
    spot_seen(v, s, f_fnma(rest, z3, z3)); /* a spot at rest shows its whole range */
#if DB_INSTANCE_KIND > 0
    s->by_z3 = f_fnma(rest, f_add(s->by_z3, f_mul(z3, s->g)), s->by_z3);
#endif
    return 1;
}

#if DB_INSTANCE_KIND > 0
/* Columns of a spot, times u. Adds the slopes by the point's direction to by_d. */
AD_INLINE void spot_columns(spot_motion motion, const db_kernel_spot *spot,
                            const spot_constants *constants, const lane_spot *s, fine u,
                            fine *column, fine by_d[3]) {
    const SHAPE_REAL *v = spot->FINE(value);
    const fine *z = s->z;
    const fine amplitude = f_set(v[DB_SPOT_AMPLITUDE]);
    column[0] = f_mul(u, s->g);
    const fine e = f_mul(amplitude, column[0]);
    fine by_z[3];
    for (int i = 0; i < 3; i++) by_z[i] = f_neg(f_mul(e, z[i]));
    if (motion == SPOTS_REST) {
        fine y[3];
        int c = 4;
        for (int i = 0; i < 3; i++) {
            y[i] = f_sub(z[i], f_set(v[DB_SPOT_INSIDE + i]));
            column[1 + i] = f_mul(column[0], y[i]);
            for (int j = 0; j <= i; j++) column[c++] = f_mul(column[1 + i], y[j]);
        }
    } else {
        by_z[2] = f_mul(f_mul(amplitude, u), s->by_z3);
        for (int i = 0; i < 3; i++) column[1 + i] = by_z[i];
        column[4] = f_mul(by_z[0], z[0]);
        column[5] = f_mul(by_z[1], z[0]);
        column[6] = f_mul(by_z[1], z[1]);
        column[7] = f_mul(by_z[0], z[2]);
        column[8] = f_mul(by_z[1], z[2]);
        for (int j = 0; j < 3; j++) column[9 + j] = f_mul(by_z[2], z[j]);
        column[12] = f_mul(f_mul(amplitude, u), s->by_to);
        column[13] = f_mul(f_mul(amplitude, u), s->by_from);
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            if (motion == SPOTS_MOVE || k <= i)
                by_d[k] = f_fma(by_z[i], constants->by_d[3 * i + k], by_d[k]);
}

#endif

/* A beam at one point of each pixel of a group: factors that multiply its spots, and sums of slopes. */
typedef struct {
    fine omega;   /* solid angle, absorbed part included */
    fine p;       /* polarization factor */
    fine thermal; /* Debye-Waller factor */
#if DB_INSTANCE_KIND > 0
    fine q[3], p_by_d[3];
    struct thermal of_q;
    fine factor;  /* omega p thermal */
    fine by_d[3]; /* slopes of the spots' sum by d, times the factor */
#endif
} beam_point;

AD_INLINE void begin_beam(const db_kernel_job *job, const site *s, size_t j, beam_point *b) {
    const wide_vec3 q = q_of(&job->source_double[j], s->wide_d);
    fine p_by_d[3] = { s->capture, s->capture, s->capture };
    b->omega = f_mul(s->omega.v, s->capture);
    b->p = polarization_of(s->d, &job->FINE(source)[j], p_by_d);
    b->thermal = f_set(1);
#if DB_INSTANCE_KIND > 0
    narrow_vector(q, b->q);
    if (job->debye_waller) b->thermal = thermal_at(job, b->q[0], b->q[1], b->q[2], &b->of_q);
    b->factor = f_mul(f_mul(b->omega, b->p), b->thermal);
    for (int c = 0; c < 3; c++) {
        b->by_d[c] = f_set(0);
        b->p_by_d[c] = p_by_d[c];
    }
#else
    if (job->debye_waller) b->thermal = thermal_sum(job, w3_square(q).v, b->thermal);
#endif
}

AD_INLINE int has_background(const db_kernel_job *job) {
    return job->water != 0 || job->amorphous.bins > 0 || HALO(job);
}

/* Diffuse halo in a beam, without the source's weight. u: factor of the halo in the pixel, for the
 * columns. by_q: receives the pixel's slopes. */
AD_INLINE fine halo_of_beam(const db_kernel_job *job, const site *s, size_t j, fine u, fine by_q[3],
                            pixel_sums *sums) {
    source_sums halo;
    halo.sum = f_set(0);
#if DB_INSTANCE_KIND > 0
    for (int c = 0; c < 3; c++) halo.by_q[c] = f_set(0);
#endif
    const wide_vec3 q = q_of(&job->source_double[j], s->wide_d);
    const fine counts = resolved(job, q);
    u = f_mul(f_mul(u, counts), f_set(job->FINE(source)[j].weight));
    add_halo(job, &q, u, &halo, sums);
    (void)sums;
#if DB_INSTANCE_KIND > 0
    for (int c = 0; c < 3; c++) by_q[c] = halo.by_q[c];
#else
    (void)by_q;
#endif
    return f_mul(halo.sum, counts);
}

/* Adds a beam's light to the pixels, with slopes by everything but the spots' own numbers. j: number of
 * the source; background: 1 to add the background, too; sum: of the spots, without the beam's factors. */
AD_INLINE void end_beam(const db_kernel_job *job, const site *s, size_t j, int background,
                        const beam_point *b, fine sum, pixel_sums *sums, fine by_d[3],
                        fine *by_omega) {
    const fine_source *source = &job->FINE(source)[j];
    const fine u = f_mul(b->omega, b->p);
    fine by_q[3] = { f_set(0), f_set(0), f_set(0) }, of_background = f_set(0);
    if (HALO(job)) {
        const fine halo = halo_of_beam(job, s, j, f_mul(u, b->thermal), by_q, sums);
        sum = f_fma(f_set(source->weight), halo, sum);
        of_background = f_mul(f_mul(u, b->thermal), halo);
    }
    fine total = f_mul(sum, b->thermal);
    lattice_free free_matter;
    if (background) {
        free_matter = lattice_free_scattering(job, q_of(&job->source_double[j], s->wide_d));
        total = f_fma(f_set(source->weight), free_matter.sum, total);
    }
    sums->intensity = f_fma(u, total, sums->intensity);
#if DB_INSTANCE_KIND > 0
    if (job->debye_waller) {
        const fine weight = f_mul(u, sum);
        fine *const column = &sums->column[DB_COLUMN_DEBYE_WALLER];
        *column = f_fma(weight, b->of_q.by_b, *column);
        for (int c = 0; c < 3; c++) by_q[c] = f_fma(weight, b->of_q.by_q[c], by_q[c]);
    }
    if (background) {
        const fine weight = f_mul(u, f_set(source->weight));
        of_background = f_fma(u, free_matter.sum, of_background);
        sums->column[DB_COLUMN_WATER] = f_add(sums->column[DB_COLUMN_WATER], weight);
        sums->column[DB_COLUMN_MOLECULES] =
            f_fma(weight, free_matter.per_molecule, sums->column[DB_COLUMN_MOLECULES]);
        for (int c = 0; c < 3; c++) by_q[c] = f_fma(weight, free_matter.by_q[c], by_q[c]);
    }
    const fine by_p = f_mul(b->omega, total), kappa = f_set(source->kappa);
    for (int c = 0; c < 3; c++)
        by_d[c] =
            f_add(by_d[c], f_add(b->by_d[c], f_fma(by_q[c], kappa, f_mul(by_p, b->p_by_d[c]))));
    *by_omega = f_fma(b->p, total, *by_omega);
    /* the amplitudes of spots contain the sources' weights */
    const source_sums moved = { .sum = total, .by_q = { by_q[0], by_q[1], by_q[2] } };
    add_source_slopes(job, j, s->d, b->q, b->omega, f_set(1), &moved, of_background, sums);
#else
    (void)by_d, (void)by_omega, (void)of_background;
#endif
}

#endif
