#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/shots.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/path.h"
#include "base/text_reader.h"

#include <dualbragg/expert/setup_fields.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 9, KEY_SIZE = 64 };

void db_shot_list_clear(db_shot_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->line[i].words);
    free(list->line);
    free(list->path);
    *list = (db_shot_list){ 0 };
}

static db_status read_lines(db_context *context, db_text *text, db_shot_list *list) {
    while (db_text_next_line(text)) {
        db_shot_line *const grown =
            db_grown(list->line, &list->capacity, list->count + 1, sizeof *grown);
        if (!grown) return db_fail_memory(context, "a list of shots");
        list->line = grown;
        db_shot_line *const line = &list->line[list->count];
        DB_TRY(db_text_words(context, text, &line->words));
        line->number = text->line_number;
        list->count++;
    }
    if (list->count) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected shots, a line for each, found none",
                   text->path);
}

db_status db_shot_list_read(db_context *context, const char *path, db_shot_list *list) {
    db_text text = { .signs_in_words = 1 };
    *list = (db_shot_list){ .path = strdup(path) };
    if (!list->path) return db_fail_memory(context, "a list of shots");
    DB_TRY(db_text_open(context, path, &text));
    text.signs_in_words = 1; /* images of files have a # */
    const db_status status = read_lines(context, &text, list);
    db_text_close(&text);
    return status;
}

/* KEY=VALUE of a line; the key is without its group in a configuration ("model."). */
typedef struct pair {
    char key[KEY_SIZE];
    const char *value;
} pair;

typedef struct reading {
    db_context *context;
    const db_shot_list *list;
    const db_shot_line *line;
    db_setup *setup;
    long *seed;
    char **owned;
} reading;

#define fail_line(r, ...) fail_at((r), db_fail((r)->context, DB_ERROR_INPUT, __VA_ARGS__))

/* Puts file and line in front of the message. */
static db_status fail_at(const reading *r, db_status status) {
    return db_fail(r->context, status, "%s:%zu: %s", r->list->path, r->line->number,
                   db_context_message(r->context));
}

static db_status split(const reading *r, const char *word, pair *p) {
    const char *const equal = strchr(word, '=');
    const char *key = word;
    for (const char *at = word; equal && at < equal; at++)
        if (*at == '.') key = at + 1;
    const size_t length = equal ? (size_t)(equal - key) : 0;
    if (length == 0 || length >= KEY_SIZE)
        return fail_line(r, "expected KEY=VALUE, found '%.40s'", word);
    memcpy(p->key, key, length);
    p->key[length] = '\0';
    p->value = equal + 1;
    return *p->value ? DB_OK : fail_line(r, "%s: expected a value behind =", p->key);
}

static const char *behind(const char *word) { return word + strlen(word) + 1; }

/* The first of a line's pairs, behind a name. */
static const char *first_pair(const db_shot_line *line) {
    const char *const word = line->words;
    return *word && (*word == '"' || *word == '\'' || !strchr(word, '=')) ? behind(word) : word;
}

/* Numbers of "3" and "[1, 2, 3]". */
static db_status read_numbers(const reading *r, const pair *p, const db_setup_field *field,
                              double *number) {
    const char *cursor = p->value;
    int count = 0;
    for (;;) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE "[],");
        if (word.length == 0) break;
        if (count == field->count || !db_word_number(word, &number[count]))
            return fail_line(r, "%s: expected %d number%s, found '%.80s'", p->key, field->count,
                             field->count == 1 ? "" : "s", p->value);
        count++;
    }
    if (count == field->count || (field->fewest && count >= field->fewest)) {
        for (int i = count; i < field->count; i++) number[i] = NAN;
        return DB_OK;
    }
    return fail_line(r, "%s: expected %d number%s, found %d", p->key, field->count,
                     field->count == 1 ? "" : "s", count);
}

static db_status store(const reading *r, const pair *p, const db_setup_field *field,
                       const double *number) {
    char *const base = (char *)r->setup + field->offset;
    for (int i = 0; i < field->count; i++) {
        if (field->kind == DB_FIELD_NUMBER) {
            const double value = field->factor * number[i];
            memcpy(base + (size_t)i * sizeof value, &value, sizeof value);
            continue;
        }
        if (number[i] != floor(number[i]) || fabs(number[i]) > 2147483647)
            return fail_line(r, "%s: expected a whole number, found %g", p->key, number[i]);
        const int whole = (int)number[i];
        const long seed = (long)number[i];
        if (field->kind == DB_FIELD_SEED)
            memcpy(base + (size_t)i * sizeof seed, &seed, sizeof seed);
        else
            memcpy(base + (size_t)i * sizeof whole, &whole, sizeof whole);
    }
    return DB_OK;
}

