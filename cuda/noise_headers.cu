/* The noise headers compiled for the device, one pixel per thread: the same formulas and the same
 * random numbers as on the CPU. Without fused multiply-add (-fmad=false) the same bits, too. */
#include "noise/pixel_chain.h"

/* The image of db_noise_apply without a point spread function. */
__global__ void db_cuda_noise_pixels(noise_chain chain, int fast_pixels, int slow_pixels,
                                     const float *expected, int32_t *number) {
    const int fast = (int)(blockIdx.x * blockDim.x + threadIdx.x), slow = (int)blockIdx.y;
    if (fast >= fast_pixels || slow >= slow_pixels) return;
    const size_t pixel = (size_t)slow * (size_t)fast_pixels + (size_t)fast;
    const double photons =
        noise_photons(&chain, (uint32_t)fast, (uint32_t)slow, (double)expected[pixel]);
    number[pixel] =
        noise_number(&chain, noise_signal(&chain, (uint32_t)fast, (uint32_t)slow, photons));
}
