/* Instruction sets for which instances are compiled. */
#ifndef DB_BASE_COMPILED_ISAS_H
#define DB_BASE_COMPILED_ISAS_H

#if defined(DB_HAVE_AVX2)
#define DB_AVX2(X) X(avx2, DB_ISA_AVX2)
#else
#define DB_AVX2(X)
#endif
#if defined(DB_HAVE_AVX512)
#define DB_AVX512(X) X(avx512, DB_ISA_AVX512)
#else
#define DB_AVX512(X)
#endif

/* X(tag of the instance, db_isa) for each of them. */
#define DB_INSTANCES(X) X(baseline, DB_ISA_BASELINE) DB_AVX2(X) DB_AVX512(X)

#endif
