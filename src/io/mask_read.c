/* Masks: images whose zeros are the pixels to leave out. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "io/image_formats.h"
#include "io/smv_layout.h"

static db_status decode(db_context *context, const char *path, const db_file_content *content,
                        int fast_pixels, int slow_pixels, uint8_t *mask) {
    db_smv_header header;
    db_smv_layout layout;
    if (!db_is_smv(content))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a mask as an SMV image, found "
                       "something else",
                       path);
    DB_TRY(db_smv_header_open(context, path, content, &header));
    DB_TRY(db_smv_layout_read(&header, content, &layout));
    if (layout.fast_pixels != fast_pixels || layout.slow_pixels != slow_pixels)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a mask of the detector's %d x %d pixels, found %lld x %lld",
                       path, fast_pixels, slow_pixels, layout.fast_pixels, layout.slow_pixels);
    const size_t count = (size_t)fast_pixels * (size_t)slow_pixels;
    for (size_t i = 0; i < count; i++) mask[i] = db_smv_pixel(&layout, i) != 0;
    return DB_OK;
}

db_status db_read_mask(db_context *context, const char *path, int fast_pixels, int slow_pixels,
                       uint8_t *mask) {
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = decode(context, path, &content, fast_pixels, slow_pixels, mask);
    db_file_content_clear(&content);
    return status;
}
