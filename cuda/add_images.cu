/* Adds images: packed ones, and up to two in the caller's layout, into one of either layout. A pixel of several
 * regions occurs several times in packed images; it is written several times with the same value. No thread reads
 * what another writes. */
#include "cuda/pixel_place.h"

#define ADD_PIXEL(type)                                                                            \
    {                                                                                              \
        type sum = 0;                                                                              \
        for (size_t k = 0; k < a->job.parameter_count; k++)                                        \
            sum += ((const type *)a->derivative[k])[packed];                                       \
        if (a->job.data) sum += ((const type *)a->job.data)[given];                                \
        if (a->job.background) sum += ((const type *)a->job.background)[given];                    \
        ((type *)a->job.image)[a->to_packed ? packed : given] = sum;                               \
    }

DB_CUDA_KERNEL(db_cuda_add_images_kernel, DB_CUDA_BLOCK, 1) {
    const uint32_t pixel = block_number() * DB_CUDA_BLOCK + thread_number();
    if (pixel >= a->pixels) return;
    const size_t given = pixel_at(a, pixel).element, packed = a->dense ? given : pixel;
    if (a->job.pixel_type == DB_FLOAT32)
        ADD_PIXEL(float)
    else
        ADD_PIXEL(double)
}
