/* Measured images in memory; images of raw 32-bit floats, little-endian, without header. */
#include "io/images/image.h"

#include "base/atomic_file.h"
#include "base/context_internal.h"
#include "base/given.h"
#include "base/large_memory.h"

#include <dualbragg/expert/image_arrays.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const db_image_geometry db_image_geometry_unknown = { .pixel_size = NAN,
                                                      .wavelength = NAN,
                                                      .distance = NAN,
                                                      .close_distance = NAN,
                                                      .beam_centre = { NAN, NAN },
                                                      .near_point = { NAN, NAN },
                                                      .fast_axis = { NAN, NAN, NAN },
                                                      .slow_axis = { NAN, NAN, NAN },
                                                      .spindle_axis = { NAN, NAN, NAN },
                                                      .phi = NAN,
                                                      .osc_range = NAN,
                                                      .polarization = NAN,
                                                      .normal = { NAN, NAN, NAN },
                                                      .twotheta = NAN,
                                                      .rotation = { NAN, NAN, NAN },
                                                      .sensor_thickness = NAN,
                                                      .attenuation_depth = NAN };

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
    image->value = db_allocate_large(count * sizeof *image->value);
    image->mask = calloc(count, sizeof *image->mask);
    if (!image->value || !image->mask) return db_fail_memory(context, path);
    return DB_OK;
}

void db_measured_image_clear(db_measured_image *image) {
    free(image->value);
    free(image->mask);
    free(image->dark);
    free(image->panels);
    memset(image, 0, sizeof *image);
}

void db_copy_words(const void *from, size_t count, void *to) {
    memcpy(to, from, count * sizeof(uint32_t));
    uint32_t *const words = to;
    for (size_t i = 0; i < count && db_machine_is_big_endian(); i++)
        words[i] = __builtin_bswap32(words[i]);
}

db_status db_write_float_image(db_context *context, const char *path, const float *pixels,
                               size_t count) {
    DB_TRY(db_need_list(context, "pixels of an image", pixels, count));
    const db_file_part part = { pixels, count * sizeof *pixels };
    if (!db_machine_is_big_endian()) return db_write_atomically(context, path, &part, 1);
    uint32_t *swapped = malloc(part.size ? part.size : 1);
    if (!swapped) return db_fail_memory(context, "the float image");
    db_copy_words(pixels, count, swapped);
    const db_file_part swapped_part = { swapped, part.size };
    const db_status status = db_write_atomically(context, path, &swapped_part, 1);
    free(swapped);
    return status;
}

db_status db_read_float_image(db_context *context, const char *path, int fast_pixels,
                              int slow_pixels, float *pixels) {
    if (fast_pixels < 1 || slow_pixels < 1)
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected a shape of at least 1 x 1, found %d x %d", path, fast_pixels,
                       slow_pixels);
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    const size_t expected = (size_t)fast_pixels * (size_t)slow_pixels * sizeof *pixels;
    db_status status = DB_OK;
    if (content.size != expected) {
        status =
            db_fail(context, DB_ERROR_INPUT, "%s: expected %zu bytes (%d x %d floats), found %zu",
                    path, expected, fast_pixels, slow_pixels, content.size);
    } else {
        db_copy_words(content.bytes, expected / sizeof *pixels, pixels);
    }
    db_file_content_clear(&content);
    return status;
}
