/* Common to all formats of reflection tables: identifiers of experiments, and memory. */
#include "io/reflections/reflection_table.h"

#include "base/context_internal.h"
#include "base/growth.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void db_reflection_table_clear(db_reflection_table *table) {
    free(table->hkl);
    free(table->position);
    free(table->box);
    free(table->panel);
    free(table->experiment);
    for (size_t i = 0; i < table->identifier_count; i++) free((char *)table->identifier[i].text);
    free(table->identifier);
    memset(table, 0, sizeof *table);
}

db_status db_table_add_identifier(db_context *context, const char *path, long long id,
                                  const char *text, size_t length, db_reflection_table *table) {
    size_t room = table->identifier_count;
    if (id < 0 || id > INT_MAX)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: identifiers: expected numbers of experiments, found %lld", path, id);
    if ((room & (room - 1)) == 0) /* it is full */
        DB_GROW(context, table->identifier, room, room + 1, path);
    char *const copy = malloc(length + 1);
    if (!copy) return db_fail_memory(context, path);
    memcpy(copy, text, length);
    copy[length] = '\0';
    table->identifier[table->identifier_count++] = (db_table_identifier){ (int)id, copy };
    return DB_OK;
}

int db_reflection_table_number(const db_reflection_table *table, int number,
                               const char *identifier) {
    for (size_t i = 0; *identifier && i < table->identifier_count; i++)
        if (strcmp(table->identifier[i].text, identifier) == 0) return table->identifier[i].id;
    return number;
}
