#include "cli/parameter_list.h"

#include "cli/complaint.h"
#include "cli/flags.h"
#include "model/not_differentiable.h"

#include <string.h>

enum { NAME_SIZE = 64 };

static int contains(const db_parameter_list *list, db_parameter parameter) {
    for (size_t i = 0; i < list->count; i++)
        if (list->parameter[i] == parameter) return 1;
    return 0;
}

static db_status add_parameter(const char *command, db_context *context, const char *name,
                               db_parameter_list *list) {
    db_parameter parameter;
    const db_status status = db_parameter_find(context, name, &parameter);
    if (status != DB_OK && !db_not_differentiable(name) && db_flag_named(&db_grad_flags, name))
        return db_complain(command, status,
                           "-params: %s is a flag, not a parameter; dualbragg grad --list-params "
                           "lists these",
                           name);
    if (status != DB_OK)
        return db_complain(command, status, "-params: %s", db_context_message(context));
    if (contains(list, parameter))
        return db_complain(command, DB_ERROR_USAGE, "-params: %s is named twice", name);
    if (list->count == DB_MOST_LISTED_PARAMETERS)
        return db_complain(command, DB_ERROR_USAGE,
                           "-params: expected at most %d names, found one more: %s",
                           DB_MOST_LISTED_PARAMETERS, name);
    list->parameter[list->count++] = parameter;
    return DB_OK;
}

db_status db_parameter_list_read(const char *command, db_context *context,
                                 const db_experiment *experiment, const char *text,
                                 db_parameter_list *list) {
    list->count = 0;
    if (experiment->reference.on)
        return db_complain(command, DB_ERROR_UNSUPPORTED,
                           "-compat: nanoBragg's arithmetic has no derivatives: its sums depend on "
                           "the order of the samples");
    if (strcmp(text, "all") == 0) {
        for (int p = 0; p < DB_PARAMETER_COUNT; p++)
            if (db_parameter_exists(experiment, (db_parameter)p))
                list->parameter[list->count++] = (db_parameter)p;
        return DB_OK;
    }
    for (;;) {
        char name[NAME_SIZE];
        const size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof name || strcspn(text, " ") < length)
            return db_complain(command, DB_ERROR_USAGE,
                               "-params: expected names separated by commas, found '%s'", text);
        memcpy(name, text, length);
        name[length] = 0;
        const db_status status = add_parameter(command, context, name, list);
        if (status != DB_OK) return status;
        if (!text[length]) return DB_OK;
        text += length + 1;
    }
}

static void print_info(FILE *out, const char *name, const char *unit, const char *meaning) {
    fprintf(out, "%-21s %-9s %s\n", name, unit, meaning);
}

void db_parameter_list_print(FILE *out) {
    print_info(out, "parameter", "unit", "meaning");
    const db_parameter beyond[] = { db_parameter_source_weight(0), db_parameter_site_curve(0, 0, 0),
                                    db_parameter_site_curve(0, 1, 0),
                                    db_parameter_amplitude(0, 0, 0) };
    const size_t count = DB_PARAMETER_COUNT + sizeof beyond / sizeof *beyond;
    for (size_t p = 0; p < count; p++) {
        const db_parameter_info *info = db_parameter_describe(
            p < DB_PARAMETER_COUNT ? (db_parameter)p : beyond[p - DB_PARAMETER_COUNT]);
        print_info(out, info->name, info->unit, info->description);
    }
}
