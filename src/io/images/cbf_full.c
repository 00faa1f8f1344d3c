/* Full CBF (imgCIF): each binary section is an array of up to three dimensions. An array is cut
 * into panels by array_structure_list_section; without that each of its sections along the slowest
 * dimension is a panel. Panels are taken in the order of the arrays in the file, and within one as
 * the table names them. Values up to undefined_value have no data, those from overload on are
 * overloads. */
#include "base/context_internal.h"
#include "io/images/cbf.h"
#include "base/growth.h"
#include "io/cif.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 4096 };

/* A panel within its array: first pixel and number of pixels along the three dimensions. */
typedef struct cut {
    db_word array, name;
    int start[3], count[3];
} cut;

typedef struct decoding {
    db_context *context;
    const char *path;
    const db_file_content *content;
    const char *text_end; /* where the first binary section begins */
    db_cif_table data_frame, list, section, intensities, list_axis, wavelength;
    cut *cuts; /* owned */
    size_t count, room;
    db_measured_image *image;
} decoding;

static int same_word(db_word a, db_word b) {
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

static db_status read_tables(decoding *d) {
    const struct {
        const char *category;
        db_cif_table *table;
    } tables[] = { { "diffrn_data_frame", &d->data_frame },
                   { "array_structure_list", &d->list },
                   { "array_structure_list_section", &d->section },
                   { "array_intensities", &d->intensities },
                   { "array_structure_list_axis", &d->list_axis },
                   { "diffrn_radiation_wavelength", &d->wavelength } };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        DB_TRY(db_cif_table_read(d->context, d->path, d->content->bytes, d->text_end,
                                 tables[i].category, tables[i].table));
    return DB_OK;
}

/* The array that a binary section holds; of length 0 if no table says. */
static db_word array_of(const decoding *d, long long binary_id) {
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
        if (array.length && !same_word(db_cif_value(t, row, array_id), array)) continue;
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

static cut whole_of(db_word array, const db_cbf_binary *binary) {
    return (cut){ array,
                  array,
                  { 0, 0, 0 },
                  { (int)binary->fast_pixels, (int)binary->slow_pixels, (int)binary->sections } };
}

/* One line of array_structure_list_section: narrows a cut along one dimension. */
static db_status narrow(const decoding *d, size_t row, const db_cbf_binary *binary, cut *one) {
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
    for (size_t row = 0; row < t->rows; row++) {
        const db_word name = db_cif_value(t, row, id);
        if (!same_word(db_cif_value(t, row, array_id), array) || name.length == 0) continue;
        size_t at = first;
        while (at < d->count && !same_word(d->cuts[at].name, name)) at++;
        if (at == d->count) {
            cut one = whole_of(array, binary);
            one.name = name;
            DB_TRY(add_cut(d, &one));
        }
        DB_TRY(narrow(d, row, binary, &d->cuts[at]));
    }
    if (d->count > first) return DB_OK;
    for (int slice = 0; slice < binary->sections; slice++) {
        cut one = whole_of(array, binary);
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

/* Binary sections in the file; makes the list of panels, which is then the image's. */
static db_status survey(decoding *d, size_t *arrays) {
    const char *from = d->text_end;
    for (*arrays = 0;; ++*arrays) {
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
    if (*arrays) return DB_OK;
    return db_fail(d->context, DB_ERROR_INPUT,
                   "%s: expected a binary section with the pixels, found none (truncated?)",
                   d->path);
}

static db_status allocate(const decoding *d) {
    db_measured_image *const image = d->image;
    long long rows = 0;
    for (size_t p = 0; p < d->count; p++) rows += d->cuts[p].count[1];
    DB_TRY(db_image_allocate(d->context, d->path, d->cuts[0].count[0], rows, image));
    if (d->count == 1) return DB_OK;
    image->panels = calloc(d->count, sizeof *image->panels);
    if (!image->panels) return db_fail_memory(d->context, d->path);
    image->panel_count = d->count;
    int row = 0;
    for (size_t p = 0; p < d->count; p++) {
        db_image_panel *const panel = &image->panels[p];
        snprintf(panel->name, sizeof panel->name, "%.*s", DB_WORD_ARGUMENTS(d->cuts[p].name));
        panel->first_row = row;
        panel->slow_pixels = d->cuts[p].count[1];
        row += panel->slow_pixels;
    }
    return DB_OK;
}

/* All elements of a binary section; those beyond 32 bits are refused. To be freed. */
static db_status unpack(const decoding *d, const db_cbf_binary *binary, int32_t **element) {
    const size_t count = (size_t)(binary->fast_pixels * binary->slow_pixels * binary->sections);
    const unsigned char *const bytes = (const unsigned char *)binary->bytes;
    size_t found = 0;
    *element = malloc(count * sizeof **element);
    if (!*element) return db_fail_memory(d->context, d->path);
    if (binary->compression == DB_CBF_PACKED) {
        found = db_cbf_unpack(bytes, binary->size, (size_t)binary->fast_pixels,
                              (size_t)binary->slow_pixels, (size_t)binary->sections,
                              binary->packed_flags, *element);
    } else {
        db_byte_offset stream = { .next = bytes, .end = bytes + binary->size };
        while (found < count && db_byte_offset_next(&stream) && stream.value >= INT32_MIN &&
               stream.value <= INT32_MAX)
            (*element)[found++] = (int32_t)stream.value;
    }
    if (found == count) return DB_OK;
    return db_fail(d->context, DB_ERROR_INPUT,
                   "%s: damaged pixels: expected %zu in binary section %lld, found %zu", d->path,
                   count, binary->id, found);
}

/* undefined_value and overload of an array; -INFINITY, INFINITY where the table does not say. */
static void limits_of(const decoding *d, db_word array, double limit[2], double *gain) {
    const db_cif_table *const t = &d->intensities;
    const int id = db_cif_column(t, "array_id");
    limit[0] = -INFINITY;
    limit[1] = INFINITY;
    *gain = 1;
    for (size_t row = 0; row < t->rows; row++) {
        if (array.length && !same_word(db_cif_value(t, row, id), array)) continue;
        db_cif_number(t, row, db_cif_column(t, "undefined_value"), &limit[0]);
        db_cif_number(t, row, db_cif_column(t, "overload"), &limit[1]);
        db_cif_number(t, row, db_cif_column(t, "gain"), gain);
        return;
    }
}

static void copy_panel(const decoding *d, size_t p, const db_cbf_binary *binary,
                       const int32_t *element) {
    const cut *const one = &d->cuts[p];
    db_measured_image *const image = d->image;
    const size_t width = (size_t)one->count[0];
    const size_t first = image->panels ? (size_t)image->panels[p].first_row * width : 0;
    double limit[2], gain;
    limits_of(d, one->array, limit, &gain);
    if (p == 0) {
        image->overload = limit[1];
        image->gain = gain > 0 ? gain : 1;
    }
    for (int s = 0; s < one->count[1]; s++) {
        const size_t row =
            ((size_t)one->start[2] * (size_t)binary->slow_pixels + (size_t)(one->start[1] + s)) *
                (size_t)binary->fast_pixels +
            (size_t)one->start[0];
        for (size_t f = 0; f < width; f++) {
            const size_t at = first + (size_t)s * width + f;
            const double value = (double)element[row + f];
            image->value[at] = (float)value;
            image->mask[at] = value <= limit[0]   ? DB_MASK_BAD
                              : value >= limit[1] ? DB_MASK_OVERLOAD
                                                  : DB_MASK_TRUSTED;
        }
    }
}

static db_status copy_arrays(const decoding *d, size_t arrays) {
    const char *from = d->text_end;
    for (size_t a = 0; a < arrays; a++) {
        db_cbf_binary binary;
        int32_t *element = NULL;
        DB_TRY(db_cbf_binary_next(d->context, d->path, d->content, from, &binary));
        const db_word array = array_of(d, binary.id);
        const db_status status = unpack(d, &binary, &element);
        for (size_t p = 0; status == DB_OK && p < d->count; p++)
            if (same_word(d->cuts[p].array, array)) copy_panel(d, p, &binary, element);
        free(element);
        DB_TRY(status);
        from = binary.bytes + binary.size;
    }
    return DB_OK;
}

/* Wavelength, and the steps of the first two axes along which pixels stand. */
static void read_metadata(const decoding *d) {
    db_measured_image *const image = d->image;
    const int increment = db_cif_column(&d->list_axis, "displacement_increment");
    double number;
    if (db_cif_number(&d->wavelength, 0, db_cif_column(&d->wavelength, "wavelength"), &number) &&
        number > 0)
        image->wavelength = number;
    for (int i = 0; i < 2; i++)
        if (db_cif_number(&d->list_axis, (size_t)i, increment, &number) && number > 0)
            image->pixel_size[i] = number;
}

static db_status decode(decoding *d) {
    db_cbf_binary first;
    size_t arrays = 0;
    DB_TRY(db_cbf_binary_next(d->context, d->path, d->content, d->content->bytes, &first));
    /* the semicolon before the section belongs to it */
    d->text_end = first.bytes ? first.section : d->content->bytes + d->content->size;
    while (first.bytes && d->text_end > d->content->bytes && *d->text_end != ';') d->text_end--;
    DB_TRY(read_tables(d));
    DB_TRY(survey(d, &arrays));
    DB_TRY(allocate(d));
    read_metadata(d);
    return copy_arrays(d, arrays);
}

db_status db_cbf_full_decode(db_context *context, const char *path, const db_file_content *content,
                             db_measured_image *image) {
    decoding d = { .context = context, .path = path, .content = content, .image = image };
    snprintf(image->format, sizeof image->format, "CBF");
    const db_status status = decode(&d);
    db_cif_table *const tables[] = { &d.data_frame,  &d.list,      &d.section,
                                     &d.intensities, &d.list_axis, &d.wavelength };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) db_cif_table_clear(tables[i]);
    free(d.cuts);
    return status;
}
