/* Hardware vectors: one register of doubles or floats, and the few operations that plain C
 * operators on GCC/clang vector types do not give. The only file that names instruction sets. */
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

#if defined(__AVX512F__) || defined(__aarch64__)
#define AD_VEC_REGISTERS 32
#else
#define AD_VEC_REGISTERS 16
#endif

typedef double vec_double __attribute__((vector_size(AD_VEC_BYTES)));
typedef float vec_float __attribute__((vector_size(AD_VEC_BYTES)));
typedef int64_t vec_bits_double __attribute__((vector_size(AD_VEC_BYTES)));
typedef int32_t vec_bits_float __attribute__((vector_size(AD_VEC_BYTES)));

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
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
static inline vec_double vec_sqrt_double(vec_double a) {
    return (vec_double)_mm512_sqrt_pd((__m512d)a);
}
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
static inline vec_double vec_sqrt_double(vec_double a) {
    return (vec_double)_mm256_sqrt_pd((__m256d)a);
}
static inline vec_float vec_sqrt_float(vec_float a) { return (vec_float)_mm256_sqrt_ps((__m256)a); }
static inline vec_float vec_narrow(vec_double lo, vec_double hi) {
    return (vec_float)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)hi), _mm256_cvtpd_ps((__m256d)lo));
}
#elif defined(__aarch64__)
static inline vec_double vec_fma_double(vec_double a, vec_double b, vec_double c) {
    return (vec_double)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
static inline vec_float vec_fma_float(vec_float a, vec_float b, vec_float c) {
    return (vec_float)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
static inline vec_double vec_fnma_double(vec_double a, vec_double b, vec_double c) {
    return (vec_double)vfmsq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
static inline vec_float vec_fnma_float(vec_float a, vec_float b, vec_float c) {
    return (vec_float)vfmsq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
static inline vec_double vec_sqrt_double(vec_double a) {
    return (vec_double)vsqrtq_f64((float64x2_t)a);
}
static inline vec_float vec_sqrt_float(vec_float a) {
    return (vec_float)vsqrtq_f32((float32x4_t)a);
}
static inline vec_float vec_narrow(vec_double lo, vec_double hi) {
    return (vec_float)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)lo), (float64x2_t)hi);
}
#else
static inline vec_double vec_fma_double(vec_double a, vec_double b, vec_double c) {
    return a * b + c;
}
static inline vec_float vec_fma_float(vec_float a, vec_float b, vec_float c) { return a * b + c; }
static inline vec_double vec_fnma_double(vec_double a, vec_double b, vec_double c) {
    return c - a * b;
}
static inline vec_float vec_fnma_float(vec_float a, vec_float b, vec_float c) { return c - a * b; }
#if defined(__SSE2__)
static inline vec_double vec_sqrt_double(vec_double a) {
    return (vec_double)_mm_sqrt_pd((__m128d)a);
}
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

/* Comparisons and selection. Selection is by bits, so that neither value nor slope of the branch
 * not taken (perhaps NaN) leaks through. AVX-512 has mask registers for this; elsewhere a mask is a
 * vector of all-ones and zeros. */
#if defined(__AVX512F__)
typedef __mmask8 vec_mask_double;
typedef __mmask16 vec_mask_float;
#define AD_VEC_COMPARE(name, op, predicate)                                                        \
    static inline vec_mask_double vec_##name##_double(vec_double a, vec_double b) {                \
        return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, predicate);                              \
    }                                                                                              \
    static inline vec_mask_float vec_##name##_float(vec_float a, vec_float b) {                    \
        return _mm512_cmp_ps_mask((__m512)a, (__m512)b, predicate);                                \
    }
