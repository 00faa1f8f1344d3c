/* Reads lists of shots: text files with a name in each line, then KEY=VALUE; and experiment lists, where each
 * image of each experiment is a shot. */
#define _POSIX_C_SOURCE 200809L
#include "fit/lists/shot_entries.h"

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "base/path.h"
#include "base/text_reader.h"
#include "fit/config/config_keys.h"
#include "fit/config/config_print.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/listed_shots.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int has_ending(const char *name, const char *ending) {
    const size_t length = strlen(name), own = strlen(ending);
    return length >= own && strcmp(name + length - own, ending) == 0;
}

db_shot_entry *db_shot_entries_add(db_fit_shot_list *list, const char *name, int line) {
    if ((list->count & (list->count - 1)) == 0) { /* double the room */
        const size_t room = list->count ? 2 * list->count : 1;
        db_shot_entry *const grown = realloc(list->entry, room * sizeof *grown);
        if (!grown) return NULL;
        list->entry = grown;
    }
    db_shot_entry *const entry = &list->entry[list->count];
    memset(entry, 0, sizeof *entry);
    entry->name = strdup(name);
    if (!entry->name) return NULL;
    entry->line = line;
    entry->image = list->count;
    entry->is_config = has_ending(name, ".yaml") || has_ending(name, ".yml");
    list->count++;
    return entry;
}

int db_shot_entry_override(db_shot_entry *entry, const char *override) {
    char **const grown = realloc(entry->override, (entry->count + 1) * sizeof *grown);
    if (!grown) return 0;
    entry->override = grown;
    grown[entry->count] = strdup(override);
    return grown[entry->count] ? (int)++entry->count : 0;
}

/* Adds KEY=FILE. */
static db_status override_file(db_context *context, const char *key, const char *file,
                               db_shot_entry *entry) {
    char *setting;
    DB_TRY(db_yaml_setting(context, key, file, &setting));
    const int added = db_shot_entry_override(entry, setting);
    free(setting);
    return db_need_memory(context, added, file);
}

/* Does "key.path" name a file? */
static int is_file_key(const char *path) {
    char section[DB_FIT_NAME_SIZE] = "";
    const char *const dot = strchr(path, '.');
    const size_t before = dot ? (size_t)(dot - path) : 0;
    const char *const name = dot ? dot + 1 : path;
    if (before >= sizeof section) return 0;
    memcpy(section, path, before);
    for (int s = 0; s < DB_SECTION_COUNT; s++) {
        if (strcmp(db_config_sections[s].name, section) != 0) continue;
        const db_config_key *const key = db_config_key_find(&db_config_sections[s], name);
        if (key && key->is->kind == DB_KEY_FILE) return 1;
    }
    return 0;
}

/* Is "key.path" of the structure factors, which all shots have in common? */
static int is_of_all_shots(const char *path) {
    const char *const section = db_config_sections[DB_SECTION_INTENSITY].name;
    const size_t length = strlen(section);
    return strncmp(path, section, length) == 0 && (path[length] == '.' || !path[length]);
}

/* Reads KEY=VALUE; names of files are relative to the list's folder. */
static db_status read_override(db_context *context, const db_text *text, char *word,
                               db_shot_entry *entry) {
    char *const equals = strchr(word, '=');
    if (!equals || equals == word)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected KEY=VALUE after the name, found '%.60s'", text->path,
                       text->line_number, word);
    *equals = '\0';
    if (is_of_all_shots(word))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: %s is the same for all shots: expected it in the configuration "
                       "that names the list",
                       text->path, text->line_number, word);
    if (!is_file_key(word)) {
        *equals = '=';
        return db_need_memory(context, db_shot_entry_override(entry, word), text->path);
    }
    (void)db_unquote(equals + 1);
    char *const file = db_path_beside(text->path, equals + 1);
    const db_status status =
        file ? override_file(context, word, file, entry) : db_fail_memory(context, text->path);
    free(file);
    return status;
}

/* Cuts FILE#FIRST-LAST behind the file; 0: it is another name. */
static int cut_range(char *name, long range[2]) {
    char *const sign = strrchr(name, '#');
    const size_t first = sign ? strspn(sign + 1, "0123456789") : 0;
    if (!first || first > 9 || sign[1 + first] != '-' || access(name, F_OK) == 0) return 0;
    const char *const second = sign + 2 + first;
    const size_t last = strspn(second, "0123456789");
    if (!last || last > 9 || second[last]) return 0;
    range[0] = strtol(sign + 1, NULL, 10);
    range[1] = strtol(second, NULL, 10);
    *sign = '\0';
    return 1;
}

static db_status add_image(db_context *context, const db_text *text, const char *file, long number,
                           db_fit_shot_list *list) {
    char name[DB_FIT_PATH_SIZE + 16];
    if (snprintf(name, sizeof name, "%s#%ld", file, number) >= (int)sizeof name)
        return db_fail(context, DB_ERROR_INPUT, "%s:%zu: the name is too long", text->path,
                       text->line_number);
    return db_need_memory(context, db_shot_entries_add(list, name, (int)text->line_number),
                          text->path);
}

/* Can the file of an image, FILE or FILE#N, be read? */
static int is_there(const char *image) {
    char file[DB_FIT_PATH_SIZE];
    (void)db_frame_split(image, file, sizeof file);
    return access(file, R_OK) == 0;
}

