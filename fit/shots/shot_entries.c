/* Lists of shots: text files, a name in each line, then KEY=VALUE; and DIALS experiment lists, of
 * which each experiment is a shot. */
#include "fit/shots/shot_entries.h"

#include "base/context_internal.h"
#include "base/json_reader.h"
#include "base/path.h"
#include "base/text_reader.h"
#include "fit/config/config_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *db_copy_text(const char *text) {
    char *const copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

static int has_ending(const char *name, const char *ending) {
    const size_t length = strlen(name), own = strlen(ending);
    return length >= own && strcmp(name + length - own, ending) == 0;
}

db_shot_entry *db_shot_entries_add(db_fit_shot_list *list, const char *name, int line) {
    if ((list->count & (list->count - 1)) == 0) { /* room doubles */
        const size_t room = list->count ? 2 * list->count : 1;
        db_shot_entry *const grown = realloc(list->entry, room * sizeof *grown);
        if (!grown) return NULL;
        list->entry = grown;
    }
    db_shot_entry *const entry = &list->entry[list->count];
    memset(entry, 0, sizeof *entry);
    entry->name = db_copy_text(name);
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
    grown[entry->count] = db_copy_text(override);
    return grown[entry->count] ? (int)++entry->count : 0;
}

/* End of a word: white space outside brackets and quotes. NULL: one of them stays open. */
static const char *end_of_word(const char *at) {
    int depth = 0;
    char quote = '\0';
    for (; *at; at++) {
        if (quote) {
            if (*at == quote) quote = '\0';
        } else if (*at == '\'' || *at == '"') {
            quote = *at;
        } else if (strchr("[{", *at)) {
            depth++;
        } else if (strchr("]}", *at)) {
            depth--;
        } else if (depth <= 0 && strchr(DB_WHITE_SPACE, *at)) {
            break;
        }
    }
    return quote || depth > 0 ? NULL : at;
}

/* Does "key.path" name a file? */
static int is_file_key(const char *path, size_t length) {
    char section[DB_FIT_NAME_SIZE] = "", name[DB_FIT_NAME_SIZE];
    const char *const dot = memchr(path, '.', length);
    const size_t before = dot ? (size_t)(dot - path) : 0, from = dot ? before + 1 : 0;
    if (before >= sizeof section || length - from >= sizeof name) return 0;
    memcpy(section, path, before);
    memcpy(name, path + from, length - from);
    name[length - from] = '\0';
    for (int s = 0; s < DB_SECTION_COUNT; s++) {
        if (strcmp(db_config_sections[s].name, section) != 0) continue;
        const db_config_key *const key = db_config_key_find(&db_config_sections[s], name);
        if (key && key->is->kind == DB_KEY_FILE) return 1;
    }
    return 0;
}

/* Removes the quotes around a word; 0: it has none. */
static int unquote(char *word) {
    const size_t length = strlen(word);
    if (length < 2 || !strchr("'\"", *word) || word[length - 1] != *word) return 0;
    memmove(word, word + 1, length - 2);
    word[length - 2] = '\0';
    return 1;
}

/* Names of files are relative to the list's folder. */
static db_status read_override(db_context *context, const db_text *text, char *word,
                               db_shot_entry *entry) {
    char *const equals = strchr(word, '=');
    if (!equals || equals == word)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected KEY=VALUE after the name, found '%.60s'", text->path,
                       text->line_number, word);
    const size_t key = (size_t)(equals - word);
    if (!is_file_key(word, key))
        return db_shot_entry_override(entry, word) ? DB_OK : db_fail_memory(context, text->path);
    (void)unquote(equals + 1);
    char *const file = db_path_beside(text->path, equals + 1);
    char *const whole = file ? malloc(key + strlen(file) + 2) : NULL;
    int added = 0;
    if (whole) {
        memcpy(whole, word, key + 1);
        strcpy(whole + key + 1, file);
        added = db_shot_entry_override(entry, whole);
    }
    free(file);
    free(whole);
    return added ? DB_OK : db_fail_memory(context, text->path);
}

/* The next word, terminated in place; NULL: there is none. */
static db_status next_word(db_context *context, const db_text *text, char **cursor, char **word) {
    char *const start = *cursor + strspn(*cursor, DB_WHITE_SPACE);
    *word = NULL;
    if (!*start) return DB_OK;
    const char *const end = end_of_word(start);
    if (!end)
        return db_fail(context, DB_ERROR_INPUT, "%s:%zu: a bracket or quote stays open in '%.60s'",
                       text->path, text->line_number, start);
    *cursor = start + (end - start);
    if (**cursor) *(*cursor)++ = '\0';
    *word = start;
    return DB_OK;
}

/* FILE#FIRST-LAST: cuts the name behind the file; 0: it is another name. */
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
    return db_shot_entries_add(list, name, (int)text->line_number)
               ? DB_OK
               : db_fail_memory(context, text->path);
}

