/* What headers shared with the processor need to know of CUDA: AD_DEVICE_LANGUAGE is set when a file is compiled
 * as CUDA, AD_DEVICE_PASS in the pass for the device. Everything else is in cuda/device_code.h. */
#ifndef AD_DEVICE_LANGUAGE_H
#define AD_DEVICE_LANGUAGE_H

#if defined(__CUDACC__)
#define AD_DEVICE_LANGUAGE 1
#define AD_DEVICE_FN static __host__ __device__ __forceinline__
#define AD_PORTABLE_FN AD_DEVICE_FN
/* Devices read 16 bytes at a time; the size is a multiple of that everywhere. */
#define AD_DEVICE_ALIGNED __attribute__((aligned(16)))
#define AD_DEVICE_READ(type, name, pointer)                                                        \
    const type name##_read = *(pointer);                                                           \
    const type *const name = &name##_read
#else
#define AD_PORTABLE_FN static inline __attribute__((unused))
#define AD_DEVICE_ALIGNED
#define AD_DEVICE_READ(type, name, pointer) const type *const name = (pointer)
#endif

#if defined(__CUDA_ARCH__)
#define AD_DEVICE_PASS 1
#endif

#endif