/* Finds the image by its name, or, if the data have moved, beside the list. */
static char *find_image(const char *list, const char *name) {
    char *const named = db_path_beside(list, name);
    if (!named || is_there(named)) return named;
    char *const beside = db_path_beside(list, db_file_name(name));
    if (!beside || !is_there(beside)) {
        free(beside);
        return named;
    }
    free(named);
    return beside;
}

/* Adds the shots of an experiment, each with its number. line: of the list that names the experiment list; 0: it
 * is the list itself. */
static db_status add_experiment(db_context *context, const char *path, const db_listed_shot *shot,
                                int line, db_fit_shot_list *list) {
    char number[64];
    char *const image = find_image(path, shot->image);
    db_shot_entry *const entry =
        image ? db_shot_entries_add(list, image, line ? line : (int)shot->number) : NULL;
    free(image);
    if (!entry) return db_fail_memory(context, path);
    DB_TRY(override_file(context, "model.expt", path, entry));
    snprintf(number, sizeof number, "model.expt_number=%ld", shot->number);
    return db_need_memory(context, shot->number < 0 || db_shot_entry_override(entry, number), path);
}

/* Adds shots of an experiment list. range: first and last shot, from 1; NULL: all. */
static db_status add_experiments(db_context *context, const char *path, const long range[2],
                                 int line, db_fit_shot_list *list) {
    db_listed_shots shots;
    DB_TRY(db_list_shots(context, path, &shots));
    const size_t first = range ? (size_t)range[0] - 1 : 0,
                 end = range ? (size_t)range[1] : shots.count;
    db_status status = DB_OK;
    if (end > shots.count)
        status = db_fail(context, DB_ERROR_INPUT, "%s: expected shots from 1 to %zu, found %ld-%ld",
                         path, shots.count, range[0], range[1]);
    for (size_t i = first; i < end && status == DB_OK; i++)
        status = add_experiment(context, path, &shots.shot[i], line, list);
    db_listed_shots_clear(&shots);
    return status;
}

/* Does a line name an experiment list? Judged by the name, without opening the file. */
static int names_experiments(const char *name) {
    return has_ending(name, ".expt") || has_ending(name, ".json") || has_ending(name, ".stream");
}

/* Says which line of a list names what has failed. */
static db_status name_line(db_context *context, const db_text *text, db_status status) {
    char why[DB_FIT_PATH_SIZE];
    if (status == DB_OK) return DB_OK;
    snprintf(why, sizeof why, "%s", db_context_message(context));
    return db_fail(context, status, "%s:%zu: %s", text->path, text->line_number, why);
}

/* Adds the shot of a name, or all shots of a range. */
static db_status add_named(db_context *context, const db_text *text, char *name,
                           db_fit_shot_list *list) {
    const int line = (int)text->line_number;
    long range[2];
    const int ranged = cut_range(name, range);
    if (ranged && (range[0] < 1 || range[1] < range[0]))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected images from 1 on, the first before the last, found "
                       "%ld-%ld",
                       text->path, text->line_number, range[0], range[1]);
    if (names_experiments(name))
        return name_line(context, text,
                         add_experiments(context, name, ranged ? range : NULL, line, list));
    if (!ranged) return db_need_memory(context, db_shot_entries_add(list, name, line), text->path);
    for (long n = range[0]; n <= range[1]; n++) DB_TRY(add_image(context, text, name, n, list));
    return DB_OK;
}

/* Sets the overrides of a line for all its shots. */
static db_status set_all(db_context *context, const db_text *text, char *word, size_t first,
                         db_fit_shot_list *list) {
    if (first == list->count) return DB_OK;
    db_shot_entry *const one = &list->entry[first];
    DB_TRY(read_override(context, text, word, one));
    for (size_t i = first + 1; i < list->count; i++)
        if (!db_shot_entry_override(&list->entry[i], one->override[one->count - 1]))
            return db_fail_memory(context, text->path);
    return DB_OK;
}

static db_status read_words(db_context *context, const db_text *text, char *word,
                            db_fit_shot_list *list) {
    const size_t first = list->count;
    char *next = word + strlen(word) + 1;
    if (!db_unquote(word) && strchr(word, '='))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected an image or a configuration first, found '%.60s'",
                       text->path, text->line_number, word);
    char *const name = db_path_beside(text->path, word);
    const db_status added =
        name ? add_named(context, text, name, list) : db_fail_memory(context, text->path);
    free(name);
    DB_TRY(added);
    while (*next) {
        char *const setting = next; /* which is changed */
        next += strlen(next) + 1;
        DB_TRY(set_all(context, text, setting, first, list));
    }
    return DB_OK;
}

static db_status read_text(db_context *context, const char *path, db_fit_shot_list *list) {
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    db_status status = DB_OK;
    text.signs_in_words = 1;
    while (status == DB_OK && db_text_next_line(&text)) {
        char *words;
        status = db_text_words(context, &text, &words);
        if (status == DB_OK && *words) status = read_words(context, &text, words, list);
        free(words);
    }
    db_text_close(&text);
    return status;
}

db_status db_shot_entries_read(db_context *context, const char *path, db_fit_shot_list *list) {
    db_file_kind kind;
    DB_TRY(db_recognize_file(context, path, &kind));
    const int certain = *kind.label && !kind.uncertain;
    const int experiments =
        certain ? (kind.holds & DB_HOLDS_GEOMETRY) != 0 : names_experiments(path);
    return experiments ? add_experiments(context, path, NULL, 0, list)
                       : read_text(context, path, list);
}
