/* Products of derivatives and one image: with a cotangent, its sums with all derivatives over
 * pixels; with a tangent, the derivatives' combination as one image. */
#ifndef DB_KERNEL_COTANGENT_H
#define DB_KERNEL_COTANGENT_H

#include "kernel/normal_rows.h"

AD_INLINE int all_zero(fine v) {
    return f_bitmask(f_eq(v, f_set(0))) == f_bitmask(f_eq(f_set(0), f_set(0)));
}

/* The rest of the lanes is 0. */
AD_INLINE fine load_cotangent(const db_kernel_job *job, const group_target *target) {
    return load_group(job->pixel_type, job->cotangent, target);
}

#if DB_INSTANCE_KIND > 0

AD_INLINE double sum_of_lanes(fine v) {
    SHAPE_REAL lane[LANES];
    double sum = 0;
    f_store(lane, v);
    for (int i = 0; i < LANES; i++) sum += (double)lane[i];
    return sum;
}

/* 0 if the group adds nothing to the sums: all cotangents are 0. */
static __attribute__((noinline)) int cotangent_counts(const db_kernel_job *job,
                                                      const group_target *target) {
    return !all_zero(load_cotangent(job, target));
}

/* Adds the run's sums to those in double. The run's first row holds sums of products in float, over as many groups
 * as in normal equations. */
static __attribute__((noinline)) void add_cotangent_run(normal_run *run) {
    for (size_t k = 0; k + 1 < run->length; k++) run->sums[k] += sum_of_lanes(run->row[k]);
    run->rows = 0;
}

/* Selection, not a product with 0: where the cotangent is 0, derivatives may be infinite or NaN. */
static __attribute__((noinline)) void add_cotangent_group(const db_kernel_job *job,
                                                          const db_kernel_contraction *contraction,
                                                          const pixel_sums *sums, fine cotangent,
                                                          normal_run *run) {
    const fine_mask none = f_eq(cotangent, f_set(0));
    const double *step = job->spots.step; /* of spots in closed form only, that have no kinds */
    const size_t lattice = job->lattice_wanted, singles = lattice + job->single_wanted;
    fine *const sum = run->row;
    size_t k = 0;
#define BEFORE (run->rows ? sum[k] : f_set(0))
#define ADD(slope) sum[k] = f_fma(f_select(none, f_set(0), slope), cotangent, BEFORE)
    for (; k < lattice; k++)
        ADD(contract_lattice(&contraction[k], sums->column + DB_COLUMN_LATTICE));
    for (; k < singles; k++) ADD(contract_single(&contraction[k], sums));
    for (; k < job->parameter_count; k++) {
        if (step && contraction[k].columns == 0) { /* it moves spots only */
            sum[k] = BEFORE;
            continue;
        }
        const fine slope = contract(&contraction[k], sums);
        ADD(step ? f_mul(f_set(step[k]), slope) : slope);
    }
#undef ADD
#undef BEFORE
    if (++run->rows == NORMAL_RUN) add_cotangent_run(run);
}

/* Adds the rest of a run. */
AD_INLINE void end_run(const db_kernel_job *job, normal_run *run) {
    if (job->cotangent)
        add_cotangent_run(run);
    else
        add_run(run);
}

AD_INLINE fine tangent_of(const db_kernel_job *job, const db_kernel_contraction *contraction,
                          const pixel_sums *sums) {
    fine sum = f_set(0);
    for (size_t k = 0; k < job->parameter_count; k++)
        sum = f_add(sum, contract(&contraction[k], sums));
    return sum;
}
#endif

#endif