static db_status store_choice(const reading *r, const pair *p, const db_setup_field *field) {
    for (int i = 0; field->choices[i]; i++)
        if (strcmp(p->value, field->choices[i]) == 0) {
            memcpy((char *)r->setup + field->offset, &i, sizeof i);
            return DB_OK;
        }
    return fail_line(r, "%s: '%.80s' is no choice of it", p->key, p->value);
}

/* Keeps the path of a file; relative names start at the list's folder. */
static db_status store_file(const reading *r, const pair *p, int place, const char **member) {
    char *const name = strdup(p->value);
    if (name) (void)db_unquote(name);
    free(r->owned[place]);
    r->owned[place] = name ? db_path_beside(r->list->path, name) : NULL;
    free(name);
    if (!r->owned[place]) return db_fail_memory(r->context, "a list of shots");
    *member = r->owned[place];
    return DB_OK;
}

/* Sets a field of the set-up; fails for fields that all shots of a file share. */
static db_status take_field(const reading *r, const pair *p, const db_setup_field *field) {
    double number[MOST_VALUES] = { 0 };
    if (field->count > MOST_VALUES || field->shared)
        return fail_line(r, "%s: all shots of a file share it; expected a flag of the command line",
                         p->key);
    if (field->kind == DB_FIELD_CHOICE) return store_choice(r, p, field);
    DB_TRY(read_numbers(r, p, field, number));
    DB_TRY(store(r, p, field, number));
    if (field == &db_setup_fields[DB_FIELD_WAVELENGTH]) r->setup->wavelength_given = 1;
    if (field == &db_setup_fields[DB_FIELD_MISSET]) r->setup->misset_random = 0;
    const db_status status =
        db_setup_field_check(r->context, r->setup, (db_setup_field_id)(field - db_setup_fields));
    return status == DB_OK ? DB_OK : fail_at(r, status);
}

static db_status take_shot_word(const reading *r, const pair *p) {
    if (strcmp(p->key, "matrix") == 0) return store_file(r, p, 0, &r->setup->matrix_file);
    if (strcmp(p->key, "spectrum") == 0) return store_file(r, p, 1, &r->setup->spectrum_file);
    if (strcmp(p->key, "misset") == 0 && strcmp(p->value, "random") == 0) {
        r->setup->misset_random = 1;
        return DB_OK;
    }
    if (strcmp(p->key, "seed") == 0) {
        const db_setup_field one = { .count = 1 };
        double number;
        DB_TRY(read_numbers(r, p, &one, &number));
        if (!(number >= 1 && number <= 2147483646 && number == floor(number)))
            return fail_line(r, "seed: expected a whole number from 1 to 2147483646, found %g",
                             number);
        *r->seed = (long)number;
        return DB_OK;
    }
    const db_setup_field *const field = db_setup_field_find(p->key);
    if (field && strcmp(field->name, p->key) != 0)
        db_notice(r->context, "%s:%zu: %s is called %s now", r->list->path, r->line->number, p->key,
                  field->name);
    if (field) return take_field(r, p, field);
    return fail_line(
        r, "%s is no key of a shot (matrix, spectrum, seed, misset, cell, fluence ...)", p->key);
}

/* An address that is the same for keys of the same meaning. */
static const void *meaning(const pair *p) {
    static const char matrix, spectrum, seed;
    return strcmp(p->key, "matrix") == 0     ? (const void *)&matrix
           : strcmp(p->key, "spectrum") == 0 ? (const void *)&spectrum
           : strcmp(p->key, "seed") == 0     ? (const void *)&seed
                                             : (const void *)db_setup_field_find(p->key);
}

/* Fails if an earlier pair of the line has the same key. */
static db_status check_single(const reading *r, const char *word, const pair *last) {
    for (const char *at = first_pair(r->line); at < word; at = behind(at)) {
        pair p;
        DB_TRY(split(r, at, &p));
        if (meaning(&p) && meaning(&p) == meaning(last))
            return fail_line(r, "%s: expected a key once in a line, found %s before", last->key,
                             strcmp(p.key, last->key) ? p.key : "it");
    }
    return DB_OK;
}

db_status db_shot_list_check(db_context *context, const db_shot_list *list, const db_setup *setup) {
    db_status status = DB_OK;
    for (size_t i = 0; i < list->count && status == DB_OK; i++) {
        db_setup own = *setup;
        char *owned[2] = { NULL, NULL };
        long seed = 0;
        status = db_shot_list_apply(context, list, i, &own, &seed, owned);
        free(owned[0]);
        free(owned[1]);
    }
    return status;
}

db_status db_shot_list_apply(db_context *context, const db_shot_list *list, size_t shot,
                             db_setup *setup, long *seed, char *owned[2]) {
    if (!list->path) return DB_OK;
    const reading r = { context, list, &list->line[shot], setup, seed, owned };
    for (const char *word = first_pair(r.line); *word; word = behind(word)) {
        pair p;
        DB_TRY(split(&r, word, &p));
        DB_TRY(check_single(&r, word, &p));
        DB_TRY(take_shot_word(&r, &p));
    }
    return DB_OK;
}
