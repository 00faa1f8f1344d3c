/* Amplitudes of a CIF file: which block, which items of its reflections, and its symmetry. */
#include "base/context_internal.h"
#include "io/cif.h"
#include "io/reflections/amplitude_header.h"
#include "io/reflections/gemmi_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITEM = 64 };

typedef struct cif_list {
    db_amplitude_reading *reading;
    const char *start; /* of the text */
    db_cif_block block;
    db_cif_table reflections;
    char item[2 * ITEM];    /* one or two that the user names; "": none */
    const char *wavelength; /* the wavelength_id that the user names; NULL: none */
} cif_list;

/* Items of a reflection that can be read, in order of preference: measured before calculated, amplitudes before
 * intensities; with the names of mmCIF and of the core dictionary. */
typedef struct quantity {
    const char *item, *sigma;
    const char *mate, *mate_sigma; /* of the Friedel mate; NULL: the same value */
    int squared;
} quantity;
static const quantity quantities[] = {
    { "F_meas_au", "F_meas_sigma_au", NULL, NULL, 0 },
    { "F_meas", "F_meas_sigma", NULL, NULL, 0 },
    { "pdbx_F_plus", "pdbx_F_plus_sigma", "pdbx_F_minus", "pdbx_F_minus_sigma", 0 },
    { "F_squared_meas", "F_squared_sigma", NULL, NULL, 1 },
    { "intensity_meas", "intensity_sigma", NULL, NULL, 1 },
    { "pdbx_I_plus", "pdbx_I_plus_sigma", "pdbx_I_minus", "pdbx_I_minus_sigma", 1 },
    { "F_calc_au", "", NULL, NULL, 0 },
    { "F_calc", "", NULL, NULL, 0 },
    { "F_squared_calc", "", NULL, NULL, 1 },
    { "intensity_calc", "", NULL, NULL, 1 },
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

/* Columns of the table; -1: there is none. */
typedef struct columns {
    int index[3], status;
    int value[2], sigma[2]; /* of the reflection and its mate */
    int pair, squared;
} columns;

static db_status table_of(const cif_list *c, const char *category, db_cif_table *table) {
    return db_cif_block_table(c->reading->context, c->reading->path, c->start, &c->block, category,
                              table);
}

/* ---- which block */

/* Splits BLOCK/ITEM@WAVELENGTH, of which each part may be missing. */
static void read_wanted(cif_list *c) {
    const char *const named = c->reading->options->columns;
    const char *const slash = named ? strchr(named, '/') : NULL;
    const char *const item = slash ? slash + 1 : named;
    if (!item) return;
    snprintf(c->item, sizeof c->item, "%.*s", (int)strcspn(item, "@"), item);
    if (strchr(item, '@')) c->wavelength = strchr(item, '@') + 1;
}

static int is_wanted(const db_amplitude_reading *r, db_word name) {
    const char *const slash = r->options->columns ? strchr(r->options->columns, '/') : NULL;
    return !slash || ((size_t)(slash - r->options->columns) == name.length &&
                      strncmp(r->options->columns, name.start, name.length) == 0);
}

/* Chooses the only block with reflections, or the one that the user names. */
static db_status choose_block(cif_list *c, const char *end) {
    db_amplitude_reading *const r = c->reading;
    char names[240] = "";
    int found = 0, wanted = 0;
    for (db_cif_block block = { .end = NULL };;) {
        db_cif_table table;
        DB_TRY(db_cif_next_block(r->context, r->path, c->start, end, &block));
        if (!block.start) break;
        DB_TRY(db_cif_block_table(r->context, r->path, c->start, &block, "refln", &table));
        const int holds = table.rows > 0;
        db_cif_table_clear(&table);
        if (!holds) continue;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.*s", found ? ", " : "",
                 DB_WORD_ARGUMENTS(block.name));
        found++;
        if (!is_wanted(r, block.name)) continue;
        wanted++;
        c->block = block;
    }
    if (wanted == 1) return DB_OK;
    return db_fail(r->context, DB_ERROR_INPUT,
                   found == 0 ? "%s: expected a loop of _refln, found none%s"
                   : wanted   ? "%s: several data blocks have reflections: %s; choose one by "
                                "-hkl_columns BLOCK/ or BLOCK/ITEM"
                              : "%s: expected the block of -hkl_columns among those with "
                                "reflections: %s",
                   r->path, names);
}

/* ---- its symmetry */

/* A group that the file names. */
static db_status named_group(db_amplitude_reading *r, const char *name) {
    const db_status status = db_gemmi_find_group(
        r->context, name, db_cell_is_stated(r->cell) ? r->cell : NULL, &r->list.group);
    if (status == DB_OK || status == DB_ERROR_MEMORY) return status;
    return db_fail(r->context, status, "%s: %s", r->path, db_context_message(r->context));
}