static inline vec_double vec_select_double(vec_mask_double m, vec_double a, vec_double b) {
    return (vec_double)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a);
}
static inline vec_float vec_select_float(vec_mask_float m, vec_float a, vec_float b) {
    return (vec_float)_mm512_mask_blend_ps(m, (__m512)b, (__m512)a);
}
static inline vec_mask_double vec_and_double(vec_mask_double a, vec_mask_double b) {
    return (vec_mask_double)(a & b);
}
static inline vec_mask_float vec_and_float(vec_mask_float a, vec_mask_float b) {
    return (vec_mask_float)(a & b);
}
#else
typedef vec_bits_double vec_mask_double;
typedef vec_bits_float vec_mask_float;
#define AD_VEC_COMPARE(name, op, predicate)                                                        \
    static inline vec_mask_double vec_##name##_double(vec_double a, vec_double b) {                \
        return (vec_mask_double)(a op b);                                                          \
    }                                                                                              \
    static inline vec_mask_float vec_##name##_float(vec_float a, vec_float b) {                    \
        return (vec_mask_float)(a op b);                                                           \
    }
#if defined(__aarch64__)
static inline vec_double vec_select_double(vec_mask_double m, vec_double a, vec_double b) {
    return (vec_double)vbslq_f64((uint64x2_t)m, (float64x2_t)a, (float64x2_t)b);
}
static inline vec_float vec_select_float(vec_mask_float m, vec_float a, vec_float b) {
    return (vec_float)vbslq_f32((uint32x4_t)m, (float32x4_t)a, (float32x4_t)b);
}
#else
static inline vec_double vec_select_double(vec_mask_double m, vec_double a, vec_double b) {
    return (vec_double)((m & (vec_bits_double)a) | (~m & (vec_bits_double)b));
}
static inline vec_float vec_select_float(vec_mask_float m, vec_float a, vec_float b) {
    return (vec_float)((m & (vec_bits_float)a) | (~m & (vec_bits_float)b));
}
#endif
static inline vec_mask_double vec_and_double(vec_mask_double a, vec_mask_double b) { return a & b; }
static inline vec_mask_float vec_and_float(vec_mask_float a, vec_mask_float b) { return a & b; }
#endif

/* vec_bitmask: the lanes of a mask as bits. vec_keep: a where the mask is set, else 0. vec_max: the
 * larger of two numbers; b where one is NaN. */
#if defined(__AVX512F__)
static inline unsigned vec_bitmask_double(vec_mask_double m) { return m; }
static inline unsigned vec_bitmask_float(vec_mask_float m) { return m; }
static inline vec_double vec_keep_double(vec_mask_double m, vec_double a) {
    return (vec_double)_mm512_maskz_mov_pd(m, (__m512d)a);
}
static inline vec_float vec_keep_float(vec_mask_float m, vec_float a) {
    return (vec_float)_mm512_maskz_mov_ps(m, (__m512)a);
}
static inline vec_double vec_max_double(vec_double a, vec_double b) {
    return (vec_double)_mm512_max_pd((__m512d)a, (__m512d)b);
}
static inline vec_float vec_max_float(vec_float a, vec_float b) {
    return (vec_float)_mm512_max_ps((__m512)a, (__m512)b);
}
#elif defined(__AVX2__)
static inline unsigned vec_bitmask_double(vec_mask_double m) {
    return (unsigned)_mm256_movemask_pd((__m256d)m);
}
static inline unsigned vec_bitmask_float(vec_mask_float m) {
    return (unsigned)_mm256_movemask_ps((__m256)m);
}
static inline vec_double vec_keep_double(vec_mask_double m, vec_double a) {
    return (vec_double)_mm256_and_pd((__m256d)m, (__m256d)a);
}
static inline vec_float vec_keep_float(vec_mask_float m, vec_float a) {
    return (vec_float)_mm256_and_ps((__m256)m, (__m256)a);
}
static inline vec_double vec_max_double(vec_double a, vec_double b) {
    return (vec_double)_mm256_max_pd((__m256d)a, (__m256d)b);
}
static inline vec_float vec_max_float(vec_float a, vec_float b) {
    return (vec_float)_mm256_max_ps((__m256)a, (__m256)b);
}
#elif defined(__SSE2__)
static inline unsigned vec_bitmask_double(vec_mask_double m) {
    return (unsigned)_mm_movemask_pd((__m128d)m);
}
static inline unsigned vec_bitmask_float(vec_mask_float m) {
    return (unsigned)_mm_movemask_ps((__m128)m);
}
static inline vec_double vec_keep_double(vec_mask_double m, vec_double a) {
    return (vec_double)_mm_and_pd((__m128d)m, (__m128d)a);
}
static inline vec_float vec_keep_float(vec_mask_float m, vec_float a) {
    return (vec_float)_mm_and_ps((__m128)m, (__m128)a);
}
static inline vec_double vec_max_double(vec_double a, vec_double b) {
    return (vec_double)_mm_max_pd((__m128d)a, (__m128d)b);
}
static inline vec_float vec_max_float(vec_float a, vec_float b) {
    return (vec_float)_mm_max_ps((__m128)a, (__m128)b);
}
#else
#if defined(__aarch64__)
static inline unsigned vec_bitmask_double(vec_mask_double m) {
    const uint64x2_t bit = { 1, 2 };
    return (unsigned)vaddvq_u64(vandq_u64((uint64x2_t)m, bit));
}
static inline unsigned vec_bitmask_float(vec_mask_float m) {
    const uint32x4_t bit = { 1, 2, 4, 8 };
    return vaddvq_u32(vandq_u32((uint32x4_t)m, bit));
}
#else
static inline unsigned vec_bitmask_double(vec_mask_double m) {
    return (m[0] ? 1U : 0) | (m[1] ? 2U : 0);
}
static inline unsigned vec_bitmask_float(vec_mask_float m) {
    return (m[0] ? 1U : 0) | (m[1] ? 2U : 0) | (m[2] ? 4U : 0) | (m[3] ? 8U : 0);
}
#endif
static inline vec_double vec_keep_double(vec_mask_double m, vec_double a) {
    return (vec_double)(m & (vec_bits_double)a);
}
static inline vec_float vec_keep_float(vec_mask_float m, vec_float a) {
    return (vec_float)(m & (vec_bits_float)a);
}
static inline vec_double vec_max_double(vec_double a, vec_double b) {
    return vec_select_double((vec_mask_double)(a > b), a, b);
}
static inline vec_float vec_max_float(vec_float a, vec_float b) {
    return vec_select_float((vec_mask_float)(a > b), a, b);
}
#endif

