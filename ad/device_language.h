/* CUDA, as far as headers that are shared with the processor see it: AD_DEVICE_LANGUAGE where a file is compiled in it,
 * AD_DEVICE_PASS in the pass that makes code for the device. All else is in cuda/device_code.h. */
#ifndef AD_DEVICE_LANGUAGE_H
#define AD_DEVICE_LANGUAGE_H

#if defined(__CUDACC__)
#define AD_DEVICE_LANGUAGE 1
#define AD_DEVICE_FN static __host__ __device__ __forceinline__
#define AD_PORTABLE_FN AD_DEVICE_FN
#else
#define AD_PORTABLE_FN static inline __attribute__((unused))
#endif

#if defined(__CUDA_ARCH__)
#define AD_DEVICE_PASS 1
#endif

#endif
