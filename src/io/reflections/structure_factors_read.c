/* Structure factors of whatever kind of file: MTZ, mmCIF or lines of h k l F, expanded by the space
 * group's operators where there are any; or calculated from coordinates. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "base/file_content.h"
#include "io/cif.h"
#include "io/formats.h"
#include "io/reflections/gemmi_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static db_status parse_lines(db_context *context, db_text *text, db_reflection_list *list) {
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
    db_status status = parse_lines(context, &text, &list);
    if (status == DB_OK) status = db_reflection_list_box(context, path, &list, factors);
    db_reflection_list_clear(&list);
    db_text_close(&text);
    return status;
}

typedef struct reading {
    db_context *context;
    const char *path;
    const db_structure_factor_options *options;
    char *chosen;
    size_t chosen_size;
    db_reflection_list list;
} reading;

static db_status read_text(reading *r) {
    db_text text;
    DB_TRY(db_text_open(r->context, r->path, &text));
    db_status status = parse_lines(r->context, &text, &r->list);
    db_text_close(&text);
    if (status != DB_OK || !r->options->space_group) return status;
    return db_symmetry_of_group(r->context, r->options->space_group, &r->list.symmetry);
}

/* A group that the file names, or the user. */
static db_status named_symmetry(reading *r, const char *group) {
    char reason[DB_MESSAGE_SIZE / 2];
    const db_status status = db_symmetry_of_group(r->context, group, &r->list.symmetry);
    if (status == DB_OK || status == DB_ERROR_MEMORY) return status;
    snprintf(reason, sizeof reason, "%s", db_context_message(r->context));
    return db_fail(r->context, status, "%s: %s", r->path, reason);
}

static db_status cif_symmetry(reading *r, const char *start, const char *end) {
    db_symmetry *const symmetry = &r->list.symmetry;
    static const char *const sources[][2] = { { "symmetry_equiv", "pos_as_xyz" },
                                              { "space_group_symop", "operation_xyz" } };
    if (r->options->space_group)
        return db_symmetry_of_group(r->context, r->options->space_group, symmetry);
    for (int s = 0; s < 2; s++) {
        db_cif_table table;
        DB_TRY(db_cif_table_read(r->context, r->path, start, end, sources[s][0], &table));
        const int column = db_cif_column(&table, sources[s][1]);
        db_status status = DB_OK;
        for (size_t row = 0; row < table.rows && column >= 0 && status == DB_OK; row++)
            status = db_gemmi_add_operator(r->context, r->path, db_cif_value(&table, row, column),
                                           symmetry);
        db_cif_table_clear(&table);
        if (status != DB_OK || symmetry->count) return status;
    }
    db_cif_table table;
    char name[64];
    DB_TRY(db_cif_table_read(r->context, r->path, start, end, "symmetry", &table));
    const db_word symbol = db_cif_value(&table, 0, db_cif_column(&table, "space_group_name_H-M"));
    snprintf(name, sizeof name, "%.*s", DB_WORD_ARGUMENTS(symbol));
    db_cif_table_clear(&table);
    if (*name) return named_symmetry(r, name);
    return db_fail(r->context, DB_ERROR_INPUT,
                   "%s: expected operators or a space group, found none; name the space group",
                   r->path);
}

/* The item asked for, or the first of the usual ones. */
static db_status cif_column(const reading *r, const db_cif_table *table, int *column,
                            int *squared) {
    static const char *const usual[] = { "F_meas_au", "F_meas", "F_calc_au", "F_calc",
                                         "intensity_meas" };
    const char *const wanted = r->options->columns;
    for (size_t i = 0; i < (wanted ? 1 : sizeof usual / sizeof *usual); i++) {
        const char *const item = wanted ? wanted : usual[i];
        *column = db_cif_column(table, item);
        *squared = strstr(item, "intensity") != NULL || strstr(item, "_I") != NULL;
        if (*column < 0) continue;
        snprintf(r->chosen, r->chosen_size, "%s", item);
        return DB_OK;
    }
    return db_fail(r->context, DB_ERROR_INPUT, "%s: expected %s%s in the table _refln, found none",
                   r->path, wanted ? "the item " : "F_meas_au, F_meas, F_calc or intensity_meas",
                   wanted ? wanted : "");
}

static db_status cif_rows(reading *r, const db_cif_table *table) {
    static const char *const names[3] = { "index_h", "index_k", "index_l" };
    int columns[3], amplitude = 0, squared = 0;
    for (int i = 0; i < 3; i++) columns[i] = db_cif_column(table, names[i]);
    if (columns[0] < 0 || columns[1] < 0 || columns[2] < 0)
        return db_fail(r->context, DB_ERROR_INPUT,
                       "%s: expected _refln.index_h, _k, _l in the first data block, found none",
                       r->path);
    DB_TRY(cif_column(r, table, &amplitude, &squared));
    for (size_t row = 0; row < table->rows; row++) {
        int index[3];
        double value;
        for (int i = 0; i < 3; i++) {
            if (!db_cif_number(table, row, columns[i], &value) || value != rint(value) ||
                fabs(value) > 1e6)
                return db_fail(r->context, DB_ERROR_INPUT,
                               "%s: reflection %zu: expected a whole number as %s", r->path,
                               row + 1, names[i]);
            index[i] = (int)value;
        }
        if (!db_cif_number(table, row, amplitude, &value)) continue; /* not measured */
        DB_TRY(db_reflection_list_add(r->context, &r->list, index,
                                      squared ? sqrt(fmax(0, value)) : value));
    }
    return r->list.count
               ? DB_OK
               : db_fail(r->context, DB_ERROR_INPUT, "%s: no reflection has a value", r->path);
}

