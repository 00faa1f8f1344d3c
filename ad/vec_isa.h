/* Hardware vectors: one register of doubles or floats, and the few operations that plain C
 * operators on GCC/clang vector types do not give. The only file that names instruction sets. */
#ifndef AD_VEC_ISA_H
#define AD_VEC_ISA_H

#include <math.h>
#include <stdint.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* An instruction set: the bytes of a register and the number of registers, the types that its instructions take,
 * their names, and each operation on numbers of type t (double, float). */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define AD_VEC_BYTES 64
#define AD_VEC_REGISTERS 32
typedef __m512d ad_vec_own_double;
typedef __m512 ad_vec_own_float;
#define AD_VEC_OP_double(op) _mm512_##op##_pd
#define AD_VEC_OP_float(op) _mm512_##op##_ps
#define AD_VEC_FMA(t, a, b, c) AD_VEC_OP_##t(fmadd)(a, b, c)
#define AD_VEC_FNMA(t, a, b, c) AD_VEC_OP_##t(fnmadd)(a, b, c)
#define AD_VEC_SQRT(t, a) AD_VEC_OP_##t(sqrt)(a)
#define AD_VEC_MAX(t, a, b) AD_VEC_OP_##t(max)(a, b)
#define AD_VEC_RINT(t, a) AD_VEC_OP_##t(roundscale)(a, 0)
#define AD_VEC_REDUCE(t, a) AD_VEC_OP_##t(reduce)(a, 0)
/* masks are registers of their own */
typedef __mmask8 vec_mask_double;
typedef __mmask16 vec_mask_float;
#define AD_VEC_OWN_MASK
#define AD_VEC_COMPARE_double(a, b, predicate) _mm512_cmp_pd_mask(a, b, predicate)
#define AD_VEC_COMPARE_float(a, b, predicate) _mm512_cmp_ps_mask(a, b, predicate)
#define AD_VEC_COMPARE(t, a, op, b, predicate) AD_VEC_COMPARE_##t(a, b, predicate)
#define AD_VEC_SELECT(t, m, a, b) AD_VEC_OP_##t(mask_blend)(m, b, a)
#define AD_VEC_KEEP(t, m, a) AD_VEC_OP_##t(maskz_mov)(m, a)
#define AD_VEC_BITMASK(t, m) (m)

#elif defined(__AVX2__)
#define AD_VEC_BYTES 32
#define AD_VEC_REGISTERS 16
typedef __m256d ad_vec_own_double;
typedef __m256 ad_vec_own_float;
#define AD_VEC_OP_double(op) _mm256_##op##_pd
#define AD_VEC_OP_float(op) _mm256_##op##_ps
#define AD_VEC_FMA(t, a, b, c) AD_VEC_OP_##t(fmadd)(a, b, c)
#define AD_VEC_FNMA(t, a, b, c) AD_VEC_OP_##t(fnmadd)(a, b, c)
#define AD_VEC_SQRT(t, a) AD_VEC_OP_##t(sqrt)(a)
#define AD_VEC_MAX(t, a, b) AD_VEC_OP_##t(max)(a, b)
#define AD_VEC_KEEP(t, m, a) AD_VEC_OP_##t (and)((ad_vec_own_##t)(m), a)
#define AD_VEC_BITMASK(t, m) AD_VEC_OP_##t(movemask)((ad_vec_own_##t)(m))

#elif defined(__SSE2__)
#define AD_VEC_BYTES 16
#define AD_VEC_REGISTERS 16
typedef __m128d ad_vec_own_double;
typedef __m128 ad_vec_own_float;
#define AD_VEC_OP_double(op) _mm_##op##_pd
#define AD_VEC_OP_float(op) _mm_##op##_ps
#define AD_VEC_SQRT(t, a) AD_VEC_OP_##t(sqrt)(a)
#define AD_VEC_MAX(t, a, b) AD_VEC_OP_##t(max)(a, b)
#define AD_VEC_KEEP(t, m, a) AD_VEC_OP_##t (and)((ad_vec_own_##t)(m), a)
#define AD_VEC_BITMASK(t, m) AD_VEC_OP_##t(movemask)((ad_vec_own_##t)(m))

