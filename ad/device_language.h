/* The languages of devices, CUDA and HIP, as far as headers that are shared with the processor see
 * them: AD_DEVICE_LANGUAGE where a file is compiled in one of them, AD_DEVICE_PASS in the pass that
 * makes code for the device. All else is in cuda/device_code.h. */
#ifndef AD_DEVICE_LANGUAGE_H
#define AD_DEVICE_LANGUAGE_H

#if defined(__CUDACC__)
#define AD_DEVICE_LANGUAGE 1
#define AD_DEVICE_FN static __host__ __device__ __forceinline__
#elif defined(__HIP__)
#define AD_DEVICE_LANGUAGE 1
#define AD_DEVICE_FN                                                                               \
    static inline __attribute__((host)) __attribute__((device)) __attribute__((always_inline))
#endif

#if defined(__CUDA_ARCH__) || (defined(__HIP__) && defined(__HIP_DEVICE_COMPILE__))
#define AD_DEVICE_PASS 1
#endif

/* Without ROCm's headers (-nogpuinc) clang has no mathematics of the device: what the kernels call
 * are operations that the compiler knows. */
#if defined(__HIP__) && !defined(__CLANG_HIP_RUNTIME_WRAPPER_H__)
#include <math.h>
#include <stddef.h>
#include <string.h>
#define AD_HIP_FN static inline __attribute__((device)) __attribute__((unused))
AD_HIP_FN double sqrt(double a) { return __builtin_sqrt(a); }
AD_HIP_FN float sqrtf(float a) { return __builtin_sqrtf(a); }
AD_HIP_FN double fabs(double a) { return __builtin_fabs(a); }
AD_HIP_FN float fabsf(float a) { return __builtin_fabsf(a); }
AD_HIP_FN double rint(double a) { return __builtin_rint(a); }
AD_HIP_FN float rintf(float a) { return __builtin_rintf(a); }
AD_HIP_FN double floor(double a) { return __builtin_floor(a); }
AD_HIP_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
AD_HIP_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#if defined(__HIP_DEVICE_COMPILE__)
AD_HIP_FN double ldexp(double a, int k) { return __builtin_amdgcn_ldexp(a, k); }
AD_HIP_FN float ldexpf(float a, int k) { return __builtin_amdgcn_ldexpf(a, k); }
#endif
AD_HIP_FN void *memcpy(void *to, const void *from, size_t bytes) {
    return __builtin_memcpy(to, from, bytes);
}
#undef AD_HIP_FN
#endif

#endif
