/* The device's kernels of one kind and precision: one pixel per thread, from the same headers as on the processor.
 * Compiled many times, with the definitions of kernel/instance.c except instruction sets. */
#include "cuda/device_code.h"

#define LANES 1
#define DB_ROW_TERM_ALIGNMENT __attribute__((aligned(16)))
#define DB_IN_BLOCK_MEMORY(pointer) DB_CUDA_IN_BLOCK_MEMORY(pointer)
#define DB_LOOSE_COLUMNS_APART 1
#if defined(DB_INSTANCE_PRECISION_MIXED)
#define BLOCK DB_CUDA_BLOCK
#else
#define BLOCK DB_CUDA_DOUBLE_BLOCK
#endif

#include "kernel/pixel_group.h"
#include "kernel/normal_row.h"

#include "cuda/arguments.h"
#include "cuda/launch_bounds.h"
#include "cuda/sampled.h"

#define NAME__(use, tag, shape) db_cuda_##use##_##tag##_##shape
#define NAME_(use, tag, shape) NAME__(use, tag, shape)
#define NAME(use, shape) NAME_(use, DB_INSTANCE_TAG, shape)

#define IMAGE_KERNEL(name, shape)                                                                  \
    DB_CUDA_KERNEL(NAME(image, name), BLOCK, LEAST_IMAGE_BLOCKS_##name) {                          \
        render_image(mode_of(&a->job, shape, BY_VECTOR), a);                                       \
    }
#if DB_INSTANCE_KIND > 0
#define NORMAL_KERNEL(name, shape)                                                                 \
    DB_CUDA_KERNEL(NAME(normal, name), BLOCK, LEAST_NORMAL_BLOCKS) {                               \
        sum_slot(mode_of(&a->job, shape, BY_VECTOR), a);                                           \
    }
#else
#define NORMAL_KERNEL(name, shape)
#endif

/* Plain jobs with one source, sub-pixel and sample have kernels without loops. */
#if DB_INSTANCE_KIND == 1
#define STILL_KERNELS(name, shape)                                                                 \
    DB_CUDA_KERNEL(NAME(still, name), BLOCK, LEAST_STILL_BLOCKS) {                                 \
        render_image(still_of(a, shape), a);                                                       \
    }                                                                                              \
    DB_CUDA_KERNEL(NAME(still_normal, name), BLOCK, LEAST_STILL_BLOCKS) {                          \
        sum_slot(still_of(a, shape), a);                                                           \
    }
#else
#define STILL_KERNELS(name, shape)
#endif

/* Images of plain jobs along rows. */
#if DB_INSTANCE_KIND == 0 && !DB_INSTANCE_GENERAL
#define ROWS_KERNELS(name, shape)                                                                  \
    DB_CUDA_KERNEL(NAME(rows, name), DB_CUDA_BLOCK, LEAST_ROWS_BLOCKS_##name) {                    \
        render_row_run(shape, a);                                                                  \
    }                                                                                              \
    DB_CUDA_KERNEL(NAME(still, name), DB_CUDA_BLOCK, LEAST_ROWS_BLOCKS) {                          \
        render_still_run(shape, a);                                                                \
    }
#else
#define ROWS_KERNELS(name, shape)
#endif
#define KERNELS(name, shape)                                                                       \
    IMAGE_KERNEL(name, shape)                                                                      \
    NORMAL_KERNEL(name, shape)                                                                     \
    STILL_KERNELS(name, shape)                                                                     \
    ROWS_KERNELS(name, shape)

/* Adds KERNEL_CUT if parts of spots are to be left out (kernel/spot_cut.h). */
DB_CUDA_FN kernel_shape with_cut(kernel_shape shape, const db_kernel_job *job) {
    return (kernel_shape)(shape | (job->cuts ? KERNEL_CUT : 0));
}

#if DB_INSTANCE_GENERAL
KERNELS(any, with_cut((kernel_shape)a->job.shape, &a->job))
#else
/* One of three constants, so that the compiler knows them all. */
DB_CUDA_FN kernel_shape compact_shape(const db_kernel_job *job) {
    return job->shape == DB_SHAPE_ROUND   ? KERNEL_ROUND
           : job->shape == DB_SHAPE_GAUSS ? KERNEL_GAUSS
                                          : KERNEL_TOPHAT;
}
KERNELS(square, with_cut(KERNEL_SQUARE, &a->job))
#if DB_INSTANCE_KIND < 2
KERNELS(few_cells, KERNEL_FEW_CELLS)
#endif
KERNELS(compact, with_cut(compact_shape(&a->job), &a->job))
#endif
