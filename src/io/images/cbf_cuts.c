/* Arrays of CBF files, and the panels into which tables cut them. */
#include "io/images/cbf_cuts.h"

#include "base/context_internal.h"
#include "base/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 4096 };

typedef db_cbf_cut cut;
typedef db_cbf_arrays decoding;

static db_status read_tables(decoding *d) {
    const struct {
        const char *category;
        db_cif_table *table;
    } tables[] = { { "diffrn_data_frame", &d->data_frame },
                   { "array_structure_list", &d->list },
                   { "array_structure_list_section", &d->section },
                   { "array_intensities", &d->intensities } };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        DB_TRY(db_cif_table_read(d->context, d->path, d->content->bytes, d->text_end,
                                 tables[i].category, tables[i].table));
    return DB_OK;
}

/* The array in a binary section; length 0: no table names it. */
static db_word array_of(const db_cbf_arrays *d, long long binary_id) {
    const db_cif_table *const tables[] = { &d->data_frame, &d->intensities };
    for (int t = 0; t < 2; t++) {
        const int id = db_cif_column(tables[t], "binary_id"),
                  array = db_cif_column(tables[t], "array_id");
        for (size_t row = 0; row < tables[t]->rows; row++) {
            double number = 1;
            db_cif_number(tables[t], row, id, &number);
            if (number == (double)binary_id) return db_cif_value(tables[t], row, array);
        }
    }
    return (db_word){ "", 0 };
}

/* Other orders than index 1 fastest, ascending, would need the pixels to be turned. */
static db_status check_order(const decoding *d, db_word array) {
    const db_cif_table *const t = &d->list;
    const int array_id = db_cif_column(t, "array_id"), index = db_cif_column(t, "index"),
              precedence = db_cif_column(t, "precedence"),
              direction = db_cif_column(t, "direction");
    for (size_t row = 0; row < t->rows; row++) {
        double i = 0, p = 0;
        const db_word way = db_cif_value(t, row, direction);
        if (array.length && !db_same_word(db_cif_value(t, row, array_id), array)) continue;
        if (db_cif_number(t, row, index, &i) && db_cif_number(t, row, precedence, &p) && i != p)
            return db_fail(d->context, DB_ERROR_UNSUPPORTED,
                           "%s: array_structure_list: expected the dimension of index %g to be "
                           "number %g in precedence, found %g",
                           d->path, i, i, p);
        if (way.length && !db_word_is(way, "increasing"))
            return db_fail(d->context, DB_ERROR_UNSUPPORTED,
                           "%s: array_structure_list: expected increasing as direction, found "
                           "'%.*s'",
                           d->path, DB_WORD_ARGUMENTS(way));
    }
    return DB_OK;
}

static db_status add_cut(decoding *d, const cut *one) {
    if (d->count == MOST_PANELS)
        return db_fail(d->context, DB_ERROR_INPUT, "%s: expected at most %d panels, found more",
                       d->path, MOST_PANELS);
    DB_GROW(d->context, d->cuts, d->room, d->count + 1, d->path);
    d->cuts[d->count++] = *one;
    return DB_OK;
}

static cut whole_of(const decoding *d, db_word array, const db_cbf_binary *binary) {
    return (cut){ array,
                  array,
                  { 0, 0, 0 },
                  { (int)binary->fast_pixels, (int)binary->slow_pixels, (int)binary->sections },
                  d->arrays };
}

/* One line of array_structure_list_section: narrows a cut along one dimension. */
static db_status narrow_cut(const decoding *d, size_t row, const db_cbf_binary *binary, cut *one) {
    const db_cif_table *const t = &d->section;
    const long long size[3] = { binary->fast_pixels, binary->slow_pixels, binary->sections };
    double index = 0, start = 0, end = 0;
    if (!db_cif_number(t, row, db_cif_column(t, "index"), &index) ||
        !db_cif_number(t, row, db_cif_column(t, "start"), &start) ||
        !db_cif_number(t, row, db_cif_column(t, "end"), &end) ||
        !(index == 1 || index == 2 || index == 3) || start != floor(start) || end != floor(end) ||
        start < 1 || end < start || end > (double)size[(int)index - 1])
        return db_fail(d->context, DB_ERROR_INPUT,
                       "%s: array_structure_list_section %.*s: expected index 1 to 3 and a range "
                       "within the array, found index %g from %g to %g",
                       d->path, DB_WORD_ARGUMENTS(one->name), index, start, end);
    one->start[(int)index - 1] = (int)start - 1;
    one->count[(int)index - 1] = (int)(end - start) + 1;
    return DB_OK;
}