/* Adds the shot of a name, or all those of a range. */
static db_status add_named(db_context *context, const db_text *text, char *name,
                           db_fit_shot_list *list) {
    long range[2];
    if (!cut_range(name, range))
        return db_shot_entries_add(list, name, (int)text->line_number)
                   ? DB_OK
                   : db_fail_memory(context, text->path);
    if (range[0] < 1 || range[1] < range[0])
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected images from 1 on, the first before the last, found "
                       "%ld-%ld",
                       text->path, text->line_number, range[0], range[1]);
    for (long n = range[0]; n <= range[1]; n++) DB_TRY(add_image(context, text, name, n, list));
    return DB_OK;
}

/* Shots of one line have the same settings. */
static db_status share_overrides(db_context *context, const db_text *text, size_t first,
                                 db_fit_shot_list *list) {
    for (size_t i = first + 1; i < list->count; i++)
        for (size_t k = 0; k < list->entry[first].count; k++)
            if (!db_shot_entry_override(&list->entry[i], list->entry[first].override[k]))
                return db_fail_memory(context, text->path);
    return DB_OK;
}

static db_status read_line(db_context *context, const db_text *text, db_fit_shot_list *list) {
    const size_t first = list->count;
    char *cursor = text->line;
    char *word;
    DB_TRY(next_word(context, text, &cursor, &word));
    if (!word) return DB_OK;
    if (!unquote(word) && strchr(word, '='))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected an image or a configuration first, found '%.60s'",
                       text->path, text->line_number, word);
    char *const name = db_path_beside(text->path, word);
    const db_status added =
        name ? add_named(context, text, name, list) : db_fail_memory(context, text->path);
    free(name);
    DB_TRY(added);
    for (;;) {
        DB_TRY(next_word(context, text, &cursor, &word));
        if (!word) return share_overrides(context, text, first, list);
        DB_TRY(read_override(context, text, word, &list->entry[first]));
    }
}

static db_status read_text(db_context *context, const char *path, db_fit_shot_list *list) {
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    db_status status = DB_OK;
    text.signs_in_words = 1;
    while (status == DB_OK && db_text_next_line(&text)) status = read_line(context, &text, list);
    db_text_close(&text);
    return status;
}

/* An image of a template such as shot_#####.cbf: its number, from 0, with at least as many digits
 * as there are signs. */
static char *fill_template(const char *pattern, long number) {
    char digits[24];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%ld", number);
    const size_t first = strcspn(pattern, "#"), signs = strspn(pattern + first, "#");
    const size_t zeros = signs > length ? signs - length : 0;
    char *const name = malloc(strlen(pattern) + length + 1);
    if (!name) return NULL;
    strcpy(name, pattern);
    if (signs == 0) return name;
    memset(name + first, '0', zeros);
    strcpy(name + first + zeros, digits);
    strcat(name + first + zeros + length, pattern + first + signs);
    return name;
}

/* The first image of a scan; -1 without one. */
static db_status first_number(const db_json *root, const db_json *experiment, long *number) {
    const db_json reference = db_json_member(experiment, "scan"),
                  scans = db_json_member(root, "scan");
    *number = -1;
    if (!json_is_integer(reference.value)) return DB_OK;
    const db_json scan = db_json_element(&scans, (size_t)json_integer_value(reference.value)),
                  range = db_json_member(&scan, "image_range"), first = db_json_element(&range, 0);
    if (!first.value) return DB_OK;
    *number = (long)json_integer_value(first.value);
    return json_is_integer(first.value) && *number >= 0
               ? DB_OK
               : db_json_fail(&first, "the number of an image, from 0");
}

/* An image as a list names it. */
typedef struct listed_image {
    char *name; /* owned */
    long frame; /* of the file, from 1; 0: the file is the image */
} listed_image;

/* Image `number` (from 1) of a sequence: in a file of its own, or in one that holds them all. */
static db_status in_sequence(const db_json *set, const char *pattern, long number,
                             listed_image *image) {
    const db_json indices = db_json_member(set, "single_file_indices");
    const size_t count = json_array_size(indices.value);
    image->name = fill_template(pattern, number);
    if (!image->name) return db_fail_memory(set->context, set->path);
    if (count == 0 || strchr(pattern, '#')) return DB_OK;
    image->frame = number;
    for (size_t i = 0; i < count; i++)
        if (json_integer_value(json_array_get(indices.value, i)) == number - 1) return DB_OK;
    return db_fail(
        set->context, DB_ERROR_INPUT,
        "%s: %s: expected the index %ld of image %ld, which a scan has, found %zu others",
        set->path, indices.place, number - 1, number, count);
}

/* Which of a set's images an experiment shows: where several experiments share the set, they take one
 * after the other. */