static db_status take_operators(cif_list *c, const char *category, const char *item) {
    db_amplitude_reading *const r = c->reading;
    db_cif_table table;
    DB_TRY(table_of(c, category, &table));
    const int column = db_cif_column(&table, item);
    db_status status = DB_OK;
    for (size_t row = 0; row < table.rows && column >= 0 && status == DB_OK; row++)
        status = db_gemmi_add_operator(r->context, r->path, db_cif_value(&table, row, column),
                                       &r->list.group);
    db_cif_table_clear(&table);
    return status;
}

static db_status find_name(cif_list *c, char name[ITEM]) {
    static const char *const names[][2] = { { "symmetry", "space_group_name_H-M" },
                                            { "space_group", "name_H-M_alt" },
                                            { "space_group", "name_H-M_full" },
                                            { "symmetry", "Int_Tables_number" },
                                            { "space_group", "IT_number" } };
    *name = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names && !*name; i++) {
        db_cif_table table;
        DB_TRY(table_of(c, names[i][0], &table));
        const db_word symbol = db_cif_value(&table, 0, db_cif_column(&table, names[i][1]));
        snprintf(name, ITEM, "%.*s", DB_WORD_ARGUMENTS(symbol));
        db_cif_table_clear(&table);
    }
    return DB_OK;
}

static db_status take_symmetry(cif_list *c) {
    static const char *const operators[][2] = { { "symmetry_equiv", "pos_as_xyz" },
                                                { "space_group_symop", "operation_xyz" } };
    db_amplitude_reading *const r = c->reading;
    char name[ITEM];
    if (r->options->space_group) return db_amplitude_reading_take_group(r);
    for (int s = 0; s < 2 && !r->list.group.symmetry.count; s++)
        DB_TRY(take_operators(c, operators[s][0], operators[s][1]));
    DB_TRY(find_name(c, name));
    if (!r->list.group.symmetry.count && *name) return named_group(r, name);
    snprintf(r->list.group.name, sizeof r->list.group.name, "%.31s", name);
    return r->list.group.symmetry.count
               ? DB_OK
               : db_fail(r->context, DB_ERROR_INPUT,
                         "%s: expected operators or a space group, found none; name the space "
                         "group",
                         r->path);
}

static db_status take_cell(cif_list *c) {
    static const char *const items[] = { "length_a",    "length_b",   "length_c",
                                         "angle_alpha", "angle_beta", "angle_gamma" };
    db_cif_table table;
    DB_TRY(table_of(c, "cell", &table));
    db_status status = DB_OK;
    for (int i = 0; i < 6 && status == DB_OK; i++) {
        const int column = db_cif_column(&table, items[i]);
        const db_word word = db_cif_value(&table, 0, column);
        c->reading->cell[i] = NAN;
        if (word.length && !db_cif_number(&table, 0, column, &c->reading->cell[i]))
            status = db_fail(c->reading->context, DB_ERROR_INPUT,
                             "%s: _cell.%s: expected a number, found '%.*s'", c->reading->path,
                             items[i], DB_WORD_ARGUMENTS(word));
    }
    db_cif_table_clear(&table);
    return status;
}

/* Is a value the text? */
static int is_text(db_word value, const char *text) {
    return value.length == strlen(text) && memcmp(value.start, text, value.length) == 0;
}

/* The row of the wavelength: the only one, or the one that the user names; the number of rows if there is none. */
static size_t row_of_wavelength(const cif_list *c, const db_cif_table *table) {
    const int id = db_cif_column(table, "id");
    if (table->rows == 1) return 0;
    for (size_t row = 0; row < table->rows && c->wavelength; row++)
        if (is_text(db_cif_value(table, row, id), c->wavelength)) return row;
    return table->rows;
}

static db_status take_wavelength(cif_list *c) {
    static const char *const places[][2] = { { "diffrn_radiation_wavelength", "wavelength" },
                                             { "diffrn_radiation", "wavelength" } };
    double *const wavelength = &c->reading->wavelength;
    for (int i = 0; i < 2 && !(*wavelength > 0); i++) {
        db_cif_table table;
        DB_TRY(table_of(c, places[i][0], &table));
        const size_t row = row_of_wavelength(c, &table);
        if (row >= table.rows ||
            !db_cif_number(&table, row, db_cif_column(&table, places[i][1]), wavelength))
            *wavelength = NAN;
        db_cif_table_clear(&table);
    }
    return DB_OK;
}

/* ---- its reflections */

static int item_column(const cif_list *c, const char *item) {
    return item && *item ? db_cif_column(&c->reflections, item) : -1;
}

