/* Images of raw 32-bit floats, little-endian, without header. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "base/atomic_file.h"
#include "base/file_content.h"

#include <stdlib.h>
#include <string.h>

static void swap_words(uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) words[i] = __builtin_bswap32(words[i]);
}

db_status db_write_float_image(db_context *context, const char *path, const float *pixels,
                               size_t count) {
    const db_file_part part = { pixels, count * sizeof *pixels };
    if (!db_machine_is_big_endian()) return db_write_atomically(context, path, &part, 1);
    uint32_t *swapped = malloc(part.size ? part.size : 1);
    if (!swapped) return db_fail_memory(context, "the float image");
    memcpy(swapped, pixels, part.size);
    swap_words(swapped, count);
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
        memcpy(pixels, content.bytes, expected);
        if (db_machine_is_big_endian()) {
            for (size_t i = 0; i < expected / sizeof *pixels; i++) {
                uint32_t word;
                memcpy(&word, &pixels[i], sizeof word);
                word = __builtin_bswap32(word);
                memcpy(&pixels[i], &word, sizeof word);
            }
        }
    }
    db_file_content_clear(&content);
    return status;
}
