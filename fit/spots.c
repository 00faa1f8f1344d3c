/* Lists of reflections that get shoeboxes. */
#include "core/context_internal.h"
#include "io/reflection_table.h"
#include "io/text_reader.h"

#include <dualbragg/fit.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_status append(db_context *context, db_fit_spots *spots, size_t *room,
                        const db_fit_spot *spot) {
    if (spots->count == *room) {
        const size_t more = *room ? 2 * *room : 256;
        db_fit_spot *const grown = realloc(spots->spot, more * sizeof *grown);
        if (!grown) return db_fail_memory(context, "the list of spots");
        spots->spot = grown;
        *room = more;
    }
    spots->spot[spots->count++] = *spot;
    return DB_OK;
}

/* Numbers of a line; those beyond the third are passed over. */
static int numbers_of(const char *line, double value[3]) {
    int count = 0;
    while (count < 3) {
        const db_word word = db_next_word(&line, DB_WHITE_SPACE ",");
        if (word.length == 0 || !db_word_number(word, &value[count])) break;
        count++;
    }
    return count;
}

static db_status read_line(db_context *context, const db_text *text, int by_position,
                           db_fit_spot *spot) {
    double value[3] = { 0, 0, 0 };
    const int count = numbers_of(text->line, value);
    const int whole = value[0] == rint(value[0]) && value[1] == rint(value[1]);
    const int third = value[2] == rint(value[2]) && fabs(value[2]) < 1e6;
    if (!by_position &&
        !(count == 3 && whole && third && fabs(value[0]) < 1e6 && fabs(value[1]) < 1e6))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected three whole numbers h k l, found '%.40s'", text->path,
                       text->line_number, text->line);
    if (by_position && !(count >= 2 && third && value[2] >= 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected fast slow, and perhaps the number of a panel, found "
                       "'%.40s'",
                       text->path, text->line_number, text->line);
    *spot = (db_fit_spot){ .position = { value[0], value[1] }, .panel = 0 };
    if (by_position)
        spot->panel = (size_t)value[2];
    else
        for (int i = 0; i < 3; i++) spot->hkl[i] = (int)value[i];
    return DB_OK;
}

static db_status read_list(db_context *context, db_text *text, db_fit_spots *spots) {
    size_t room = 0;
    while (db_text_next_line(text)) {
        db_fit_spot spot;
        DB_TRY(read_line(context, text, spots->by_position, &spot));
        DB_TRY(append(context, spots, &room, &spot));
    }
    if (spots->count) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected lines of reflections, found none",
                   text->path);
}

static db_status missing_column(db_context *context, const char *path, const char *columns) {
    return db_fail(context, DB_ERROR_INPUT, "%s: expected a reflection table with %s", path,
                   columns);
}

/* Which experiment's reflections count, unless that is given: the only one there is. */
static db_status choose_experiment(db_context *context, const char *path,
                                   const db_reflection_table *table, int *experiment) {
    int least = INT_MAX, most = -1;
    if (!table->experiment || *experiment >= 0) return DB_OK;
    for (size_t i = 0; i < table->count; i++) {
        const int id = table->experiment[i];
        if (id < 0) continue;
        least = id < least ? id : least;
        most = id > most ? id : most;
    }
    if (most > least)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: reflections of experiments %d to %d; expected those of one, or an "
                       "experiment list that says which",
                       path, least, most);
    *experiment = most;
    return DB_OK;
}

/* Whether a row of the table counts, and what of it. */
static db_status take_row(db_context *context, const char *path, const db_reflection_table *table,
                          size_t row, int by_position, db_fit_spot *spot, int *counts) {
    *spot = (db_fit_spot){ .panel = 0 };
    if (!by_position) {
        memcpy(spot->hkl, table->hkl[row], sizeof spot->hkl);
        *counts = spot->hkl[0] || spot->hkl[1] || spot->hkl[2];
        return DB_OK;
    }
    spot->panel = table->panel[row];
    for (int i = 0; i < 2; i++) spot->position[i] = table->position[row][i];
    *counts = 1;
    if (isfinite(spot->position[0]) && isfinite(spot->position[1]) && spot->panel < 1000000)
        return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: row %zu: position %g %g on panel %zu", path, row,
                   spot->position[0], spot->position[1], spot->panel);
}

static db_status read_table(db_context *context, const char *path, const db_reflection_table *table,
                            int experiment, db_fit_spots *spots) {
    size_t room = 0;
    if (!spots->by_position && !table->hkl)
        return missing_column(context, path, "miller_index (of indexed reflections)");
    if (spots->by_position && !(table->position && table->panel))
        return missing_column(context, path, "xyzobs.px.value and panel (of observed spots)");
    DB_TRY(choose_experiment(context, path, table, &experiment));
    for (size_t i = 0; i < table->count; i++) {
        db_fit_spot spot;
        int counts;
        if (table->experiment && table->experiment[i] != experiment) continue;
        DB_TRY(take_row(context, path, table, i, spots->by_position, &spot, &counts));
        if (counts) DB_TRY(append(context, spots, &room, &spot));
    }
    if (spots->count) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected reflections of experiment %d, found none",
                   path, experiment);
}

static db_status read_reflections(db_context *context, const char *path,
                                  const db_file_content *content, int experiment,
                                  db_fit_spots *spots) {
    db_reflection_table table;
    DB_TRY(db_reflection_table_read(context, path, content, &table));
    const db_status status = read_table(context, path, &table, experiment, spots);
    db_reflection_table_clear(&table);
    return status;
}

static db_status read_text(db_context *context, const char *path, db_fit_spots *spots) {
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    const db_status status = read_list(context, &text, spots);
    db_text_close(&text);
    return status;
}

static int by_hkl(const void *a, const void *b) {
    const db_fit_spot *const x = a, *const y = b;
    for (int i = 0; i < 3; i++)
        if (x->hkl[i] != y->hkl[i]) return x->hkl[i] < y->hkl[i] ? -1 : 1;
    return 0;
}

db_status db_fit_spots_read(db_context *context, const char *path, int by_position, int experiment,
                            db_fit_spots *spots) {
    db_file_content content;
    *spots = (db_fit_spots){ .by_position = by_position };
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = db_is_reflection_table(&content)
                                 ? read_reflections(context, path, &content, experiment, spots)
                                 : read_text(context, path, spots);
    db_file_content_clear(&content);
    if (status != DB_OK)
        db_fit_spots_clear(spots);
    else if (!by_position)
        qsort(spots->spot, spots->count, sizeof *spots->spot, by_hkl);
    return status;
}

void db_fit_spots_clear(db_fit_spots *spots) {
    free(spots->spot);
    memset(spots, 0, sizeof *spots);
}