static void set_quantity(const cif_list *c, const quantity *q, columns *to) {
    to->value[0] = item_column(c, q->item);
    to->sigma[0] = item_column(c, q->sigma);
    if (strcmp(q->item, "F_meas") == 0 && to->sigma[0] < 0)
        to->sigma[0] = item_column(c, "F_sigma"); /* the core dictionary's name */
    to->pair = q->mate != NULL;
    to->value[1] = item_column(c, q->mate);
    to->sigma[1] = item_column(c, q->mate_sigma);
    to->squared = q->squared;
}

/* An item or two, as the user names them. */
static quantity named_quantity(const char *wanted, char first[ITEM]) {
    const char *const comma = strchr(wanted, ',');
    snprintf(first, ITEM, "%.*s", comma ? (int)(comma - wanted) : (int)strlen(wanted), wanted);
    for (size_t i = 0; i < QUANTITIES; i++)
        if (strcmp(quantities[i].item, first) == 0 && !comma == !quantities[i].mate)
            return quantities[i];
    return (quantity){ .item = first,
                       .mate = comma ? comma + 1 : NULL,
                       .squared = strstr(first, "intensity") || strstr(first, "squared") ||
                                  strstr(first, "_I") };
}

static db_status choose_quantity(const cif_list *c, columns *to) {
    const db_amplitude_reading *const r = c->reading;
    const char *const wanted = *c->item ? c->item : NULL;
    char first[ITEM];
    const quantity own = wanted ? named_quantity(wanted, first) : (quantity){ .item = NULL };
    for (size_t i = 0; i < (wanted ? 1 : QUANTITIES); i++) {
        const quantity *const q = wanted ? &own : &quantities[i];
        set_quantity(c, q, to);
        if (to->value[0] < 0 || (to->pair && to->value[1] < 0)) continue;
        snprintf(r->chosen, r->chosen_size, "%s%s%s%s", q->item, to->pair ? ", " : "",
                 to->pair ? q->mate : "", to->squared ? " (intensities)" : "");
        return DB_OK;
    }
    return db_fail(
        r->context, DB_ERROR_INPUT, "%s: expected %s%s in the table _refln, found none", r->path,
        wanted ? "the item " : "F_meas, F_squared_meas, intensity_meas, F_calc or the like",
        wanted ? wanted : "");
}

static db_status choose_columns(const cif_list *c, columns *to) {
    static const char *const indices[3] = { "index_h", "index_k", "index_l" };
    static const char *const status[] = { "status", "include_status", "observed_status" };
    for (int i = 0; i < 3; i++)
        if ((to->index[i] = item_column(c, indices[i])) < 0)
            return db_fail(c->reading->context, DB_ERROR_INPUT,
                           "%s: expected _refln.index_h, _k, _l, found no %s", c->reading->path,
                           indices[i]);
    to->status = -1;
    for (int i = 0; i < 3 && to->status < 0; i++) to->status = item_column(c, status[i]);
    return choose_quantity(c, to);
}

/* Status flags: o measured, f measured and of the free set; others were not observed, not reliable, or
 * beyond the limits of a refinement. */
typedef struct left_out {
    size_t count, of[256];
} left_out;

static int is_used(const cif_list *c, size_t row, const columns *from, left_out *others) {
    const db_word status = db_cif_value(&c->reflections, row, from->status);
    if (status.length != 1 || strchr("of", *status.start)) return 1;
    others->count++;
    others->of[(unsigned char)*status.start]++;
    return 0;
}

static void tell_left_out(const cif_list *c, const left_out *others) {
    char list[120] = "";
    if (!others->count) return;
    for (int s = ' ' + 1; s < 127; s++)
        if (others->of[s] && strlen(list) < sizeof list - 30)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%zu of status %c",
                     *list ? ", " : "", others->of[s], s);
    db_notice(c->reading->context,
              "%s: %zu of %zu reflections are left out, which the file does not call observed: %s",
              c->reading->path, others->count, c->reflections.rows, list);
}

static db_status fail_word(const cif_list *c, size_t row, int column, const char *expected) {
    return db_fail(c->reading->context, DB_ERROR_INPUT,
                   "%s: reflection %zu: expected a %s as %.*s, found '%.*s'", c->reading->path,
                   row + 1, expected, DB_WORD_ARGUMENTS(c->reflections.item[column]),
                   DB_WORD_ARGUMENTS(db_cif_value(&c->reflections, row, column)));
}

static db_status take_index(const cif_list *c, size_t row, const columns *from, int index[3]) {
    for (int i = 0; i < 3; i++) {
        double value;
        if (!db_cif_number(&c->reflections, row, from->index[i], &value) || value != rint(value) ||
            fabs(value) > 1e6)
            return fail_word(c, row, from->index[i], "whole number");
        index[i] = (int)value;
    }
    return DB_OK;
}

