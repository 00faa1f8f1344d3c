/* Tokens and tables of CIF files. */
#include "io/cif.h"

#include "base/context_internal.h"
#include "base/growth.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum token_kind { TOKEN_END, TOKEN_TAG, TOKEN_VALUE, TOKEN_LOOP, TOKEN_BLOCK } token_kind;

typedef struct token {
    token_kind kind;
    db_word word;
    int bare; /* not quoted: '.' and '?' have their meaning */
} token;

typedef struct scanner {
    db_context *context;
    const char *path;
    const char *start;
    const char *next;
    const char *end;
} scanner;

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static size_t line_of(const scanner *s, const char *at) {
    size_t line = 1;
    for (const char *p = s->start; p < at; p++) line += *p == '\n';
    return line;
}

static const char *end_of_line(const scanner *s, const char *from) {
    const char *const end = memchr(from, '\n', (size_t)(s->end - from));
    return end ? end : s->end;
}

static void skip_space(scanner *s) {
    while (s->next < s->end && (is_space(*s->next) || *s->next == '#'))
        s->next = *s->next == '#' ? end_of_line(s, s->next) : s->next + 1;
}

/* From a semicolon at the start of a line to the next such. */
static db_status take_text_field(scanner *s, token *t) {
    const char *const first = ++s->next;
    for (const char *line = end_of_line(s, first); line + 1 < s->end;
         line = end_of_line(s, line + 1))
        if (line[1] == ';') {
            t->word = (db_word){ first, (size_t)(line - first) };
            s->next = line + 2;
            return DB_OK;
        }
    return db_fail(s->context, DB_ERROR_INPUT,
                   "%s:%zu: expected a line with ';' at the end of this text, found none", s->path,
                   line_of(s, first));
}

/* A quoted word ends with its quote where white space follows. */
static db_status take_quoted(scanner *s, token *t) {
    const char quote = *s->next, *const first = ++s->next;
    for (const char *p = first; p < s->end && *p != '\n'; p++)
        if (*p == quote && (p + 1 == s->end || is_space(p[1]))) {
            t->word = (db_word){ first, (size_t)(p - first) };
            s->next = p + 1;
            return DB_OK;
        }
    return db_fail(s->context, DB_ERROR_INPUT, "%s:%zu: expected a closing %c, found none", s->path,
                   line_of(s, first), quote);
}

static int begins(db_word word, const char *text) {
    const size_t length = strlen(text);
    return word.length >= length && strncasecmp(word.start, text, length) == 0;
}

static void take_bare(scanner *s, token *t) {
    const char *const first = s->next;
    while (s->next < s->end && !is_space(*s->next)) s->next++;
    t->word = (db_word){ first, (size_t)(s->next - first) };
    t->bare = 1;
    if (*first == '_')
        t->kind = TOKEN_TAG;
    else if (t->word.length == 5 && begins(t->word, "loop_"))
        t->kind = TOKEN_LOOP;
    else if (begins(t->word, "data_"))
        t->kind = TOKEN_BLOCK;
}

static db_status take_token(scanner *s, token *t) {
    skip_space(s);
    *t = (token){ s->next < s->end ? TOKEN_VALUE : TOKEN_END, { s->next, 0 }, 0 };
    if (t->kind == TOKEN_END) return DB_OK;
    if (*s->next == ';' && (s->next == s->start || s->next[-1] == '\n'))
        return take_text_field(s, t);
    if (*s->next == '\'' || *s->next == '"') return take_quoted(s, t);
    take_bare(s, t);
    return DB_OK;
}

/* Lists that grow. */
typedef struct words {
    db_word *word;
    size_t count, room;
} words;

static db_status append(db_context *context, words *list, db_word word) {
    DB_GROW(context, list->word, list->room, list->count + 1, "a table of a CIF file");
    list->word[list->count++] = word;
    return DB_OK;
}

/* What stands behind "_category." in a tag; of length 0 for tags of other categories. */
static db_word item_of(db_word tag, const char *category) {
    const size_t length = strlen(category);
    if (tag.length > length + 2 && strncasecmp(tag.start + 1, category, length) == 0 &&
        tag.start[length + 1] == '.')
        return (db_word){ tag.start + length + 2, tag.length - length - 2 };
    return (db_word){ tag.start, 0 };
}

