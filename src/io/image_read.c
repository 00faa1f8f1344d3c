#define _POSIX_C_SOURCE 200809L
/* Images of whatever format, told by their content. */
#include "base/context_internal.h"
#include "io/cbf.h"
#include "base/frame_name.h"
#include "io/nexus.h"
#include "io/smv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Formats that are not supported, so that the message can name them. */
static const char *other_format(const db_file_content *content) {
    static const struct {
        const char *name;
        const char *magic;
        size_t length;
    } formats[] = {
        { "TIFF (MarCCD, Rayonix)", "II*\0", 4 },
        { "TIFF (MarCCD, Rayonix)", "MM\0*", 4 },
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (content->size >= formats[i].length &&
            memcmp(content->bytes, formats[i].magic, formats[i].length) == 0)
            return formats[i].name;
    return NULL;
}

/* Raw floats. Any file could be taken for them, so this is tried last. */
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
    db_copy_words(content->bytes, count, image->value);
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

/* One image of a file that holds many. */
static db_status read_frame(db_context *context, const char *file, long frame,
                            db_measured_image *image) {
    if (frame < 0)
        return db_fail(context, DB_ERROR_USAGE, "%s: images are counted from 1, found #0", file);
    if (access(file, R_OK) != 0)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", file, strerror(errno));
    if (!db_is_hdf5(file))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected an HDF5 file, of which #%ld is an image", file, frame);
    db_image_init(image, "HDF5");
    DB_TRY_STAGE(context, "read files", db_nexus_read(context, file, frame, image));
    return DB_OK;
}

static db_status read_file(db_context *context, const char *path, const int *shape,
                           db_measured_image *image) {
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = decode(context, path, &content, shape, image);
    db_file_content_clear(&content);
    return status;
}

static db_status read_image(db_context *context, const char *path, const int *shape,
                            db_measured_image *image) {
    char file[4096];
    memset(image, 0, sizeof *image);
    const long frame = path ? db_frame_split(path, file, sizeof file) : 0;
    const db_status status = frame || (path && db_is_hdf5(path))
                                 ? read_frame(context, file, frame, image)
                                 : read_file(context, path, shape, image);
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