/* NAN: the file has no column of that kind, or '?' or '.' in this row. */
static db_status take_value(const cif_list *c, size_t row, int column, double *value) {
    *value = NAN;
    if (!db_cif_value(&c->reflections, row, column).length ||
        db_cif_number(&c->reflections, row, column, value))
        return DB_OK;
    return fail_word(c, row, column, "number");
}

static db_status take_row(const cif_list *c, size_t row, const columns *from) {
    int index[3];
    DB_TRY(take_index(c, row, from, index));
    for (int mate = from->pair; mate >= 0; mate--) {
        db_listed_reflection item;
        DB_TRY(take_value(c, row, from->value[mate], &item.value));
        DB_TRY(take_value(c, row, from->sigma[mate], &item.sigma));
        if (isnan(item.value)) continue; /* not measured */
        for (int i = 0; i < 3; i++) item.index[i] = mate ? -index[i] : index[i];
        DB_TRY(db_reflection_list_add(c->reading->context, &c->reading->list, &item));
    }
    return DB_OK;
}

/* The first value of a column that differs from row 0; row 0's own value if all are equal. */
static db_word other_value(const cif_list *c, int column) {
    const db_word first = db_cif_value(&c->reflections, 0, column);
    for (size_t row = 1; row < c->reflections.rows; row++) {
        const db_word own = db_cif_value(&c->reflections, row, column);
        if (own.length != first.length || memcmp(own.start, first.start, own.length) != 0)
            return own;
    }
    return first;
}

/* Reflections of several crystals are one list to us. */
static void tell_crystals(const cif_list *c) {
    const int column = item_column(c, "crystal_id");
    if (other_value(c, column).start != db_cif_value(&c->reflections, 0, column).start)
        db_notice(c->reading->context,
                  "%s: reflections differ by crystal_id, which is not looked at: all are averaged",
                  c->reading->path);
}

/* Fails unless one wavelength is chosen: amplitudes of several wavelengths differ. */
static db_status check_wavelengths(const cif_list *c) {
    const db_amplitude_reading *const r = c->reading;
    const int column = item_column(c, "wavelength_id");
    const db_word first = db_cif_value(&c->reflections, 0, column), other = other_value(c, column);
    size_t row = 0;
    if (!c->wavelength && other.start == first.start) return DB_OK;
    if (!c->wavelength)
        return db_fail(r->context, DB_ERROR_INPUT,
                       "%s: reflections of several wavelengths (wavelength_id %.*s, %.*s ...); "
                       "choose one by -hkl_columns @%.*s or BLOCK/ITEM@%.*s",
                       r->path, DB_WORD_ARGUMENTS(first), DB_WORD_ARGUMENTS(other),
                       DB_WORD_ARGUMENTS(first), DB_WORD_ARGUMENTS(first));
    while (row < c->reflections.rows &&
           !is_text(db_cif_value(&c->reflections, row, column), c->wavelength))
        row++;
    if (row < c->reflections.rows) return DB_OK;
    return db_fail(r->context, DB_ERROR_INPUT,
                   "%s: expected reflections of wavelength_id %s, found none", r->path,
                   c->wavelength);
}

static db_status take_rows(const cif_list *c) {
    db_amplitude_reading *const r = c->reading;
    columns from = { .pair = 0 };
    left_out others = { .count = 0 };
    DB_TRY(choose_columns(c, &from));
    DB_TRY(check_wavelengths(c));
    const int wavelength = item_column(c, "wavelength_id");
    for (size_t row = 0; row < c->reflections.rows; row++) {
        if (c->wavelength &&
            !is_text(db_cif_value(&c->reflections, row, wavelength), c->wavelength))
            continue;
        if (is_used(c, row, &from, &others)) DB_TRY(take_row(c, row, &from));
    }
    tell_left_out(c, &others);
    tell_crystals(c);
    r->list.squared = from.squared;
    return r->list.count
               ? DB_OK
               : db_fail(r->context, DB_ERROR_INPUT, "%s: no reflection has a value", r->path);
}

db_status db_cif_list_read(db_amplitude_reading *reading, const db_file_content *content) {
    cif_list c = { .reading = reading, .start = content->bytes };
    read_wanted(&c);
    DB_TRY(choose_block(&c, content->bytes + content->size));
    DB_TRY(take_cell(&c));
    DB_TRY(take_wavelength(&c));
    DB_TRY(take_symmetry(&c));
    DB_TRY(table_of(&c, "refln", &c.reflections));
    const db_status status = take_rows(&c);
    db_cif_table_clear(&c.reflections);
    return status;
}