AD_VEC_COMPARE(lt, <, _CMP_LT_OS)
AD_VEC_COMPARE(le, <=, _CMP_LE_OS)
AD_VEC_COMPARE(eq, ==, _CMP_EQ_OQ)

/* Nearest integer, halves to even. Without an instruction for it, adding and subtracting 1.5 * 2^52
 * (2^23) removes the fraction if |a| is below 2^51 (2^22). vec_reduce: what rounding removes. */
#if defined(__AVX512DQ__)
static inline vec_double vec_reduce_double(vec_double a) {
    return (vec_double)_mm512_reduce_pd((__m512d)a, 0);
}
static inline vec_float vec_reduce_float(vec_float a) {
    return (vec_float)_mm512_reduce_ps((__m512)a, 0);
}
static inline vec_double vec_rint_double(vec_double a) {
    return (vec_double)_mm512_roundscale_pd((__m512d)a, 0);
}
static inline vec_float vec_rint_float(vec_float a) {
    return (vec_float)_mm512_roundscale_ps((__m512)a, 0);
}
#else
#if defined(__aarch64__)
static inline vec_double vec_rint_double(vec_double a) {
    return (vec_double)vrndnq_f64((float64x2_t)a);
}
static inline vec_float vec_rint_float(vec_float a) {
    return (vec_float)vrndnq_f32((float32x4_t)a);
}
#else
static inline vec_double vec_rint_double(vec_double a) {
    return (a + 6755399441055744.0) - 6755399441055744.0;
}
static inline vec_float vec_rint_float(vec_float a) { return (a + 12582912.0f) - 12582912.0f; }
#endif
static inline vec_double vec_reduce_double(vec_double a) { return a - vec_rint_double(a); }
static inline vec_float vec_reduce_float(vec_float a) { return a - vec_rint_float(a); }
#endif

/* 1/sqrt: refined from the estimate of the hardware where it has a good one. At 0 and infinity,
 * where refinement is undefined, the estimate is the result. */
