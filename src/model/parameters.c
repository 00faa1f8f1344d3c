#include <dualbragg/parameters.h>

#include "core/context_internal.h"
#include "core/nearest_name.h"

#include <string.h>

static const db_parameter_info table[DB_PARAMETER_COUNT] = {
#define DB_PARAMETER_ENTRY(id, name, member, unit, scale, moves, text)                             \
    { name, unit, text, scale, (unsigned)(moves) },
    DB_PARAMETER_LIST(DB_PARAMETER_ENTRY)
#undef DB_PARAMETER_ENTRY
};

const db_parameter_info *db_parameter_describe(db_parameter parameter) {
    return (unsigned)parameter < DB_PARAMETER_COUNT ? &table[parameter] : NULL;
}

db_status db_parameter_find(db_context *context, const char *name, db_parameter *parameter) {
    const char *names[DB_PARAMETER_COUNT];
    for (int p = 0; p < DB_PARAMETER_COUNT; p++) {
        names[p] = table[p].name;
        if (strcmp(name, names[p]) == 0) {
            *parameter = (db_parameter)p;
            return DB_OK;
        }
    }
    return db_fail(context, DB_ERROR_USAGE, "unknown parameter '%s'; the nearest known one is '%s'",
                   name, names[db_nearest_name(name, names, DB_PARAMETER_COUNT)]);
}

double db_parameter_get(const db_experiment *experiment, db_parameter parameter) {
    switch (parameter) {
#define DB_PARAMETER_GET(id, name, member, unit, scale, moves, text)                               \
    case DB_##id: return experiment->member;
        DB_PARAMETER_LIST(DB_PARAMETER_GET)
#undef DB_PARAMETER_GET
    default: return 0;
    }
}

void db_parameter_set(db_experiment *experiment, db_parameter parameter, double value) {
    switch (parameter) {
#define DB_PARAMETER_SET(id, name, member, unit, scale, moves, text)                               \
    case DB_##id: experiment->member = value; break;
        DB_PARAMETER_LIST(DB_PARAMETER_SET)
#undef DB_PARAMETER_SET
    default: break;
    }
}