static db_status place_in_set(const db_json *root, const db_json *reference, size_t number,
                              size_t count, size_t *place) {
    const db_json experiments = db_json_member(root, "experiment");
    const json_int_t own = json_integer_value(reference->value);
    size_t sharing = 0;
    *place = 0;
    for (size_t i = 0; i < json_array_size(experiments.value); i++) {
        const json_t *const set = json_object_get(json_array_get(experiments.value, i), "imageset");
        if (!json_is_integer(set) || json_integer_value(set) != own) continue;
        if (i < number) (*place)++;
        sharing++;
    }
    if (count <= 1 || sharing == 1) *place = 0;
    if (count <= 1 || sharing == 1 || sharing == count) return DB_OK;
    return db_fail(root->context, DB_ERROR_INPUT,
                   "%s: %s: %zu experiments share a set of %zu images; expected one for each, or "
                   "sequences, whose scans say which",
                   root->path, reference->place, sharing, count);
}

static db_status in_set(const db_json *root, const db_json *reference, const db_json *set,
                        size_t number, listed_image *image) {
    const db_json images = db_json_member(set, "images"),
                  indices = db_json_member(set, "single_file_indices");
    size_t place;
    DB_TRY(place_in_set(root, reference, number, json_array_size(images.value), &place));
    const char *const name = json_string_value(json_array_get(images.value, place));
    if (!name) return db_json_fail(&images, "a list of images");
    const json_t *const index = json_array_get(indices.value, place);
    if (index) image->frame = (long)json_integer_value(index) + 1;
    if (index && (!json_is_integer(index) || image->frame < 1))
        return db_json_fail(&indices, "numbers of images in their file, from 0");
    image->name = db_copy_text(name);
    return image->name ? DB_OK : db_fail_memory(root->context, root->path);
}

/* The image of experiment `number`, the first of its scan; the caller frees its name. */
static db_status image_of(const db_json *root, const db_json *experiment, size_t number,
                          listed_image *image) {
    const db_json reference = db_json_member(experiment, "imageset"),
                  sets = db_json_member(root, "imageset");
    long first;
    *image = (listed_image){ .name = NULL };
    if (!json_is_integer(reference.value)) return db_json_fail(&reference, "the number of a set");
    const db_json set = db_json_element(&sets, (size_t)json_integer_value(reference.value));
    const char *const pattern = db_json_text(&set, "template");
    DB_TRY(first_number(root, experiment, &first));
    const db_status status = pattern ? in_sequence(&set, pattern, first < 0 ? 1 : first, image)
                                     : in_set(root, &reference, &set, number, image);
    if (status != DB_OK) free(image->name);
    return status;
}

/* Finds the image: as named or, if the data have moved, beside the list. */
static char *find_image(const char *list, const char *name) {
    char *const named = db_path_beside(list, name);
    if (!named || access(named, R_OK) == 0) return named;
    char *const beside = db_path_beside(list, db_file_name(name));
    if (!beside || access(beside, R_OK) != 0) {
        free(beside);
        return named;
    }
    free(named);
    return beside;
}

static db_status add_experiment(const db_json *root, const db_json *experiments, size_t number,
                                db_fit_shot_list *list) {
    const db_json experiment = db_json_element(experiments, number);
    listed_image listed;
    char override[2 * DB_FIT_PATH_SIZE], frame[32] = "";
    DB_TRY(image_of(root, &experiment, number, &listed));
    char *const file = listed.name ? find_image(root->path, listed.name) : NULL;
    free(listed.name);
    if (listed.frame > 0) snprintf(frame, sizeof frame, "#%ld", listed.frame);
    char *const image = file ? malloc(strlen(file) + sizeof frame) : NULL;
    if (image) strcat(strcpy(image, file), frame);
    free(file);
    db_shot_entry *const entry = image ? db_shot_entries_add(list, image, (int)number) : NULL;
    free(image);
    int whole = entry != NULL;
    if (whole) {
        snprintf(override, sizeof override, "model.expt=%s", root->path);
        whole = db_shot_entry_override(entry, override);
        snprintf(override, sizeof override, "model.expt_number=%zu", number);
        whole = whole && db_shot_entry_override(entry, override);
    }
    return whole ? DB_OK : db_fail_memory(root->context, root->path);
}

static db_status read_expt(db_context *context, const char *path, db_fit_shot_list *list) {
    json_t *document = NULL;
    db_json root;
    DB_TRY(db_json_open(context, path, &document, &root));
    const db_json experiments = db_json_member(&root, "experiment");
    db_status status = DB_OK;
    if (!json_is_array(experiments.value)) status = db_json_fail(&experiments, "a list");
    for (size_t i = 0; i < json_array_size(experiments.value) && status == DB_OK; i++)
        status = add_experiment(&root, &experiments, i, list);
    json_decref(document);
    return status;
}

db_status db_shot_entries_read(db_context *context, const char *path, db_fit_shot_list *list) {
    const int is_expt = has_ending(path, ".expt") || has_ending(path, ".json");
    return is_expt ? read_expt(context, path, list) : read_text(context, path, list);
}
