#include "cli/parameter_list.h"

#include "cli/complaint.h"

#include <string.h>

enum { NAME_SIZE = 64 };

static int contains(const db_parameter_list *list, db_parameter parameter) {
    for (size_t i = 0; i < list->count; i++)
        if (list->parameter[i] == parameter) return 1;
    return 0;
}

static db_status add(const char *command, db_context *context, const char *name,
                     db_parameter_list *list) {
    db_parameter parameter;
    const db_status status = db_parameter_find(context, name, &parameter);
    if (status != DB_OK)
        return db_complain(command, status, "-params: %s", db_context_message(context));
    if (contains(list, parameter))
        return db_complain(command, DB_ERROR_USAGE, "-params: %s is named twice", name);
    list->parameter[list->count++] = parameter;
    return DB_OK;
}

db_status db_parameter_list_read(const char *command, db_context *context, const char *text,
                                 db_parameter_list *list) {
    list->count = 0;
    if (strcmp(text, "all") == 0) {
        for (int p = 0; p < DB_PARAMETER_COUNT; p++)
            list->parameter[list->count++] = (db_parameter)p;
        return DB_OK;
    }
    for (;;) {
        char name[NAME_SIZE];
        const size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof name)
            return db_complain(command, DB_ERROR_USAGE,
                               "-params: expected names separated by commas, found '%s'", text);
        memcpy(name, text, length);
        name[length] = 0;
        const db_status status = add(command, context, name, list);
        if (status != DB_OK) return status;
        if (!text[length]) return DB_OK;
        text += length + 1;
    }
}

void db_parameter_list_print(FILE *out) {
    fprintf(out, "%-16s %-6s %s\n", "parameter", "unit", "meaning");
    for (int p = 0; p < DB_PARAMETER_COUNT; p++) {
        const db_parameter_info *info = db_parameter_describe((db_parameter)p);
        fprintf(out, "%-16s %-6s %s\n", info->name, info->unit, info->description);
    }
}
