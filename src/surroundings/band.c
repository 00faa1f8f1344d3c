#include "surroundings/band.h"

#include "base/compiled_isas.h"

#define DECLARE(isa, number) extern const db_background_rows db_background_rows_##isa;
DB_INSTANCES(DECLARE)

const db_background_rows *db_background_rows_of(const db_context *context) {
    static const db_background_rows *const instance[DB_ISA_COUNT] = {
#define ENTRY(isa, number) [number] = &db_background_rows_##isa,
        DB_INSTANCES(ENTRY)
    };
    return instance[context->isa];
}
