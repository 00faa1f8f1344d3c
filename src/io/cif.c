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

static int begins_with(db_word word, const char *text) {
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
    else if (t->word.length == 5 && begins_with(t->word, "loop_"))
        t->kind = TOKEN_LOOP;
    else if (begins_with(t->word, "data_"))
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

static db_status append_cell(db_context *context, words *list, db_word word) {
    DB_GROW(context, list->word, list->room, list->count + 1, "a table of a CIF file");
    list->word[list->count++] = word;
    return DB_OK;
}

/* Categories of the core dictionary that we read or that begin as one of those: its tags have no point
 * between category and item. */
static const char *const core_categories[] = { "atom_site",
                                               "atom_site_aniso",
                                               "atom_site_anisotrop",
                                               "cell",
                                               "cell_measurement",
                                               "cell_measurement_refln",
                                               "diffrn_radiation",
                                               "diffrn_radiation_wavelength",
                                               "refln",
                                               "space_group",
                                               "space_group_symop",
                                               "symmetry",
                                               "symmetry_equiv" };

/* Length of the category of a tag without a point: the longest that it begins with; 0: none. */
static size_t core_category(db_word tag) {
    size_t longest = 0;
    for (size_t i = 0; i < sizeof core_categories / sizeof *core_categories; i++) {
        const size_t length = strlen(core_categories[i]);
        if (length > longest && tag.length > length + 2 && tag.start[length + 1] == '_' &&
            strncasecmp(tag.start + 1, core_categories[i], length) == 0)
            longest = length;
    }
    return longest;
}

/* What stands behind "_category." or, in the core dictionary, "_category_" in a tag; of length 0 for
 * tags of other categories. */
static db_word item_of(db_word tag, const char *category) {
    const size_t length = strlen(category);
    const char *const point = memchr(tag.start, '.', tag.length);
    const size_t own = point ? (size_t)(point - tag.start) - 1 : core_category(tag);
    if (own == length && tag.length > length + 2 &&
        strncasecmp(tag.start + 1, category, length) == 0)
        return (db_word){ tag.start + length + 2, tag.length - length - 2 };
    return (db_word){ tag.start, 0 };
}

static db_word meaning_of_token(const token *t) {
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
        if (*found) DB_TRY(append_cell(s->context, items, item_of(t->word, category)));
        DB_TRY(take_token(s, t));
    }
    size_t count = 0;
    for (; t->kind == TOKEN_VALUE; count++) {
        if (*found) DB_TRY(append_cell(s->context, values, meaning_of_token(t)));
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
        DB_TRY(append_cell(s->context, items, item));
        DB_TRY(append_cell(s->context, values, meaning_of_token(t)));
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

db_status db_cif_block_table(db_context *context, const char *path, const char *start,
                             const db_cif_block *block, const char *category, db_cif_table *table) {
    scanner s = { context, path, start, block->start, block->end };
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

db_status db_cif_table_read(db_context *context, const char *path, const char *start,
                            const char *end, const char *category, db_cif_table *table) {
    const db_cif_block all = { .start = start, .end = end };
    return db_cif_block_table(context, path, start, &all, category, table);
}

db_status db_cif_next_block(db_context *context, const char *path, const char *start,
                            const char *end, db_cif_block *block) {
    scanner s = { context, path, start, block->end ? block->end : start, end };
    const int first = block->end == NULL;
    token t;
    *block = (db_cif_block){ .start = NULL, .end = end };
    do {
        DB_TRY(take_token(&s, &t));
        if (t.kind != TOKEN_BLOCK) continue;
        if (block->start)
            block->end = t.word.start;
        else
            *block = (db_cif_block){ t.word.start, end, { t.word.start + 5, t.word.length - 5 } };
    } while (t.kind != TOKEN_END && block->end == end);
    if (first && !block->start) block->start = start; /* a text without blocks */
    return DB_OK;
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

int db_same_word(db_word a, db_word b) {
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}
