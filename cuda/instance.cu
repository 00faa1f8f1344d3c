/* The device's kernels of one kind and precision: one pixel per thread, from the same headers as on
 * the processor. Compiled many times, with the definitions of kernel/instance.c but those of
 * instruction sets. */
#define LANES 1
#define DB_LOOSE_COLUMNS_APART 1
#if defined(DB_INSTANCE_PRECISION_MIXED)
#define BLOCK DB_CUDA_BLOCK
#else
#define BLOCK DB_CUDA_DOUBLE_BLOCK
#endif

#include "kernel/pixel_group.h"
#include "kernel/normal_row.h"

#include "cuda/arguments.h"
#include "cuda/device_code.h"
#include "cuda/launch_bounds.h"
#include "cuda/sampled.h"

#define NAME__(use, tag, shape) db_cuda_##use##_##tag##_##shape
#define NAME_(use, tag, shape) NAME__(use, tag, shape)
#define NAME(use, shape) NAME_(use, DB_INSTANCE_TAG, shape)

/* Image and derivatives, one pixel per thread. */
#if DB_INSTANCE_KIND > 0
#define IMAGE_KERNEL(name, shape)                                                                  \
    DB_CUDA_KERNEL(NAME(image, name), BLOCK, LEAST_IMAGE_BLOCKS_##name) {                          \
        const uint32_t pixel = block_number() * BLOCK + thread_number();                           \
        if (pixel >= a.pixels) return;                                                             \
        const pixel_place place = pixel_at(&a, pixel);                                             \
        fine loose[DB_LOOSE_COLUMNS];                                                              \
        pixel_sums sums;                                                                           \
        sums.loose = loose;                                                                        \
        render_pixel(shape, &a, &place, &sums);                                                    \
        store_derivatives(&a, &place, &sums);                                                      \
        store_intensity(&a.job, place.element, &sums);                                             \
    }
#define NORMAL_KERNEL(name, shape)                                                                 \
    DB_CUDA_KERNEL(NAME(normal, name), BLOCK, LEAST_NORMAL_BLOCKS) { sum_slot(shape, &a); }
#else
#define IMAGE_KERNEL(name, shape)                                                                  \
    DB_CUDA_KERNEL(NAME(image, name), BLOCK, LEAST_IMAGE_BLOCKS_##name) {                          \
        const uint32_t pixel = block_number() * BLOCK + thread_number();                           \
        if (pixel >= a.pixels) return;                                                             \
        const pixel_place place = pixel_at(&a, pixel);                                             \
        pixel_sums sums;                                                                           \
        render_pixel(shape, &a, &place, &sums);                                                    \
        store_intensity(&a.job, place.element, &sums);                                             \
    }
#define NORMAL_KERNEL(name, shape)
#endif
#if DB_INSTANCE_KIND == 0 && !DB_INSTANCE_GENERAL
#define ROWS_KERNEL(name, shape)                                                                   \
    DB_CUDA_KERNEL(NAME(rows, name), DB_CUDA_BLOCK, LEAST_ROWS_BLOCKS) {                           \
        render_row_chunk(shape, &a);                                                               \
    }
#else
#define ROWS_KERNEL(name, shape)
#endif
#define KERNELS(name, shape)                                                                       \
    IMAGE_KERNEL(name, shape) NORMAL_KERNEL(name, shape) ROWS_KERNEL(name, shape)

/* With what is to be left out (kernel/spot_cut.h). */
DB_CUDA_FN kernel_shape with_cut(kernel_shape shape, const db_kernel_job *job) {
    return (kernel_shape)(shape | (job->cuts ? KERNEL_CUT : 0));
}

#if DB_INSTANCE_GENERAL
KERNELS(any, with_cut((kernel_shape)a.job.shape, &a.job))
#else
/* One of the three, as the compiler can see. */
DB_CUDA_FN kernel_shape compact_shape(const db_kernel_job *job) {
    return job->shape == DB_SHAPE_ROUND   ? KERNEL_ROUND
           : job->shape == DB_SHAPE_GAUSS ? KERNEL_GAUSS
                                          : KERNEL_TOPHAT;
}
KERNELS(square, with_cut(KERNEL_SQUARE, &a.job))
#if DB_INSTANCE_KIND < 2
KERNELS(few_cells, KERNEL_FEW_CELLS)
#endif
KERNELS(compact, with_cut(compact_shape(&a.job), &a.job))
#endif
