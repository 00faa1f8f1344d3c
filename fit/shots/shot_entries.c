/* Lists of shots as text: a name in each line, then KEY=VALUE. */
#include "base/context_internal.h"
#include "fit/config/config_keys.h"
#include "fit/shots/shot_list.h"
#include "base/text_reader.h"

#include <stdlib.h>
#include <string.h>

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
        if (key && key->type == DB_KEY_FILE) return 1;
    }
    return 0;
}

/* Takes the quotes from around a word; 0: it has none. */
static int unquote(char *word) {
    const size_t length = strlen(word);
    if (length < 2 || !strchr("'\"", *word) || word[length - 1] != *word) return 0;
    memmove(word, word + 1, length - 2);
    word[length - 2] = '\0';
    return 1;
}

/* Names of files are relative to the list's folder. */
static db_status take_override(db_context *context, const db_text *text, char *word,
                               db_shot_entry *entry) {
    char *const equals = strchr(word, '=');
    if (!equals || equals == word)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected KEY=VALUE after the name, found '%.60s'", text->path,
                       text->line_number, word);
    const size_t key = (size_t)(equals - word);
    if (!is_file_key(word, key))
        return db_shot_entry_add(entry, word) ? DB_OK : db_fail_memory(context, text->path);
    (void)unquote(equals + 1);
    char *const file = db_name_beside(text->path, equals + 1);
    char *const whole = file ? malloc(key + strlen(file) + 2) : NULL;
    int added = 0;
    if (whole) {
        memcpy(whole, word, key + 1);
        strcpy(whole + key + 1, file);
        added = db_shot_entry_add(entry, whole);
    }
    free(file);
    free(whole);
    return added ? DB_OK : db_fail_memory(context, text->path);
}

/* The next word, ended by a zero in place; NULL: there is none. */
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

static db_status take_line(db_context *context, const db_text *text, db_fit_shot_list *list) {
    char *cursor = text->line, *word;
    DB_TRY(next_word(context, text, &cursor, &word));
    if (!word) return DB_OK;
    if (!unquote(word) && strchr(word, '='))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected an image or a configuration first, found '%.60s'",
                       text->path, text->line_number, word);
    char *const name = db_name_beside(text->path, word);
    db_shot_entry *const entry = name ? db_shot_list_add(list, name, (int)text->line_number) : NULL;
    free(name);
    if (!entry) return db_fail_memory(context, text->path);
    for (;;) {
        DB_TRY(next_word(context, text, &cursor, &word));
        if (!word) return DB_OK;
        DB_TRY(take_override(context, text, word, entry));
    }
}

db_status db_shot_list_read_text(db_context *context, const char *path, db_fit_shot_list *list) {
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    db_status status = DB_OK;
    while (status == DB_OK && db_text_next_line(&text)) status = take_line(context, &text, list);
    db_text_close(&text);
    return status;
}
