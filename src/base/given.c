#include "base/given.h"

#include "base/context_internal.h"

db_status db_need_list(db_context *context, const char *what, const void *list, size_t count) {
    if (list || count == 0) return DB_OK;
    return db_fail(context, DB_ERROR_USAGE, "%s: expected a list of %zu, found NULL", what, count);
}

db_status db_need_choice(db_context *context, const char *what, int value, int last) {
    if (value >= 0 && value <= last) return DB_OK;
    return db_fail(context, DB_ERROR_USAGE, "%s: expected a value from 0 to %d, found %d", what,
                   last, value);
}

db_status db_need_zeros(db_context *context, const char *what, const void *reserved, size_t bytes) {
    const unsigned char *const byte = reserved;
    for (size_t i = 0; i < bytes; i++)
        if (byte[i])
            return db_fail(context, DB_ERROR_USAGE,
                           "%s: expected 0 in the reserved members, found something else "
                           "(initialize structs by their INIT macro or init function)",
                           what);
    return DB_OK;
}
