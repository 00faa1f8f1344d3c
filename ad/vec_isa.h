/* Hardware vectors: one register of doubles or floats, and the few operations that plain C operators on
 * GCC/clang vector types do not give. The only file that names instruction sets. */
#ifndef AD_VEC_ISA_H
#define AD_VEC_ISA_H

#include <math.h>
#include <stdint.h>

#if defined(__AVX512F__)
#define AD_VEC_BYTES 64
#elif defined(__AVX2__)
#define AD_VEC_BYTES 32
#else
#define AD_VEC_BYTES 16
#endif

typedef double vec_double __attribute__((vector_size(AD_VEC_BYTES)));
typedef float vec_float __attribute__((vector_size(AD_VEC_BYTES)));
typedef int64_t vec_mask_double __attribute__((vector_size(AD_VEC_BYTES)));
typedef int32_t vec_mask_float __attribute__((vector_size(AD_VEC_BYTES)));
typedef float vec_half_float __attribute__((vector_size(AD_VEC_BYTES / 2)));

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
static inline vec_double vec_fma_double(vec_double a, vec_double b, vec_double c) {
    return (vec_double)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
static inline vec_float vec_fma_float(vec_float a, vec_float b, vec_float c) {
    return (vec_float)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
static inline vec_double vec_fnma_double(vec_double a, vec_double b, vec_double c) {
    return (vec_double)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
static inline vec_float vec_fnma_float(vec_float a, vec_float b, vec_float c) {
    return (vec_float)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
static inline vec_double vec_sqrt_double(vec_double a) { return (vec_double)_mm512_sqrt_pd((__m512d)a); }
static inline vec_float vec_sqrt_float(vec_float a) { return (vec_float)_mm512_sqrt_ps((__m512)a); }
static inline vec_float vec_narrow(vec_double lo, vec_double hi) {
    const __m512d low = _mm512_castps_pd(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)lo)));
    return (vec_float)_mm512_castpd_ps(
        _mm512_insertf64x4(low, _mm256_castps_pd(_mm512_cvtpd_ps((__m512d)hi)), 1));
}
#elif defined(__AVX2__)
static inline vec_double vec_fma_double(vec_double a, vec_double b, vec_double c) {
    return (vec_double)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
static inline vec_float vec_fma_float(vec_float a, vec_float b, vec_float c) {
    return (vec_float)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
static inline vec_double vec_fnma_double(vec_double a, vec_double b, vec_double c) {
    return (vec_double)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
static inline vec_float vec_fnma_float(vec_float a, vec_float b, vec_float c) {
    return (vec_float)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
static inline vec_double vec_sqrt_double(vec_double a) { return (vec_double)_mm256_sqrt_pd((__m256d)a); }
static inline vec_float vec_sqrt_float(vec_float a) { return (vec_float)_mm256_sqrt_ps((__m256)a); }
static inline vec_float vec_narrow(vec_double lo, vec_double hi) {
    return (vec_float)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)hi), _mm256_cvtpd_ps((__m256d)lo));
}
#else
static inline vec_double vec_fma_double(vec_double a, vec_double b, vec_double c) { return a * b + c; }
static inline vec_float vec_fma_float(vec_float a, vec_float b, vec_float c) { return a * b + c; }
static inline vec_double vec_fnma_double(vec_double a, vec_double b, vec_double c) { return c - a * b; }
static inline vec_float vec_fnma_float(vec_float a, vec_float b, vec_float c) { return c - a * b; }
#if defined(__SSE2__)
static inline vec_double vec_sqrt_double(vec_double a) { return (vec_double)_mm_sqrt_pd((__m128d)a); }
static inline vec_float vec_sqrt_float(vec_float a) { return (vec_float)_mm_sqrt_ps((__m128)a); }
static inline vec_float vec_narrow(vec_double lo, vec_double hi) {
    return (vec_float)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)lo), _mm_cvtpd_ps((__m128d)hi));
}
#else
static inline vec_double vec_sqrt_double(vec_double a) {
    for (int i = 0; i < AD_VEC_BYTES / 8; i++) a[i] = sqrt(a[i]);
    return a;
}
static inline vec_float vec_sqrt_float(vec_float a) {
    for (int i = 0; i < AD_VEC_BYTES / 4; i++) a[i] = sqrtf(a[i]);
    return a;
}
static inline vec_float vec_narrow(vec_double lo, vec_double hi) {
    vec_float r;
    for (int i = 0; i < AD_VEC_BYTES / 8; i++) {
        r[i] = (float)lo[i];
        r[i + AD_VEC_BYTES / 8] = (float)hi[i];
    }
    return r;
}
#endif
#endif

/* 1/sqrt: an estimate refined by Newton steps where the hardware has one that is worth it. */
#if defined(__AVX512F__)
static inline vec_double vec_rsqrt_double(vec_double a) {
    vec_double r = (vec_double)_mm512_rsqrt14_pd((__m512d)a);
    const vec_double half = a * 0.5;
    r = vec_fma_double(r, vec_fnma_double(half * r, r, 0.5 - (vec_double){ 0 }), r);
    r = vec_fma_double(r, vec_fnma_double(half * r, r, 0.5 - (vec_double){ 0 }), r);
    return r;
}
static inline vec_float vec_rsqrt_float(vec_float a) {
    vec_float r = (vec_float)_mm512_rsqrt14_ps((__m512)a);
    return vec_fma_float(r, vec_fnma_float(a * 0.5f * r, r, 0.5f - (vec_float){ 0 }), r);
}
#else
static inline vec_double vec_rsqrt_double(vec_double a) { return 1.0 / vec_sqrt_double(a); }
static inline vec_float vec_rsqrt_float(vec_float a) { return 1.0f / vec_sqrt_float(a); }
#endif

#endif
