#include "io/image_formats.h"
#include "base/context_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_image_init(db_measured_image *image, const char *format) {
    *image = (db_measured_image){
        .wavelength = NAN,
        .distance = NAN,
        .pixel_size = { NAN, NAN },
        .beam_centre = { NAN, NAN },
        .polarization = NAN,
        .phi = NAN,
        .osc_range = NAN,
        .twotheta = NAN,
        .overload = INFINITY,
        .pedestal = 0,
        .gain = 1,
        .exposure = NAN,
        .sensor_thickness = NAN,
        .attenuation_depth = NAN,
    };
    snprintf(image->format, sizeof image->format, "%s", format);
}

db_status db_image_allocate(db_context *context, const char *path, long long fast_pixels,
                            long long slow_pixels, db_measured_image *image) {
    if (fast_pixels < 1 || slow_pixels < 1 || fast_pixels > INT32_MAX || slow_pixels > INT32_MAX ||
        fast_pixels * slow_pixels > INT32_MAX)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected 1 to %d pixels, found a shape of %lld x %lld", path, INT32_MAX,
                       fast_pixels, slow_pixels);
    const size_t count = (size_t)(fast_pixels * slow_pixels);
    image->fast_pixels = (int)fast_pixels;
    image->slow_pixels = (int)slow_pixels;
    image->value = malloc(count * sizeof *image->value);
    image->mask = calloc(count, sizeof *image->mask);
    if (!image->value || !image->mask) return db_fail_memory(context, path);
    return DB_OK;
}

void db_measured_image_clear(db_measured_image *image) {
    free(image->value);
    free(image->mask);
    free(image->panels);
    memset(image, 0, sizeof *image);
}

/* What else a file of diffraction images may be, for a helpful refusal. */
static const char *other_format(const db_file_content *content) {
    static const struct {
        const char *name, *magic;
        size_t length;
    } formats[] = {
        { "HDF5 (NXmx)", "\x89HDF\r\n\x1a\n", 8 },
        { "TIFF (MarCCD, Rayonix)", "II*\0", 4 },
        { "TIFF (MarCCD, Rayonix)", "MM\0*", 4 },
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (content->size >= formats[i].length &&
            memcmp(content->bytes, formats[i].magic, formats[i].length) == 0)
            return formats[i].name;
    return NULL;
}

/* Raw floats; anything may be taken for them, so this comes last. */
static db_status decode_floats(db_context *context, const char *path,
                               const db_file_content *content, const int shape[2],
                               db_measured_image *image) {
    const size_t count = content->size / sizeof *image->value,
                 wanted = (size_t)shape[0] * (size_t)shape[1];
    if (!count || content->size % sizeof *image->value)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected an SMV or CBF image, or 4 bytes per pixel, found %zu bytes",
                       path, content->size);
    if (wanted && wanted != count)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected %d x %d pixels, found %zu floats",
                       path, shape[0], shape[1], count);
    db_image_init(image, "float");
    DB_TRY(db_image_allocate(context, path, wanted ? shape[0] : (long long)count,
                             wanted ? shape[1] : 1, image));
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, content->bytes + i * sizeof word, sizeof word);
        if (db_machine_is_big_endian()) word = __builtin_bswap32(word);
        memcpy(&image->value[i], &word, sizeof word);
    }
    return DB_OK;
}

/* shape: of raw floats; NULL: these are refused. */
static db_status decode(db_context *context, const char *path, const db_file_content *content,
                        const int *shape, db_measured_image *image) {
    if (db_is_smv(content)) {
        db_image_init(image, "SMV");
        return db_smv_decode(context, path, content, image);
    }
    if (db_is_cbf(content)) {
        db_image_init(image, "miniCBF"); /* or full */
        return db_cbf_decode(context, path, content, image);
    }
    const char *other = other_format(content);
    if (other)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected an SMV or CBF image, found %s, which is not supported", path,
                       other);
    if (shape) return decode_floats(context, path, content, shape, image);
    char start[3 * 8 + 1] = "";
    for (size_t i = 0; i < 8 && i < content->size; i++)
        snprintf(start + 3 * i, 4, " %02x", (unsigned)(unsigned char)content->bytes[i]);
    return db_fail(context, DB_ERROR_INPUT,
                   "%s: expected an SMV or CBF image, found %zu bytes that begin with%s", path,
                   content->size, *start ? start : " nothing");
}

static db_status read_image(db_context *context, const char *path, const int *shape,
                            db_measured_image *image) {
    memset(image, 0, sizeof *image);
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = decode(context, path, &content, shape, image);
    db_file_content_clear(&content);
    if (status != DB_OK) {
        db_measured_image_clear(image);
        return status;
    }
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    for (size_t i = 0; i < count; i++) image->masked += image->mask[i] != 0;
    return DB_OK;
}

db_status db_read_image(db_context *context, const char *path, db_measured_image *image) {
    return read_image(context, path, NULL, image);
}

db_status db_read_image_or_floats(db_context *context, const char *path, int fast_pixels,
                                  int slow_pixels, db_measured_image *image) {
    return read_image(context, path, (const int[]){ fast_pixels, slow_pixels }, image);
}
