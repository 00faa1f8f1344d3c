/* The row of a pixel in the normal equations: each image of the basis and the residual, times the
 * square root of the weight. */
#ifndef DB_KERNEL_NORMAL_ROW_H
#define DB_KERNEL_NORMAL_ROW_H

#include "kernel/instance_types.h"

typedef struct {
    fine root;
    fine_mask left_out;
} pixel_weight;

/* given: 0 where all pixels weigh 1 */
AD_INLINE pixel_weight pixel_weight_of(fine weight, int given) {
    pixel_weight w;
    w.root = given ? f_sqrt(weight) : weight;
    w.left_out = f_eq(weight, f_set(0));
    return w;
}

/* Selects 0, since left-out values may be infinite or NaN. */
AD_INLINE fine weighted(pixel_weight w, fine value) {
    return f_select(w.left_out, f_set(0), f_mul(value, w.root));
}

AD_INLINE fine residual_of(const db_kernel_job *job, fine intensity, fine data) {
    return f_sub(f_mul(intensity, f_set(job->residual_scale)), data);
}

#endif
