#include "surroundings/band.h"

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
#define DB_INSTANCES(X) X(baseline, DB_ISA_BASELINE) DB_AVX2(X) DB_AVX512(X)

#define DECLARE(isa, number) extern const db_background_rows db_background_rows_##isa;
DB_INSTANCES(DECLARE)

const db_background_rows *db_background_rows_of(const db_context *context) {
    static const db_background_rows *const instance[DB_ISA_COUNT] = {
#define ENTRY(isa, number) [number] = &db_background_rows_##isa,
        DB_INSTANCES(ENTRY)
    };
    return instance[context->isa];
}
