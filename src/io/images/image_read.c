#define _POSIX_C_SOURCE 200809L
/* Reads images of any format; the content tells the format. */
#include "base/context_internal.h"
#include "base/frame_name.h"
#include "io/formats.h"

#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/file_kind.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Raw floats. Any file could be taken for them, so this is tried last. */
static db_status decode_floats(db_context *context, const char *path,
                               const db_file_content *content, const int shape[2],
                               db_measured_image *image) {
    const size_t count = content->size / sizeof *image->value,
                 wanted = (size_t)shape[0] * (size_t)shape[1];
    if (!count || content->size % sizeof *image->value)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected an image, or 4 bytes per pixel, found %zu bytes", path,
                       content->size);
    if (wanted && wanted != count)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected %d x %d pixels, found %zu floats",
                       path, shape[0], shape[1], count);
    db_image_init(image, "float");
    DB_TRY(db_image_allocate(context, path, wanted ? shape[0] : (long long)count,
                             wanted ? shape[1] : 1, image));
    db_copy_words(content->bytes, count, image->value);
    return DB_OK;
}

/* shape: of raw floats; NULL: these are refused. */
static db_status decode_image(db_context *context, const char *path, const db_file_content *content,
                              const int *shape, db_measured_image *image) {
    const db_format *const format = db_format_of_content(path, content, DB_HOLDS_IMAGES);
    if (format && format->image) {
        db_image_init(image, format->label);
        return format->image(context, path, content, image);
    }
    if (format && format->by_name)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: found %s packed by gzip, or from a pipe: unpack it to a file first",
                       path, format->name);
    if (shape && (!format || format->uncertain))
        return decode_floats(context, path, content, shape, image);
    return db_fail_format(context, path, format, content, DB_HOLDS_IMAGES);
}

static db_status read_file(db_context *context, const char *path, const int *shape,
                           db_measured_image *image) {
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = decode_image(context, path, &content, shape, image);
    db_file_content_clear(&content);
    return status;
}

/* An image of a file that may hold many. */
static db_status read_frame(db_context *context, const db_format *format, const char *file,
                            long frame, db_measured_image *image) {
    db_image_init(image, format->label);
    DB_TRY_STAGE(context, "read files", format->frame(context, file, frame, image));
    return DB_OK;
}

static db_status read_any(db_context *context, const char *path, const int *shape,
                          db_measured_image *image) {
    const db_format *format = NULL;
    char file[4096] = "";
    const long frame = path ? db_frame_split(path, file, sizeof file) : 0;
    if (frame < 0)
        return db_fail(context, DB_ERROR_USAGE, "%s: images are counted from 1, found #0", file);
    if (path) DB_TRY(db_format_of_file(context, file, DB_HOLDS_IMAGES, &format));
    if (format && format->frame) return read_frame(context, format, file, frame, image);
    if (!frame) return read_file(context, path, shape, image);
    if (access(file, R_OK) != 0)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", file, strerror(errno));
    return db_fail(context, DB_ERROR_INPUT,
                   "%s: expected an HDF5 or TIFF file, of which #%ld is an image, found %s", file,
                   frame, format ? format->name : "something else");
}

static db_status read_image(db_context *context, const char *path, const int *shape,
                            db_measured_image *image) {
    memset(image, 0, sizeof *image);
    const db_status status = read_any(context, path, shape, image);
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