#if defined(__AVX512F__)
/* With e = 1 - a r^2, 1/sqrt(a) = r (1 + e/2 + 3 e^2/8 + 5 e^3/16 + ...); e is below 2^-13, and
 * what is left out below half a unit of the last place. */
static inline vec_double vec_rsqrt_double(vec_double a) {
    const vec_double r = (vec_double)_mm512_rsqrt14_pd((__m512d)a), zero = { 0 };
    const vec_double e = vec_fnma_double(a * r, r, 1 - zero);
    vec_double series = vec_fma_double(e, 5.0 / 16 - zero, 3.0 / 8 - zero);
    series = vec_fma_double(e, series, 0.5 - zero);
    const __mmask8 defined = _mm512_cmp_pd_mask((__m512d)e, (__m512d)e, _CMP_ORD_Q);
    return (vec_double)_mm512_mask_fmadd_pd((__m512d)r, defined, (__m512d)(e * series), (__m512d)r);
}
static inline vec_float vec_rsqrt_float(vec_float a) {
    const vec_float r = (vec_float)_mm512_rsqrt14_ps((__m512)a);
    const vec_float error = vec_fnma_float(a * (0.5f * r), r, 0.5f - (vec_float){ 0 });
    const __mmask16 defined = _mm512_cmp_ps_mask((__m512)error, (__m512)error, _CMP_ORD_Q);
    return (vec_float)_mm512_mask_fmadd_ps((__m512)r, defined, (__m512)error, (__m512)r);
}
#else
static inline vec_double vec_rsqrt_double(vec_double a) { return 1.0 / vec_sqrt_double(a); }
static inline vec_float vec_rsqrt_float(vec_float a) { return 1.0f / vec_sqrt_float(a); }
#endif

/* From two vectors of doubles, to which VEC_FRACTION_SHIFT has been added, to floats: by how much
 * the numbers without the shift exceed the nearest integer. The shift leaves 32 binary places,
 * which are the low half of the mantissa and make a signed integer; for numbers of magnitude below
 * 2^19. */
#define VEC_FRACTION_SHIFT 1572864.0 /* 1.5 * 2^20 */
static inline vec_float vec_fraction(vec_double lo, vec_double hi) {
    const float unit = 0x1p-32f;
#if defined(__AVX512F__)
    const __m512i low_halves =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return unit * (vec_float)_mm512_cvtepi32_ps(
                      _mm512_permutex2var_epi32((__m512i)lo, low_halves, (__m512i)hi));
#elif defined(__AVX2__)
    const __m256 pairs = _mm256_shuffle_ps((__m256)lo, (__m256)hi, 0x88);
    const __m256i ordered = _mm256_permute4x64_epi64((__m256i)pairs, 0xd8);
    return unit * (vec_float)_mm256_cvtepi32_ps(ordered);
#elif defined(__SSE2__)
    return unit * (vec_float)_mm_cvtepi32_ps((__m128i)_mm_shuffle_ps((__m128)lo, (__m128)hi, 0x88));
#elif defined(__aarch64__)
    (void)unit;
    return (vec_float)vcvtq_n_f32_s32(vuzp1q_s32((int32x4_t)lo, (int32x4_t)hi), 32);
#else
    const vec_double shift = VEC_FRACTION_SHIFT - (vec_double){ 0 };
    return vec_narrow(vec_reduce_double(lo - shift), vec_reduce_double(hi - shift));
#endif
}

/* One lane of vec_fma_double. */
static inline double vec_fma_one(double a, double b, double c) {
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* Streaming (non-temporal) stores, which bypass the caches, for results larger than these: of whole
 * cache lines only, else an ordinary store. vec_stream_end makes them visible to other threads. */
#if defined(__AVX512F__)
static inline void vec_stream_float(float *p, vec_float a) {
    if (((uintptr_t)p & (AD_VEC_BYTES - 1)) == 0)
        _mm512_stream_ps(p, (__m512)a);
    else
        __builtin_memcpy(p, &a, sizeof a);
}
static inline void vec_stream_end(void) { _mm_sfence(); }
#else
static inline void vec_stream_float(float *p, vec_float a) { __builtin_memcpy(p, &a, sizeof a); }
static inline void vec_stream_end(void) {}
#endif

#endif