#elif defined(__aarch64__)
#define AD_VEC_BYTES 16
#define AD_VEC_REGISTERS 32
typedef float64x2_t ad_vec_own_double;
typedef float32x4_t ad_vec_own_float;
typedef uint64x2_t ad_vec_own_bits_double;
typedef uint32x4_t ad_vec_own_bits_float;
#define AD_VEC_OP_double(op) v##op##q_f64
#define AD_VEC_OP_float(op) v##op##q_f32
#define AD_VEC_FMA(t, a, b, c) AD_VEC_OP_##t(fma)(c, a, b)
#define AD_VEC_FNMA(t, a, b, c) AD_VEC_OP_##t(fms)(c, a, b)
#define AD_VEC_SQRT(t, a) AD_VEC_OP_##t(sqrt)(a)
#define AD_VEC_RINT(t, a) AD_VEC_OP_##t(rndn)(a)
#define AD_VEC_SELECT(t, m, a, b) AD_VEC_OP_##t(bsl)((ad_vec_own_bits_##t)(m), a, b)
#define AD_VEC_BITMASK_double(m) vaddvq_u64(vandq_u64(m, (uint64x2_t){ 1, 2 }))
#define AD_VEC_BITMASK_float(m) vaddvq_u32(vandq_u32(m, (uint32x4_t){ 1, 2, 4, 8 }))
#define AD_VEC_BITMASK(t, m) AD_VEC_BITMASK_##t((ad_vec_own_bits_##t)(m))

#else
#define AD_VEC_BYTES 16
#define AD_VEC_REGISTERS 16
typedef double ad_vec_own_double __attribute__((vector_size(AD_VEC_BYTES)));
typedef float ad_vec_own_float __attribute__((vector_size(AD_VEC_BYTES)));
static inline ad_vec_own_double ad_vec_sqrt_double(ad_vec_own_double a) {
    return (ad_vec_own_double){ sqrt(a[0]), sqrt(a[1]) };
}
static inline ad_vec_own_float ad_vec_sqrt_float(ad_vec_own_float a) {
    return (ad_vec_own_float){ sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3]) };
}
#define AD_VEC_SQRT(t, a) ad_vec_sqrt_##t(a)
#define AD_VEC_BITMASK_double(m) ((m[0] ? 1U : 0) | (m[1] ? 2U : 0))
#define AD_VEC_BITMASK_float(m) (AD_VEC_BITMASK_double(m) | (m[2] ? 4U : 0) | (m[3] ? 8U : 0))
#define AD_VEC_BITMASK(t, m) AD_VEC_BITMASK_##t(m)
#endif

typedef double vec_double __attribute__((vector_size(AD_VEC_BYTES)));
typedef float vec_float __attribute__((vector_size(AD_VEC_BYTES)));
typedef int64_t vec_bits_double __attribute__((vector_size(AD_VEC_BYTES)));
typedef int32_t vec_bits_float __attribute__((vector_size(AD_VEC_BYTES)));

/* Operations that need several instructions on a set without one for them. Without mask registers a mask is a
 * vector of all-ones and zeros. Adding and subtracting 1.5 * 2^52 (2^23) removes the fraction if |a| is below 2^51
 * (2^22). */
#if !defined(AD_VEC_OWN_MASK)
typedef vec_bits_double vec_mask_double;
typedef vec_bits_float vec_mask_float;
#define AD_VEC_COMPARE(t, a, op, b, predicate) ((a)op(b))
#endif
#if !defined(AD_VEC_FMA)
#define AD_VEC_FMA(t, a, b, c) ((a) * (b) + (c))
#define AD_VEC_FNMA(t, a, b, c) ((c) - (a) * (b))
#endif
#if !defined(AD_VEC_SELECT)
#define AD_VEC_SELECT(t, m, a, b) (((m) & (vec_bits_##t)(a)) | (~(m) & (vec_bits_##t)(b)))
#endif
#if !defined(AD_VEC_KEEP)
#define AD_VEC_KEEP(t, m, a) ((m) & (vec_bits_##t)(a))
#endif
#if !defined(AD_VEC_MAX)
#define AD_VEC_MAX(t, a, b) AD_VEC_SELECT(t, (vec_mask_##t)((a) > (b)), a, b)
#endif
#if !defined(AD_VEC_RINT)
#define AD_VEC_WHOLE_double 6755399441055744.0
#define AD_VEC_WHOLE_float 12582912.0f
#define AD_VEC_RINT(t, a) (((a) + AD_VEC_WHOLE_##t) - AD_VEC_WHOLE_##t)
#endif
#if !defined(AD_VEC_REDUCE)
#define AD_VEC_REDUCE(t, a) ((a) - (ad_vec_own_##t)AD_VEC_RINT(t, a))
#endif

/* fma: a * b + c; fnma: c - a * b. max: the larger of two numbers; b where one is NaN. rint: the nearest
 * integer, halves to even; reduce: what rounding removes. select: a where the mask is set, else b, by bits, so
 * that neither value nor slope of the branch not taken (perhaps NaN) leaks through; keep: a where it is set,
 * else 0; bitmask: its lanes as bits. */
