/* Pictures: PNG, 8-bit RGB, and PGM, 8-bit grey. */
#include <dualbragg/io.h>
#include <dualbragg/expert/colour.h>
#include <dualbragg/expert/picture_files.h>

#include "base/atomic_file.h"
#include "base/c_locale.h"
#include "base/context_internal.h"
#include "base/given.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_status check_shape(db_context *context, const void *pixels, int fast_pixels,
                             int slow_pixels) {
    enum { LIMIT = 1 << 20 };
    if (fast_pixels < 1 || slow_pixels < 1 || fast_pixels > LIMIT || slow_pixels > LIMIT ||
        (long long)fast_pixels * slow_pixels > 1LL << 29)
        return db_fail(context, DB_ERROR_USAGE,
                       "picture: expected a shape from 1 x 1 to 2^29 pixels, found %d x %d",
                       fast_pixels, slow_pixels);
    return db_need_list(context, "pixels of a picture", pixels, 1);
}

#if defined(DB_HAVE_PNG)
#include <png.h>

/* Compresses rows of 3 bytes per pixel. The buffer is as large as the result can get. */
static db_status compress_rgb(db_context *context, const uint8_t *rgb, int fast_pixels,
                              int slow_pixels, unsigned char **bytes, size_t *byte_count) {
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)fast_pixels,
                        .height = (png_uint_32)slow_pixels,
                        .format = PNG_FORMAT_RGB,
                        .flags = PNG_IMAGE_FLAG_FAST };
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    unsigned char *buffer = malloc(size);
    if (!buffer) return db_fail_memory(context, "the picture");
    if (!png_image_write_to_memory(&image, buffer, &size, 0, rgb, 0, NULL)) {
        const db_status status =
            db_fail(context, DB_ERROR_MEMORY, "picture: libpng: %s", image.message);
        png_image_free(&image);
        free(buffer);
        return status;
    }
    unsigned char *shrunk = realloc(buffer, size);
    *bytes = shrunk ? shrunk : buffer;
    *byte_count = size;
    return DB_OK;
}

static db_status encode_rows(db_context *context, const float *pixels, int fast_pixels,
                             int slow_pixels, const db_colour_scale *scale, unsigned char **bytes,
                             size_t *byte_count) {
    const size_t count = (size_t)fast_pixels * (size_t)slow_pixels;
    uint8_t *rgb = malloc(3 * count);
    if (!rgb) return db_fail_memory(context, "the picture");
    for (size_t i = 0; i < count; i++) memcpy(rgb + 3 * i, db_colour_of(scale, pixels[i]), 3);
    const db_status status =
        compress_rgb(context, rgb, fast_pixels, slow_pixels, bytes, byte_count);
    free(rgb);
    return status;
}
#else
static db_status compress_rgb(db_context *context, const uint8_t *rgb, int fast_pixels,
                              int slow_pixels, unsigned char **bytes, size_t *byte_count) {
    (void)rgb, (void)fast_pixels, (void)slow_pixels, (void)bytes, (void)byte_count;
    return db_fail(context, DB_ERROR_UNSUPPORTED, "picture: this build has no libpng");
}

static db_status encode_rows(db_context *context, const float *pixels, int fast_pixels,
                             int slow_pixels, const db_colour_scale *scale, unsigned char **bytes,
                             size_t *byte_count) {
    (void)pixels, (void)fast_pixels, (void)slow_pixels, (void)scale, (void)bytes, (void)byte_count;
    return db_fail(context, DB_ERROR_UNSUPPORTED, "picture: this build has no libpng");
}
#endif

db_status db_encode_png(db_context *context, const float *pixels, int fast_pixels, int slow_pixels,
                        db_colour_map map, double low, double high, unsigned char **bytes,
                        size_t *byte_count) {
    *bytes = NULL;
    *byte_count = 0;
    DB_TRY(check_shape(context, pixels, fast_pixels, slow_pixels));
    db_colour_scale scale;
    DB_TRY(db_colour_scale_make(context, map, pixels, (size_t)fast_pixels * (size_t)slow_pixels,
                                low, high, &scale));
    return encode_rows(context, pixels, fast_pixels, slow_pixels, &scale, bytes, byte_count);
}

/* Frees the bytes. */
static db_status write_bytes(db_context *context, const char *path, unsigned char *bytes,
                             size_t byte_count) {
    const db_file_part part = { bytes, byte_count };
    const db_status status = db_write_atomically(context, path, &part, 1);
    free(bytes);
    return status;
}

db_status db_write_png(db_context *context, const char *path, const float *pixels, int fast_pixels,
                       int slow_pixels, db_colour_map map, double low, double high) {
    unsigned char *bytes;
    size_t byte_count;
    DB_TRY(db_encode_png(context, pixels, fast_pixels, slow_pixels, map, low, high, &bytes,
                         &byte_count));
    return write_bytes(context, path, bytes, byte_count);
}

db_status db_write_png_rgb(db_context *context, const char *path, const uint8_t *rgb,
                           int fast_pixels, int slow_pixels) {
    unsigned char *bytes = NULL;
    size_t byte_count = 0;
    DB_TRY(check_shape(context, rgb, fast_pixels, slow_pixels));
    DB_TRY(compress_rgb(context, rgb, fast_pixels, slow_pixels, &bytes, &byte_count));
    return write_bytes(context, path, bytes, byte_count);
}

static unsigned char grey(float intensity, double scale) {
    const double level = (double)intensity * scale;
    if (!(level > 0)) return 0;
    return level > 255 ? 255 : (unsigned char)level;
}

db_status db_write_pgm(db_context *context, const char *path, const float *pixels, int fast_pixels,
                       int slow_pixels, double scale) {
    DB_TRY(db_need_list(context, "pixels of a picture", pixels, 1));
    if (fast_pixels < 1 || slow_pixels < 1)
        return db_fail(context, DB_ERROR_USAGE, "%s: expected at least 1 x 1 pixels, found %d x %d",
                       path, fast_pixels, slow_pixels);
    if (!(scale > 0 && isfinite(scale)))
        return db_fail(context, DB_ERROR_USAGE, "%s: expected a finite scale > 0, found %g", path,
                       scale);
    char header[128];
    const db_c_locale locale = db_c_locale_enter();
    const int length = snprintf(header, sizeof header, "P5\n%d %d\n# pixels scaled by %g\n255\n",
                                fast_pixels, slow_pixels, scale);
    db_c_locale_leave(locale);
    const size_t count = (size_t)fast_pixels * (size_t)slow_pixels;
    unsigned char *levels = malloc(count);
    if (!levels) return db_fail_memory(context, "the PGM image");
    for (size_t i = 0; i < count; i++) levels[i] = grey(pixels[i], scale);
    const db_file_part parts[] = { { header, (size_t)length }, { levels, count } };
    const db_status status = db_write_atomically(context, path, parts, 2);
    free(levels);
    return status;
}
