/* Stores the pixels of a group, if they are wanted. */
#ifndef DB_KERNEL_PIXEL_STORE_H
#define DB_KERNEL_PIXEL_STORE_H

#include "kernel/cotangent.h"
#include "kernel/normal_rows.h"

/* Ways to store a group's pixels: one at a time; as a vector of floats; as such a vector with a streaming store,
 * which bypasses the caches. */
typedef enum { STORE_PIXELS, STORE_FLOATS, STORE_STREAM } store_kind;

AD_INLINE store_kind store_kind_of(const db_kernel_job *job, const group_target *target) {
    if (!target->contiguous || target->count < LANES || job->pixel_type != DB_FLOAT32)
        return STORE_PIXELS;
    return job->streaming ? STORE_STREAM : STORE_FLOATS;
}

AD_INLINE void store_pixels(const db_kernel_job *job, const group_target *target, void *buffer,
                            fine value) {
    SHAPE_REAL pixel[LANES];
    f_store(pixel, value);
    for (int i = 0; i < target->count; i++) {
        const size_t element = element_of(target, i);
        if (job->pixel_type == DB_FLOAT32)
            ((float *)buffer)[element] = (float)pixel[i];
        else
            ((double *)buffer)[element] = (double)pixel[i];
    }
}

AD_INLINE void store_group(store_kind kind, const db_kernel_job *job, const group_target *target,
                           void *buffer, fine value) {
    if (kind == STORE_PIXELS) {
        store_pixels(job, target, buffer, value);
        return;
    }
    float *const out = (float *)buffer + target->element[0];
#if defined(DB_INSTANCE_PRECISION_MIXED)
    if (kind == STORE_STREAM)
        vec_stream_float(out, value);
    else
        f_store(out, value);
#else
    for (int i = 0; i < LANES; i++) out[i] = (float)value[i];
#endif
}

/* run: NULL where images are stored */
AD_INLINE int group_wanted(const db_kernel_job *job, const group_target *target,
                           const normal_run *run) {
#if DB_INSTANCE_KIND > 0
    if (!run) return 1;
    if (!job->weight) return !job->cotangent || job->image || cotangent_counts(job, target);
    const int floats = job->data_type == DB_FLOAT32;
    return (floats && ((const float *)job->weight)[element_of(target, 0)] != 0) ||
           group_counts(job, target);
#else
    (void)job, (void)target, (void)run;
    return 1;
#endif
}

#endif