/* Panels of one array, in the order of their names in the table. */
static db_status cut_array(decoding *d, db_word array, const db_cbf_binary *binary) {
    const db_cif_table *const t = &d->section;
    const int array_id = db_cif_column(t, "array_id"), id = db_cif_column(t, "id");
    const size_t first = d->count;
    for (size_t p = 0; p < first && array.length; p++)
        if (db_same_word(d->cuts[p].array, array))
            return db_fail(d->context, DB_ERROR_INPUT,
                           "%s: array %.*s: expected one binary section, found two", d->path,
                           DB_WORD_ARGUMENTS(array));
    for (size_t row = 0; row < t->rows; row++) {
        const db_word name = db_cif_value(t, row, id);
        if (!db_same_word(db_cif_value(t, row, array_id), array) || name.length == 0) continue;
        size_t at = first;
        while (at < d->count && !db_same_word(d->cuts[at].name, name)) at++;
        if (at == d->count) {
            cut one = whole_of(d, array, binary);
            one.name = name;
            DB_TRY(add_cut(d, &one));
        }
        DB_TRY(narrow_cut(d, row, binary, &d->cuts[at]));
    }
    if (d->count > first) return DB_OK;
    for (int slice = 0; slice < binary->sections; slice++) {
        cut one = whole_of(d, array, binary);
        one.start[2] = slice;
        one.count[2] = 1;
        DB_TRY(add_cut(d, &one));
    }
    return DB_OK;
}

static db_status check_cuts(const decoding *d, size_t first) {
    for (size_t p = first; p < d->count; p++) {
        const cut *const one = &d->cuts[p];
        if (one->count[2] != 1)
            return db_fail(d->context, DB_ERROR_UNSUPPORTED,
                           "%s: panel %.*s: expected two dimensions, found %d sections", d->path,
                           DB_WORD_ARGUMENTS(one->name), one->count[2]);
        if (one->count[0] != d->cuts[0].count[0])
            return db_fail(d->context, DB_ERROR_UNSUPPORTED,
                           "%s: expected panels of one width, found %d and %d pixels", d->path,
                           d->cuts[0].count[0], one->count[0]);
    }
    return DB_OK;
}

/* Reads the binary sections of the file, and makes the image's list of panels. */
static db_status survey(decoding *d) {
    const char *from = d->text_end;
    for (d->arrays = 0;; d->arrays++) {
        db_cbf_binary binary;
        const size_t first = d->count;
        DB_TRY(db_cbf_binary_next(d->context, d->path, d->content, from, &binary));
        if (!binary.bytes) break;
        const db_word array = array_of(d, binary.id);
        DB_TRY(check_order(d, array));
        DB_TRY(cut_array(d, array, &binary));
        DB_TRY(check_cuts(d, first));
        from = binary.bytes + binary.size;
    }
    if (d->arrays) return DB_OK;
    return db_fail(d->context, DB_ERROR_INPUT,
                   "%s: expected a binary section with the pixels, found none (truncated?)",
                   d->path);
}

/* The semicolon before the first section belongs to it. */
const char *db_cbf_text_end(const db_file_content *content, const db_cbf_binary *first) {
    if (!first->bytes) return content->bytes + content->size;
    const char *end = first->section;
    while (end > content->bytes && *end != ';') end--;
    return end;
}

db_status db_cbf_arrays_open(db_context *context, const char *path, const db_file_content *content,
                             db_cbf_arrays *d) {
    db_cbf_binary first;
    *d = (db_cbf_arrays){ .context = context, .path = path, .content = content };
    DB_TRY(db_cbf_binary_next(context, path, content, content->bytes, &first));
    d->text_end = db_cbf_text_end(content, &first);
    DB_TRY(read_tables(d));
    return survey(d);
}

void db_cbf_arrays_clear(db_cbf_arrays *d) {
    db_cif_table *const tables[] = { &d->data_frame, &d->list, &d->section, &d->intensities };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) db_cif_table_clear(tables[i]);
    free(d->cuts);
    d->cuts = NULL;
    d->count = 0;
}
