/* Structure factor lists: "h k l F" by lines. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "io/reflection_list.h"

#include <math.h>

static const double largest_index = 1e6;

static db_status parse_line(db_context *context, const db_text *text, db_listed_reflection *item) {
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

db_status db_hkl_parse(db_context *context, db_text *text, db_reflection_list *list) {
    while (db_text_next_line(text)) {
        db_listed_reflection item;
        DB_TRY(parse_line(context, text, &item));
        DB_TRY(db_reflection_list_add(context, list, item.index, item.amplitude));
    }
    if (list->count == 0)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected lines h k l F, found none",
                       text->path);
    return DB_OK;
}

db_status db_read_hkl(db_context *context, const char *path, db_structure_factors *factors) {
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    db_reflection_list list = { 0 };
    db_status status = db_hkl_parse(context, &text, &list);
    if (status == DB_OK) status = db_reflection_list_box(context, path, &list, factors);
    db_reflection_list_clear(&list);
    db_text_close(&text);
    return status;
}