static db_word meaning(const token *t) {
    const int absent =
        t->bare && t->word.length == 1 && (*t->word.start == '.' || *t->word.start == '?');
    return absent ? (db_word){ t->word.start, 0 } : t->word;
}

/* A loop: tags, then values up to the next token of another kind, which is left in *t. */
static db_status take_loop(scanner *s, const char *category, token *t, words *items, words *values,
                           int *found) {
    size_t columns = 0;
    const char *const where = t->word.start;
    DB_TRY(take_token(s, t));
    *found = t->kind == TOKEN_TAG && item_of(t->word, category).length > 0;
    for (; t->kind == TOKEN_TAG; columns++) {
        if (*found) DB_TRY(append(s->context, items, item_of(t->word, category)));
        DB_TRY(take_token(s, t));
    }
    size_t count = 0;
    for (; t->kind == TOKEN_VALUE; count++) {
        if (*found) DB_TRY(append(s->context, values, meaning(t)));
        DB_TRY(take_token(s, t));
    }
    /* a binary section may stand for the last value at the end of the text */
    if (*found && (columns == 0 || count % columns))
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s:%zu: expected whole rows of %zu values in the loop of _%s, found %zu "
                       "values",
                       s->path, line_of(s, where), columns, category, count);
    return DB_OK;
}

static db_status take_single(scanner *s, const char *category, token *t, words *items,
                             words *values) {
    const db_word item = item_of(t->word, category);
    DB_TRY(take_token(s, t));
    if (t->kind != TOKEN_VALUE) return DB_OK; /* the value is beyond the text */
    if (item.length) {
        DB_TRY(append(s->context, items, item));
        DB_TRY(append(s->context, values, meaning(t)));
    }
    return take_token(s, t);
}

static db_status scan(scanner *s, const char *category, words *items, words *values) {
    token t;
    int blocks = 0, found = 0;
    DB_TRY(take_token(s, &t));
    while (t.kind != TOKEN_END && !found) {
        if (t.kind == TOKEN_BLOCK && blocks++ > 0) break;
        if (t.kind == TOKEN_LOOP && items->count == 0)
            DB_TRY(take_loop(s, category, &t, items, values, &found));
        else if (t.kind == TOKEN_TAG)
            DB_TRY(take_single(s, category, &t, items, values));
        else
            DB_TRY(take_token(s, &t));
    }
    return DB_OK;
}

db_status db_cif_table_read(db_context *context, const char *path, const char *start,
                            const char *end, const char *category, db_cif_table *table) {
    scanner s = { context, path, start, start, end };
    words items = { NULL, 0, 0 }, values = { NULL, 0, 0 };
    *table = (db_cif_table){ 0, 0, NULL, NULL };
    const db_status status = scan(&s, category, &items, &values);
    table->item = items.word;
    table->value = values.word;
    table->columns = items.count;
    table->rows = items.count ? values.count / items.count : 0;
    if (status != DB_OK) db_cif_table_clear(table);
    return status;
}

void db_cif_table_clear(db_cif_table *table) {
    free(table->item);
    free(table->value);
    *table = (db_cif_table){ 0, 0, NULL, NULL };
}

int db_word_is(db_word word, const char *text) {
    return word.length == strlen(text) && memcmp(word.start, text, word.length) == 0;
}

int db_cif_column(const db_cif_table *table, const char *item) {
    for (size_t c = 0; c < table->columns; c++)
        if (table->item[c].length == strlen(item) &&
            strncasecmp(table->item[c].start, item, table->item[c].length) == 0)
            return (int)c;
    return -1;
}

db_word db_cif_value(const db_cif_table *table, size_t row, int column) {
    if (column < 0 || row >= table->rows) return (db_word){ "", 0 };
    return table->value[row * table->columns + (size_t)column];
}

int db_cif_number(const db_cif_table *table, size_t row, int column, double *number) {
    db_word word = db_cif_value(table, row, column);
    for (size_t i = 0; i < word.length; i++)
        if (word.start[i] == '(') word.length = i;
    return db_word_number(word, number);
}
