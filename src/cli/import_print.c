/* Prints facts about files, for people and for programs. */
#include "cli/import.h"
#include "base/shown_text.h"

#include "base/context_internal.h"

#if defined(DB_HAVE_JANSSON)
#include "base/json_memory.h"
#include "cli/json_text.h"
#endif

#include <math.h>
#include <string.h>

static void print_file(const db_imported *file) {
    const char *const unknown = file->status == DB_ERROR_FILE ? "not read" : "not understood";
    db_shown_print(stdout, "%s: %s\n", file->path, *file->kind.name ? file->kind.name : unknown);
    for (size_t i = 0; i < file->fact_count; i++) {
        char key[sizeof file->fact[i].key];
        snprintf(key, sizeof key, "%s", file->fact[i].key);
        for (char *c = key; *c; c++)
            if (*c == '_') *c = ' ';
        db_shown_print(stdout, "  %-15s %s\n", key, file->fact[i].text);
    }
    for (size_t i = 0; i < file->notice_count; i++)
        db_shown_print(stdout, "  %-15s %s\n", "NOTICE", file->notice[i]);
    if (file->status != DB_OK) db_shown_print(stdout, "  %-15s %s\n", "NOT READ", file->failure);
}

void db_import_print(const db_imported *files, size_t count, const db_import_summary *summary) {
    for (size_t i = 0; i < count; i++) print_file(&files[i]);
    for (size_t i = 0; i < summary->conflict_count; i++)
        db_shown_print(stdout, "%s%s\n",
                       i ? "                  " : "does not fit:     ", summary->conflict[i]);
    if (*summary->sim) db_shown_print(stdout, "missing for sim:  %s\n", summary->sim);
    if (*summary->fit) db_shown_print(stdout, "missing for fit:  %s\n", summary->fit);
    if (*summary->next) printf("next:\n  %s\n", summary->next);
}

#if defined(DB_HAVE_JANSSON)
/* JSON knows no NaN and no infinity: null. */
static json_t *number_of(double number) {
    static const double WHOLE = 9007199254740992.0; /* larger doubles are no counts */
    if (!isfinite(number)) return json_null();
    return number == rint(number) && fabs(number) < WHOLE ? json_integer((json_int_t)number)
                                                          : json_real(number);
}

static json_t *value_of(const db_fact *fact) {
    if (fact->count == 0) return db_json_text_of(fact->text);
    if (fact->count == 1) return number_of(fact->number[0]);
    json_t *const list = json_array();
    for (int i = 0; i < fact->count; i++) json_array_append_new(list, number_of(fact->number[i]));
    return list;
}

static json_t *holdings(unsigned found) {
    static const struct {
        unsigned bit;
        const char *name;
    } kinds[] = { { DB_HOLDS_IMAGES, "images" },
                  { DB_HOLDS_GEOMETRY, "geometry" },
                  { DB_HOLDS_CRYSTALS, "crystals" },
                  { DB_HOLDS_SPOTS, "spots" },
                  { DB_HOLDS_AMPLITUDES, "amplitudes" } };
    json_t *const list = json_array();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (found & kinds[i].bit) json_array_append_new(list, json_string(kinds[i].name));
    return list;
}

static json_t *file_object(const db_imported *file) {
    json_t *const object = json_object();
    json_object_set_new(object, "file", db_json_text_of(file->path));
    json_object_set_new(object, "kind", json_string(file->kind.label));
    json_object_set_new(object, "name", json_string(file->kind.name));
    json_object_set_new(object, "holds", holdings(file->found));
    json_t *const facts = json_object();
    for (size_t i = 0; i < file->fact_count; i++)
        json_object_set_new(facts, file->fact[i].key, value_of(&file->fact[i]));
    json_object_set_new(object, "facts", facts);
    json_t *const notices = json_array();
    for (size_t i = 0; i < file->notice_count; i++)
        json_array_append_new(notices, db_json_text_of(file->notice[i]));
    json_object_set_new(object, "notices", notices);
    json_object_set_new(object, "error",
                        file->status == DB_OK ? json_null() : db_json_text_of(file->failure));
    return object;
}

db_status db_import_write_json(db_context *context, const char *path, const db_imported *files,
                               size_t count, const db_import_summary *summary) {
    const size_t failures = db_json_failures();
    json_t *const root = json_object(), *const list = json_array(), *const conflicts = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, file_object(&files[i]));
    for (size_t i = 0; i < summary->conflict_count; i++)
        json_array_append_new(conflicts, db_json_text_of(summary->conflict[i]));
    json_object_set_new(root, "files", list);
    json_object_set_new(root, "conflicts", conflicts);
    json_object_set_new(root, "missing_for_sim", db_json_text_of(summary->sim));
    json_object_set_new(root, "missing_for_fit", db_json_text_of(summary->fit));
    json_object_set_new(root, "next", db_json_text_of(summary->next));
    const db_status status =
        db_json_write(context, path, root, JSON_INDENT(1) | JSON_PRESERVE_ORDER, failures);
    json_decref(root);
    return status;
}
#else
db_status db_import_write_json(db_context *context, const char *path, const db_imported *files,
                               size_t count, const db_import_summary *summary) {
    (void)path, (void)files, (void)count, (void)summary;
    return db_fail(context, DB_ERROR_UNSUPPORTED, "-json: this build has no jansson");
}
#endif
