/* The Debye-Waller factor in a kernel instance: it multiplies the samples of the crystal at a
 * scattering vector. Jobs without one (debye_waller 0) skip it. On processors the functions with
 * slopes are not inlined, so that the compiler prepares nothing for them outside the loop. */
#ifndef DB_KERNEL_DEBYE_WALLER_H
#define DB_KERNEL_DEBYE_WALLER_H

#include "kernel/samples.h"

#if !defined(AD_DEVICE_LANGUAGE)
#define DB_RARE_FN static __attribute__((noinline, unused))
#else
#define DB_RARE_FN AD_INLINE
#endif

#define REAL SHAPE_REAL
#if DB_INSTANCE_KIND > 0
#define DIRS 3

struct thermal {
    fine value, by_b, by_q[3];
};

DB_RARE_FN fine thermal_at(const db_kernel_job *job, fine q_x, fine q_y, fine q_z,
                           struct thermal *t) {
    const num square = v3_square(v3_seed(q_x, q_y, q_z, 0));
    const num factor = debye_waller_factor(n_seed(square.v, 0), n_seed(f_set(job->b_factor), 1));
    t->value = factor.v;
    t->by_b = factor.d[1];
    for (int c = 0; c < 3; c++) t->by_q[c] = f_mul(factor.d[0], square.d[c]);
    return factor.v;
}

/* Multiplies the samples' sum by the factor, and adds the factor's slopes; the slopes of the sum already include
 * the factor's value. u: the sum's factor without it. */
DB_RARE_FN source_sums with_thermal_slopes(const struct thermal *t, fine u, source_sums source,
                                           pixel_sums *sums) {
    const fine weight = f_mul(u, source.sum);
    fine *const column = &sums->column[DB_COLUMN_DEBYE_WALLER];
    *column = f_fma(weight, t->by_b, *column);
    for (int c = 0; c < 3; c++) source.by_q[c] = f_fma(weight, t->by_q[c], source.by_q[c]);
    source.sum = f_mul(source.sum, t->value);
    return source;
}
#else
#define DIRS 0

AD_INLINE fine thermal_sum(const db_kernel_job *job, wide q_square, fine sum) {
    const num b = n_passive(f_set(job->b_factor));
    return f_mul(sum, debye_waller_factor(n_passive(narrow(q_square)), b).v);
}

/* Along a row |q|^2 = kappa^2 + |s0|^2 - 2 kappa x.s0/|x|; incident: coefficients of powers of f in
 * the product. */
AD_INLINE fine thermal_row(const db_kernel_job *job, const wide incident[2], size_t j, wide fast,
                           wide inverse_distance, fine sum) {
    const db_kernel_source_double *s = &job->source_double[j];
    const wide squares = w_set(s->kappa * s->kappa + row_dot(s->s0, s->s0));
    return thermal_sum(job, w_row_index(incident, squares, fast, inverse_distance), sum);
}
#endif
#undef DIRS
#undef REAL
#endif
