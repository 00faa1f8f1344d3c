/* Structure factor lists: "h k l F" by lines (model.md section 16, recommended rules). */
#include <dualbragg/io.h>

#include "core/context_internal.h"
#include "io/text_reader.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct reflection {
    int index[3];
    double amplitude;
} reflection;

typedef struct reflection_list {
    reflection *items;
    size_t count, capacity;
} reflection_list;

static const double largest_index = 1e6;
static const int64_t largest_box = (int64_t)1 << 31; /* entries: 16 GiB */

/* Boxes of more than 128 MiB must be filled by the list to at least this share: even one asymmetric
 * unit of the highest symmetry fills a hundredth, a mistyped index next to nothing. */
static const int64_t small_box = (int64_t)1 << 24;
static const int64_t entries_per_line = 4096;

static db_status append(db_context *context, reflection_list *list, const reflection *item) {
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 4096;
        reflection *grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown) return db_fail_memory(context, "the structure factor list");
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = *item;
    return DB_OK;
}

static db_status parse_line(db_context *context, const db_text *text, reflection *item) {
    static const char *const names[] = { "h", "k", "l", "F" };
    const char *cursor = text->line;
    for (int column = 0; column < 4; column++) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE);
        if (word.length == 0)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected four columns h k l F, found %d", text->path,
                           text->line_number, column);
        double value;
        const int is_number = db_word_number(word, &value);
        if (column < 3 && !(is_number && value == rint(value) && fabs(value) <= largest_index))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected a whole number of at most %.0f for %s, found '%.*s'",
                           text->path, text->line_number, largest_index, names[column],
                           DB_WORD_ARGUMENTS(word));
        if (!is_number)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected a finite number for F, found '%.*s'", text->path,
                           text->line_number, DB_WORD_ARGUMENTS(word));
        if (column < 3)
            item->index[column] = (int)value;
        else
            item->amplitude = value;
    }
    return DB_OK;
}

static db_status read_list(db_context *context, db_text *text, reflection_list *list) {
    while (db_text_next_line(text)) {
        reflection item;
        DB_TRY(parse_line(context, text, &item));
        DB_TRY(append(context, list, &item));
    }
    if (list->count == 0)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected lines h k l F, found none",
                       text->path);
    return DB_OK;
}

/* The smallest box around the list, with amplitudes: default_F where nothing is listed. */
static db_status fill_box(db_context *context, const char *path, const reflection_list *list,
                          db_structure_factors *factors) {
    int low[3], high[3], extent[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = high[axis] = list->items[0].index[axis];
        for (size_t i = 1; i < list->count; i++) {
            const int index = list->items[i].index[axis];
            if (index < low[axis]) low[axis] = index;
            if (index > high[axis]) high[axis] = index;
        }
        extent[axis] = high[axis] - low[axis] + 1;
    }
    /* At most 2e6 each, so that the product of three fits into 63 bits. */
    const int64_t entries = (int64_t)extent[0] * extent[1] * extent[2];
    if (entries > largest_box ||
        (entries > small_box && entries / entries_per_line > (int64_t)list->count))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: indices h %d..%d, k %d..%d, l %d..%d make a box of %lld entries, too "
                       "large for a list of %zu (a mistyped index?)",
                       path, low[0], high[0], low[1], high[1], low[2], high[2], (long long)entries,
                       list->count);
    double *amplitude = calloc((size_t)entries, sizeof *amplitude);
    if (!amplitude) return db_fail_memory(context, "the structure factors");
    if (factors->default_F != 0)
        for (int64_t i = 0; i < entries; i++) amplitude[i] = factors->default_F;
    for (size_t i = 0; i < list->count; i++) {
        const int *index = list->items[i].index;
        amplitude[((int64_t)(index[0] - low[0]) * extent[1] + (index[1] - low[1])) * extent[2] +
                  (index[2] - low[2])] = list->items[i].amplitude;
    }
    free(factors->amplitude);
    factors->amplitude = amplitude;
    factors->listed = list->count;
    for (int axis = 0; axis < 3; axis++) {
        factors->min[axis] = low[axis];
        factors->extent[axis] = extent[axis];
    }
    return DB_OK;
}

db_status db_read_hkl(db_context *context, const char *path, db_structure_factors *factors) {
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    reflection_list list = { 0 };
    db_status status = read_list(context, &text, &list);
    if (status == DB_OK) status = fill_box(context, path, &list, factors);
    free(list.items);
    db_text_close(&text);
    return status;
}
