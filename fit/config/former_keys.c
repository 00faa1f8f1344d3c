#define _POSIX_C_SOURCE 200809L
#include "fit/config/former_keys.h"

#include "base/context_internal.h"

#include <stdio.h>
#include <dualbragg/fit.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *section, *former, *now;
} renamed[] = {
    { "", "amplitudes", "intensities" },       { "model", "cells", "Ncells" },
    { "intensities", "d_min", "dmin" },        { "intensity", "known", "hkl" },
    { "intensity", "columns", "hkl_columns" }, { "intensity", "space_group", "hkl_space_group" },
};
enum { RENAMED = sizeof renamed / sizeof *renamed };

/* Text with both names in row r of the table: "model.cells" WORDS "model.Ncells" END. */
static void name_both(size_t r, const char *words, const char *end, char text[160]) {
    const char *const section = renamed[r].section, *const dot = *section ? "." : "";
    snprintf(text, 160, "%s%s%s%s%s%s%s%s", section, dot, renamed[r].former, words, section, dot,
             renamed[r].now, end);
}

/* where: place of a file, or an argument. */
static void tell_former_key(db_context *context, const char *where, size_t r) {
    char text[160];
    name_both(r, " is called ", " now", text);
    db_notice(context, "%s: %s", where, text);
}

const char *db_former_key_now(db_context *context, const char *argument, const char *section,
                              const char *key) {
    for (size_t r = 0; r < RENAMED; r++) {
        if (strcmp(renamed[r].section, section) != 0 || strcmp(renamed[r].former, key) != 0)
            continue;
        tell_former_key(context, argument, r);
        return renamed[r].now;
    }
    return key;
}

static db_status rename_key(db_context *context, const char *path, db_yaml_node *map, size_t r) {
    for (size_t i = 0; i < map->count; i++) {
        char where[DB_FIT_PATH_SIZE + 16], text[160];
        if (strcmp(map->keys[i], renamed[r].former) != 0) continue;
        snprintf(where, sizeof where, "%s:%d", path, map->items[i]->key_line);
        tell_former_key(context, map->items[i]->argument ? map->items[i]->argument : where, r);
        name_both(r, " and ", " are one key, expected one of them", text);
        if (db_yaml_find(map, renamed[r].now))
            return db_fail(context, DB_ERROR_USAGE, "%s: %s", where, text);
        char *const name = strdup(renamed[r].now);
        if (!name) return db_fail_memory(context, "a configuration");
        free(map->keys[i]);
        map->keys[i] = name;
    }
    return DB_OK;
}

/* Refuses refined structure factors: known ones are refined as intensities of shots, one or many, restrained to
 * them. */
static db_status refuse_refined_amplitudes(db_context *context, const char *path,
                                           const db_yaml_node *root) {
    const db_yaml_node *const map = db_yaml_find(root, "intensity");
    const db_yaml_node *const key =
        map && map->kind == DB_YAML_MAP ? db_yaml_find(map, "refine_amplitudes") : NULL;
    if (!key) return DB_OK;
    char where[DB_FIT_PATH_SIZE + 16];
    snprintf(where, sizeof where, "%s:%d", path, key->key_line);
    const char *const width = key->kind == DB_YAML_SCALAR ? key->text : "0.2";
    const db_yaml_node *const known = db_yaml_find(map, "hkl");
    return db_fail(
        context, DB_ERROR_USAGE,
        "%s: intensity.refine_amplitudes: structure factors are refined as intensities that "
        "shots share; expected intensity: joint, intensities: {reference: %s, "
        "reference_restraint: %s} and shots.list, a file that names the image, or many",
        key->argument ? key->argument : where,
        known && known->kind == DB_YAML_SCALAR ? known->text : "FILE", width);
}

db_status db_former_keys_rename(db_context *context, const char *path, db_yaml_node *root) {
    for (size_t r = 0; r < RENAMED; r++) {
        db_yaml_node *const map =
            *renamed[r].section ? db_yaml_find(root, renamed[r].section) : root;
        if (map && map->kind == DB_YAML_MAP) DB_TRY(rename_key(context, path, map, r));
    }
    return refuse_refined_amplitudes(context, path, root);
}
