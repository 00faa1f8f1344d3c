#define _POSIX_C_SOURCE 200809L
#include "fit/config/former_keys.h"

#include "base/context_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *section, *former, *now;
} renamed[] = {
    { "", "amplitudes", "intensities" },
    { "model", "cells", "Ncells" },
    { "intensities", "d_min", "dmin" },
};

static size_t place_of_key(const db_yaml_node *map, const char *key) {
    size_t i = 0;
    while (i < map->count && strcmp(map->keys[i], key) != 0) i++;
    return i;
}

static void remove_key(db_yaml_node *map, size_t i) {
    free(map->keys[i]);
    db_yaml_free(&map->items[i]);
    map->count--;
    for (; i < map->count; i++) {
        map->keys[i] = map->keys[i + 1];
        map->key_lines[i] = map->key_lines[i + 1];
        map->items[i] = map->items[i + 1];
    }
}

/* Puts the values of a map over those of another one. */
static db_status put_over(db_context *context, db_yaml_node *over, db_yaml_node *under) {
    for (; over->count > 0; remove_key(over, over->count - 1)) {
        const size_t last = over->count - 1, i = place_of_key(under, over->keys[last]);
        db_yaml_node *const item = over->items[last];
        over->items[last] = NULL;
        if (i == under->count) {
            DB_TRY(db_yaml_append(context, under, over->keys[last], over->key_lines[last], item));
            continue;
        }
        db_yaml_free(&under->items[i]);
        under->items[i] = item;
    }
    return DB_OK;
}

/* A section that the file and the command line call by two names. */
static db_status join(db_context *context, db_yaml_node *map, size_t former, size_t now) {
    db_yaml_node **const a = &map->items[former], **const b = &map->items[now];
    db_yaml_node *const over = (*a)->argument ? *a : *b, *const under = (*a)->argument ? *b : *a;
    DB_TRY(put_over(context, over, under));
    *a = over;
    *b = under;
    remove_key(map, former);
    return DB_OK;
}

static db_status rename_key(db_context *context, const char *path, const char *section,
                            db_yaml_node *map, const char *former, const char *now) {
    const size_t i = place_of_key(map, former), other = place_of_key(map, now);
    if (i == map->count) return DB_OK;
    const int given = map->items[i]->argument != NULL;
    const char *const dot = *section ? "." : "";
    if (given)
        db_notice(context, "%s: %s%s%s is called %s%s%s now", map->items[i]->argument, section, dot,
                  former, section, dot, now);
    else
        db_notice(context, "%s:%d: %s%s%s is called %s%s%s now", path, map->key_lines[i], section,
                  dot, former, section, dot, now);
    if (other < map->count && given == (map->items[other]->argument != NULL))
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: %s%s%s and %s%s%s are one key, expected one of them", path, section,
                       dot, former, section, dot, now);
    if (other < map->count && map->items[i]->kind == DB_YAML_MAP &&
        map->items[other]->kind == DB_YAML_MAP)
        return join(context, map, i, other);
    if (other < map->count) {
        remove_key(map, given ? other : i);
        return given ? rename_key(context, path, section, map, former, now) : DB_OK;
    }
    char *const name = strdup(now);
    if (!name) return db_fail_memory(context, "a configuration");
    free(map->keys[i]);
    map->keys[i] = name;
    return DB_OK;
}

db_status db_former_keys_rename(db_context *context, const char *path, db_yaml_node *root) {
    for (size_t r = 0; r < sizeof renamed / sizeof *renamed; r++) {
        db_yaml_node *const map =
            *renamed[r].section ? db_yaml_find(root, renamed[r].section) : root;
        if (map && map->kind == DB_YAML_MAP)
            DB_TRY(rename_key(context, path, renamed[r].section, map, renamed[r].former,
                              renamed[r].now));
    }
    return DB_OK;
}