#define AD_VEC_FUNCTIONS(t)                                                                        \
    static inline vec_##t vec_fma_##t(vec_##t a, vec_##t b, vec_##t c) {                           \
        return (vec_##t)AD_VEC_FMA(t, (ad_vec_own_##t)a, (ad_vec_own_##t)b, (ad_vec_own_##t)c);    \
    }                                                                                              \
    static inline vec_##t vec_fnma_##t(vec_##t a, vec_##t b, vec_##t c) {                          \
        return (vec_##t)AD_VEC_FNMA(t, (ad_vec_own_##t)a, (ad_vec_own_##t)b, (ad_vec_own_##t)c);   \
    }                                                                                              \
    static inline vec_##t vec_sqrt_##t(vec_##t a) {                                                \
        return (vec_##t)AD_VEC_SQRT(t, (ad_vec_own_##t)a);                                         \
    }                                                                                              \
    static inline vec_##t vec_max_##t(vec_##t a, vec_##t b) {                                      \
        return (vec_##t)AD_VEC_MAX(t, (ad_vec_own_##t)a, (ad_vec_own_##t)b);                       \
    }                                                                                              \
    static inline vec_##t vec_rint_##t(vec_##t a) {                                                \
        return (vec_##t)AD_VEC_RINT(t, (ad_vec_own_##t)a);                                         \
    }                                                                                              \
    static inline vec_##t vec_reduce_##t(vec_##t a) {                                              \
        return (vec_##t)AD_VEC_REDUCE(t, (ad_vec_own_##t)a);                                       \
    }                                                                                              \
    static inline vec_##t vec_select_##t(vec_mask_##t m, vec_##t a, vec_##t b) {                   \
        return (vec_##t)AD_VEC_SELECT(t, m, (ad_vec_own_##t)a, (ad_vec_own_##t)b);                 \
    }                                                                                              \
    static inline vec_##t vec_keep_##t(vec_mask_##t m, vec_##t a) {                                \
        return (vec_##t)AD_VEC_KEEP(t, m, (ad_vec_own_##t)a);                                      \
    }                                                                                              \
    static inline unsigned vec_bitmask_##t(vec_mask_##t m) {                                       \
        return (unsigned)AD_VEC_BITMASK(t, m);                                                     \
    }                                                                                              \
    static inline vec_mask_##t vec_and_##t(vec_mask_##t a, vec_mask_##t b) {                       \
        return (vec_mask_##t)(a & b);                                                              \
    }                                                                                              \
    AD_VEC_COMPARISON(t, lt, <, _CMP_LT_OS)                                                        \
    AD_VEC_COMPARISON(t, le, <=, _CMP_LE_OS)                                                       \
    AD_VEC_COMPARISON(t, eq, ==, _CMP_EQ_OQ)
#define AD_VEC_COMPARISON(t, name, op, predicate)                                                  \
    static inline vec_mask_##t vec_##name##_##t(vec_##t a, vec_##t b) {                            \
        return (vec_mask_##t)AD_VEC_COMPARE(t, (ad_vec_own_##t)a, op, (ad_vec_own_##t)b,           \
                                            predicate);                                            \
    }
AD_VEC_FUNCTIONS(double)
AD_VEC_FUNCTIONS(float)

static inline vec_float vec_narrow(vec_double lo, vec_double hi) {
#if AD_VEC_BYTES == 64
    const __m512d low = _mm512_castps_pd(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)lo)));
    return (vec_float)_mm512_castpd_ps(
        _mm512_insertf64x4(low, _mm256_castps_pd(_mm512_cvtpd_ps((__m512d)hi)), 1));
#elif AD_VEC_BYTES == 32
    return (vec_float)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)hi), _mm256_cvtpd_ps((__m256d)lo));
#elif defined(__SSE2__)
    return (vec_float)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)lo), _mm_cvtpd_ps((__m128d)hi));
#elif defined(__aarch64__)
    return (vec_float)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)lo), (float64x2_t)hi);
#else
    return (vec_float){ (float)lo[0], (float)lo[1], (float)hi[0], (float)hi[1] };
#endif
}

/* 1/sqrt: refined from the estimate of the hardware where it has a good one. At 0 and infinity,
 * where refinement is undefined, the estimate is the result. */
#if AD_VEC_BYTES == 64
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
#define VEC_FRACTION_UNIT 0x1p-32f
static inline vec_float vec_fraction(vec_double lo, vec_double hi) {
#if AD_VEC_BYTES == 64
    const __m512i low_halves =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return VEC_FRACTION_UNIT * (vec_float)_mm512_cvtepi32_ps(
                                   _mm512_permutex2var_epi32((__m512i)lo, low_halves, (__m512i)hi));
#elif AD_VEC_BYTES == 32
    const __m256 pairs = _mm256_shuffle_ps((__m256)lo, (__m256)hi, 0x88);
    const __m256i ordered = _mm256_permute4x64_epi64((__m256i)pairs, 0xd8);
    return VEC_FRACTION_UNIT * (vec_float)_mm256_cvtepi32_ps(ordered);
#elif defined(__SSE2__)
    return VEC_FRACTION_UNIT *
           (vec_float)_mm_cvtepi32_ps((__m128i)_mm_shuffle_ps((__m128)lo, (__m128)hi, 0x88));
#elif defined(__aarch64__)
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
#if AD_VEC_BYTES == 64
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
