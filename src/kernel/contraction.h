/* The places of a group's pixels, and the group's derivatives by a parameter: columns times the coefficients of
 * the contraction. */
#ifndef DB_KERNEL_CONTRACTION_H
#define DB_KERNEL_CONTRACTION_H

#include "kernel/pixel_sums.h"

/* The places of a group's pixels in images. */
typedef struct {
    int count;      /* pixels in use, the rest of the lanes is padding */
    int contiguous; /* 1: only element[0] is given, the others follow it */
    size_t element[LANES];
} group_target;

AD_INLINE size_t element_of(const group_target *target, int i) {
    return target->contiguous ? target->element[0] + (size_t)i : target->element[i];
}

#if DB_INSTANCE_KIND > 0
/* The nine columns of the lattice times coefficients. */
AD_INLINE fine contract_lattice(const db_kernel_contraction *contraction,
                                const fine column[DB_LATTICE_COLUMNS]) {
    const SHAPE_REAL *c = contraction->FINE(coefficient);
    fine row[3];
    for (int r = 0; r < 3; r++)
        row[r] = f_fma(
            f_set(c[3 * r + 2]), column[3 * r + 2],
            f_fma(f_set(c[3 * r + 1]), column[3 * r + 1], f_mul(f_set(c[3 * r]), column[3 * r])));
    return f_add(row[0], f_add(row[1], row[2]));
}

AD_INLINE fine contract_single(const db_kernel_contraction *contraction, const pixel_sums *sums) {
    return f_mul(f_set(contraction->FINE(coefficient)[0]), sums->column[contraction->first_column]);
}

/* Columns times coefficients. One jump into unrolled code: the lengths of runs repeat from group to
 * group, so that the processor predicts the jump well, which it does not with the ends of many
 * short loops. */
AD_INLINE fine contract(const db_kernel_contraction *contraction, const pixel_sums *sums) {
    const SHAPE_REAL *c = contraction->FINE(coefficient);
    const fine *column = &sums->column[contraction->first_column];
    fine slope = f_set(0);
    switch (contraction->columns) {
        /* clang-format off */
#define DB_RUN(n) \
    case n: slope = f_fma(f_set(c[n - 1]), column[n - 1], slope); __attribute__((fallthrough));
        DB_RUN(14) DB_RUN(13) DB_RUN(12) DB_RUN(11) DB_RUN(10) DB_RUN(9) DB_RUN(8) DB_RUN(7) DB_RUN(6)
        DB_RUN(5) DB_RUN(4) DB_RUN(3) DB_RUN(2) DB_RUN(1)
#undef DB_RUN
    default: break;
        /* clang-format on */
    }
    return slope;
}
#endif

#endif
