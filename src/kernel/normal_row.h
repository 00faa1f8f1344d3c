/* What a pixel contributes to normal equations: each image of the basis and the residual, times the
 * square root of the weight. */
#ifndef DB_KERNEL_NORMAL_ROW_H
#define DB_KERNEL_NORMAL_ROW_H

#define REAL SHAPE_REAL
#define DIRS 0

typedef struct {
    fine root;
    lane_mask left_out;
} pixel_weight;

/* given: 0 where all pixels weigh 1 */
AD_INLINE pixel_weight pixel_weight_of(fine weight, int given) {
    pixel_weight w;
    w.root = given ? l_sqrt(weight) : weight;
    w.left_out = l_eq(weight, l_set(0));
    return w;
}

/* Selection, not a factor 0: what is left out may be infinite or NaN. */
AD_INLINE fine weighted(pixel_weight w, fine value) {
    return l_select(w.left_out, l_set(0), l_mul(value, w.root));
}

AD_INLINE fine residual_of(const db_kernel_job *job, fine intensity, fine data) {
    return l_sub(l_mul(intensity, l_set((SHAPE_REAL)job->scale)), data);
}

#undef REAL
#undef DIRS
#endif