static db_status read_cif(reading *r, const char *start, const char *end) {
    db_cif_table table;
    DB_TRY(cif_symmetry(r, start, end));
    DB_TRY(db_cif_table_read(r->context, r->path, start, end, "refln", &table));
    const db_status status = cif_rows(r, &table);
    db_cif_table_clear(&table);
    return status;
}

/* Of a CIF file: coordinates, not reflections? */
static db_status has_atoms(reading *r, const char *start, const char *end, int *found) {
    db_cif_table table;
    DB_TRY(db_cif_table_read(r->context, r->path, start, end, "refln", &table));
    const int has_reflections = table.rows > 0;
    db_cif_table_clear(&table);
    DB_TRY(db_cif_table_read(r->context, r->path, start, end, "atom_site", &table));
    *found = table.rows > 0 && !has_reflections;
    db_cif_table_clear(&table);
    return DB_OK;
}

static db_status read_model(reading *r, const db_file_content *content, int cif,
                            db_structure_factors *factors) {
    const db_structure_factor_options *const o = r->options;
    if (o->columns || o->space_group)
        return db_fail(
            r->context, DB_ERROR_USAGE,
            "%s: coordinates have no columns and their own space group; %s cannot be given",
            r->path, o->columns ? o->columns : o->space_group);
    if (!(o->d_min > 0 && isfinite(o->d_min)))
        return db_fail(
            r->context, DB_ERROR_USAGE,
            "%s: expected a resolution above 0 A to calculate structure factors to, found %g",
            r->path, o->d_min);
    if (!(o->k_sol >= 0 && o->k_sol <= 10 && o->b_sol >= 0 && o->b_sol <= 1e4))
        return db_fail(
            r->context, DB_ERROR_USAGE,
            "%s: expected a solvent of 0 to 10 e/A^3 with a B of 0 to 10000 A^2, found %g, %g",
            r->path, o->k_sol, o->b_sol);
    return db_gemmi_read_model(r->context, r->path, content, cif, o, factors, r->chosen,
                               r->chosen_size);
}

static db_status read_list(reading *r, const db_file_content *content, db_amplitude_file kind) {
    const db_structure_factor_options *const o = r->options;
    if (kind == DB_AMPLITUDES_MTZ) {
        if (o->space_group)
            return db_fail(r->context, DB_ERROR_USAGE,
                           "%s: an MTZ file has its own space group; %s cannot be given", r->path,
                           o->space_group);
        return db_mtz_read(r->context, r->path, content, o->columns, r->chosen, r->chosen_size,
                           &r->list);
    }
    if (kind == DB_AMPLITUDES_CIF)
        return read_cif(r, content->bytes, content->bytes + content->size);
    if (o->columns)
        return db_fail(r->context, DB_ERROR_USAGE,
                       "%s: columns %s: expected an MTZ or mmCIF file, found lines of text",
                       r->path, o->columns);
    return read_text(r);
}

static db_status read_cache(const reading *r, db_structure_factors *factors) {
    const db_structure_factor_options *const o = r->options;
    if (o->columns || o->space_group)
        return db_fail(r->context, DB_ERROR_USAGE,
                       "%s: a structure factor cache has neither columns nor a space group; %s "
                       "cannot be given",
                       r->path, o->columns ? o->columns : o->space_group);
    return db_read_structure_factor_cache(r->context, r->path, factors);
}

static db_status read_any(reading *r, const db_file_content *content,
                          db_structure_factors *factors) {
    const db_format *const format = db_format_of_content(r->path, content, DB_HOLDS_AMPLITUDES);
    const db_amplitude_file kind = format ? format->amplitudes : DB_NO_AMPLITUDES;
    int atoms = kind == DB_AMPLITUDES_PDB;
    if (format && !kind && !format->uncertain)
        return db_fail_format(r->context, r->path, format, content, DB_HOLDS_AMPLITUDES);
    if (kind == DB_AMPLITUDES_CACHE) return read_cache(r, factors);
    if (kind == DB_AMPLITUDES_CIF)
        DB_TRY(has_atoms(r, content->bytes, content->bytes + content->size, &atoms));
    if (atoms) return read_model(r, content, kind == DB_AMPLITUDES_CIF, factors);
    DB_TRY(read_list(r, content, kind));
    return db_reflection_list_box(r->context, r->path, &r->list, factors);
}

db_status db_read_structure_factors(db_context *context, const char *path,
                                    const db_structure_factor_options *options,
                                    db_structure_factors *factors, char *chosen,
                                    size_t chosen_size) {
    static const db_structure_factor_options nothing = { .columns = NULL };
    char scratch[1];
    reading r = { .context = context,
                  .path = path,
                  .options = options ? options : &nothing,
                  .chosen = chosen ? chosen : scratch,
                  .chosen_size = chosen ? chosen_size : sizeof scratch };
    db_file_content content;
    *r.chosen = '\0';
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = read_any(&r, &content, factors);
    db_file_content_clear(&content);
    db_reflection_list_clear(&r.list);
    return status;
}
