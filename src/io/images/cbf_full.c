/* Full CBF (imgCIF): each binary section is an array of up to three dimensions. An array is cut
 * into panels by array_structure_list_section; without that each of its sections along the slowest
 * dimension is a panel. Panels are taken in the order of the arrays in the file, and within one as
 * the table names them. Pixels of undefined_value have no data, those below underload are not to be trusted, those
 * from overload on are overloads. The largest numbers of a type are as in miniCBF files. */
#include "io/images/cbf.h"

#include "base/context_internal.h"
#include "io/images/cbf_cuts.h"
#include "io/images/counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct decoding {
    db_context *context;
    const char *path;
    db_cbf_arrays of;
    db_measured_image *image;
} decoding;

static db_status allocate_array(const decoding *d) {
    db_measured_image *const image = d->image;
    long long rows = 0;
    for (size_t p = 0; p < d->of.count; p++) rows += d->of.cuts[p].count[1];
    DB_TRY(db_image_allocate(d->context, d->path, d->of.cuts[0].count[0], rows, image));
    if (d->of.count == 1) return DB_OK;
    image->panels = calloc(d->of.count, sizeof *image->panels);
    if (!image->panels) return db_fail_memory(d->context, d->path);
    image->panel_count = d->of.count;
    int row = 0;
    for (size_t p = 0; p < d->of.count; p++) {
        db_image_panel *const panel = &image->panels[p];
        snprintf(panel->name, sizeof panel->name, "%.*s", DB_WORD_ARGUMENTS(d->of.cuts[p].name));
        panel->first_row = row;
        panel->slow_pixels = d->of.cuts[p].count[1];
        row += panel->slow_pixels;
    }
    return DB_OK;
}

/* All elements of a binary section, to be freed, as 32 bits: a signed number, or of an unsigned type an unsigned one, in which
 * negative marks are the largest numbers. Fails if one needs more. */
static db_status unpack_array(const decoding *d, const db_cbf_binary *binary, int32_t **element) {
    const int64_t highest = binary->is_signed ? INT32_MAX : UINT32_MAX;
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
               stream.value <= highest)
            (*element)[found++] = (int32_t)(uint32_t)stream.value;
    }
    if (found == count) return DB_OK;
    return db_fail(d->context, DB_ERROR_INPUT,
                   "%s: damaged pixels: expected %zu in binary section %lld, found %zu", d->path,
                   count, binary->id, found);
}

/* What a table says of the values of an array; without it the values of nothing_said. */
typedef struct limits {
    double undefined, underload, overload, gain;
} limits;

static const limits nothing_said = { NAN, -INFINITY, INFINITY, 1 };

static limits limits_of(const decoding *d, db_word array) {
    const db_cif_table *const t = &d->of.intensities;
    const int id = db_cif_column(t, "array_id");
    limits said = nothing_said;
    for (size_t row = 0; row < t->rows; row++) {
        if (array.length && !db_same_word(db_cif_value(t, row, id), array)) continue;
        db_cif_number(t, row, db_cif_column(t, "undefined_value"), &said.undefined);
        db_cif_number(t, row, db_cif_column(t, "underload"), &said.underload);
        db_cif_number(t, row, db_cif_column(t, "overload"), &said.overload);
        db_cif_number(t, row, db_cif_column(t, "gain"), &said.gain);
        break;
    }
    return said;
}

/* Marks of 32 bits are beyond every limit; the largest number of fewer bits may be an overload. */
static uint8_t mask_of(double value, const limits *said, const db_cbf_binary *binary,
                       const db_cbf_range *range) {
    const int is_mark = value >= (double)range->mark;
    if (fabs(value - said->undefined) <= 0 || value < said->underload ||
        (is_mark && binary->bits >= 32))
        return DB_MASK_BAD;
    if (value >= fmin(said->overload, range->clips)) return DB_MASK_OVERLOAD;
    return is_mark ? DB_MASK_BAD : DB_MASK_TRUSTED;
}

static void copy_panel(const decoding *d, size_t p, const db_cbf_binary *binary,
                       const int32_t *element) {
    const db_cbf_cut *const one = &d->of.cuts[p];
    db_measured_image *const image = d->image;
    const size_t width = (size_t)one->count[0];
    const size_t first = image->panels ? (size_t)image->panels[p].first_row * width : 0;
    const limits said = limits_of(d, one->array);
    const db_cbf_range range = db_cbf_range_of(binary);
    if (p == 0) {
        image->overload = fmin(said.overload, range.clips);
        image->underload = isfinite(said.underload) ? said.underload : 0;
        image->gain = said.gain > 0 ? said.gain : 1;
        if (image->gain != 1) image->stated_gain = image->gain; /* many write 1 for not known */
    }
    for (int s = 0; s < one->count[1]; s++) {
        const size_t row =
            ((size_t)one->start[2] * (size_t)binary->slow_pixels + (size_t)(one->start[1] + s)) *
                (size_t)binary->fast_pixels +
            (size_t)one->start[0];
        for (size_t f = 0; f < width; f++) {
            const size_t at = first + (size_t)s * width + f;
            const int32_t bits = element[row + f];
            const double value = binary->is_signed ? (double)bits : (double)(uint32_t)bits;
            image->value[at] = (float)value;
            image->mask[at] = mask_of(value, &said, binary, &range);
        }
    }
}

static db_status copy_arrays(const decoding *d) {
    const char *from = d->of.text_end;
    for (size_t a = 0; a < d->of.arrays; a++) {
        db_cbf_binary binary;
        int32_t *element = NULL;
        DB_TRY(db_cbf_binary_next(d->context, d->path, d->of.content, from, &binary));
        DB_TRY(db_cbf_binary_check(d->context, d->path, &binary));
        const db_status status = unpack_array(d, &binary, &element);
        for (size_t p = 0; status == DB_OK && p < d->of.count; p++)
            if (d->of.cuts[p].section == a) copy_panel(d, p, &binary, element);
        free(element);
        DB_TRY(status);
        from = binary.bytes + binary.size;
    }
    return DB_OK;
}

static db_status decode_array(decoding *d) {
    db_image_geometry axes;
    DB_TRY(db_cbf_arrays_open(d->context, d->path, d->of.content, &d->of));
    DB_TRY(allocate_array(d));
    DB_TRY(db_cbf_tell_axes(d->context, d->path, d->of.content, &axes, d->image));
    DB_TRY(copy_arrays(d));
    db_decide_marks(d->image);
    return DB_OK;
}

db_status db_cbf_full_decode(db_context *context, const char *path, const db_file_content *content,
                             db_measured_image *image) {
    decoding d = { .context = context, .path = path, .of = { .content = content }, .image = image };
    snprintf(image->format, sizeof image->format, "CBF");
    const db_status status = decode_array(&d);
    db_cbf_arrays_clear(&d.of);
    return status;
}
