/* miniCBF images: one byte-offset compressed array and a header of lines "# Key value", as Pilatus and Eiger
 * detectors write them. Pixels of -1 lie between modules, other negative pixels are defective, pixels from
 * Count_cutoff on are overloads, and so is the largest number of signed arrays of 8 and 16 bits. In unsigned arrays the
 * largest numbers are marks. */
#include "base/context_internal.h"
#include "io/images/cbf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static db_status element_error(db_context *context, const char *path, size_t i,
                               long long fast_pixels, const char *found) {
    return db_fail(context, DB_ERROR_INPUT, "%s: damaged pixels: at pixel %lld %lld found %s", path,
                   (long long)i % fast_pixels, (long long)i / fast_pixels, found);
}

static db_status decode_pixels(db_context *context, const char *path, const db_cbf_binary *binary,
                               db_measured_image *image) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    const db_cbf_range range = db_cbf_range_of(binary);
    image->overload = fmin(image->overload, range.clips);
    db_byte_offset stream = { .next = (const unsigned char *)binary->bytes,
                              .end = (const unsigned char *)binary->bytes + binary->size };
    for (size_t i = 0; i < count; i++) {
        if (!db_byte_offset_next(&stream))
            return element_error(context, path, i, binary->fast_pixels, "the end of the data");
        if (stream.value < range.lowest || stream.value > range.highest)
            return element_error(context, path, i, binary->fast_pixels,
                                 "a value beyond the range of the element type");
        const double counts = (double)stream.value;
        image->value[i] = (float)counts;
        if (stream.value == -1)
            image->mask[i] = DB_MASK_GAP;
        else if (stream.value < 0 || stream.value >= range.mark)
            image->mask[i] = DB_MASK_BAD;
        else if (counts >= image->overload)
            image->mask[i] = DB_MASK_OVERLOAD;
    }
    if (stream.next != stream.end)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: damaged pixels: %lld bytes are left after the last one", path,
                       (long long)(stream.end - stream.next));
    return DB_OK;
}

/* Tables of axes win over the lines of the header. */
static db_status read_header(db_context *context, const char *path, const db_file_content *content,
                             const char *lines, db_measured_image *image) {
    int placed;
    DB_TRY(db_cbf_has_axes(context, path, content, &placed));
    DB_TRY(db_cbf_mini_header_read(context, path, lines, placed, image));
    db_image_geometry axes;
    return placed ? db_cbf_tell_axes(context, path, content, &axes, image) : DB_OK;
}

db_status db_cbf_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image) {
    const char *const start = db_cbf_mini_header_find(content->bytes);
    if (!start) return db_cbf_full_decode(context, path, content, image);
    snprintf(image->format, sizeof image->format, "miniCBF");
    db_cbf_binary binary;
    DB_TRY(db_cbf_binary_next(context, path, content, content->bytes, &binary));
    if (!binary.bytes)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a binary section with the pixels, found none (truncated?)",
                       path);
    if (binary.compression != DB_CBF_BYTE_OFFSET || binary.sections != 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected one section of pixels compressed as x-CBF_BYTE_OFFSET in a "
                       "miniCBF, found %lld%s",
                       path, binary.sections,
                       binary.compression == DB_CBF_PACKED ? " of x-CBF_PACKED" : "");
    DB_TRY(db_cbf_binary_check(context, path, &binary));
    DB_TRY(read_header(context, path, content, start, image));
    DB_TRY(db_image_allocate(context, path, binary.fast_pixels, binary.slow_pixels, image));
    return decode_pixels(context, path, &binary, image);
}
