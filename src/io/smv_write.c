/* SMV images: a text header, then pixels: unsigned 16-bit, or signed 32-bit. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "base/atomic_file.h"
#include "io/smv_text.h"

#include <math.h>
#include <stdlib.h>

static double automatic_scale(const float *pixels, size_t count) {
    float largest = 0;
    for (size_t i = 0; i < count; i++)
        if (pixels[i] > largest && isfinite(pixels[i])) largest = pixels[i];
    return largest > 0 ? 55000 / (double)largest : 1;
}

/* Pixels that are NAN hold no data: 0, below any pedestal. */
static uint16_t pixel_counts(float intensity, double scale, double adc, int truncate) {
    double counts = intensity * scale + adc;
    if (!(counts > 0)) return 0;
    if (counts > 65535) counts = 65535;
    return (uint16_t)floorf((float)(truncate ? counts : counts + 0.5));
}

static db_status check_panel(db_context *context, const char *path,
                             const db_experiment *experiment) {
    if (experiment->detector.panel_count != 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: an SMV image holds one panel, the detector has %zu", path,
                       experiment->detector.panel_count);
    const db_panel *panel = &experiment->detector.panels[0];
    if (panel->pixel_size[0] != panel->pixel_size[1])
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: an SMV image has square pixels, those of the detector are %g x %g mm",
                       path, panel->pixel_size[0], panel->pixel_size[1]);
    if (panel->fast_pixels < 1 || panel->slow_pixels < 1)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected at least 1 x 1 pixels, found %d x %d",
                       path, panel->fast_pixels, panel->slow_pixels);
    return DB_OK;
}

db_status db_write_smv(db_context *context, const char *path, const db_experiment *experiment,
                       const float *pixels, double scale, double adc, const db_smv_style *style) {
    DB_TRY(check_panel(context, path, experiment));
    if (!isfinite(scale) || !isfinite(adc))
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected a finite scale and offset, found %g and %g", path, scale, adc);
    const db_panel *panel = &experiment->detector.panels[0];
    const size_t count = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    if (scale <= 0) scale = automatic_scale(pixels, count);
    db_smv_text header;
    const db_smv_pixels meaning = { scale, adc, 16 };
    DB_TRY(db_smv_text_build(context, path, experiment, &meaning, style, &header));
    uint16_t *counts = malloc(count * sizeof *counts);
    if (!counts) return db_fail_memory(context, "the SMV image");
    for (size_t i = 0; i < count; i++)
        counts[i] = pixel_counts(pixels[i], scale, adc, style && style->truncate);
    const db_file_part parts[] = { { header.bytes, header.length },
                                   { counts, count * sizeof *counts } };
    const db_status status = db_write_atomically(context, path, parts, 2);
    free(counts);
    return status;
}

db_status db_write_smv_numbers(db_context *context, const char *path,
                               const db_experiment *experiment, const int32_t *numbers, int bits,
                               double gain, double adc, const db_smv_style *style) {
    DB_TRY(check_panel(context, path, experiment));
    if (bits != 16 && bits != 32)
        return db_fail(context, DB_ERROR_USAGE, "%s: expected pixels of 16 or 32 bits, found %d",
                       path, bits);
    const db_panel *panel = &experiment->detector.panels[0];
    const size_t count = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    const db_smv_pixels meaning = { gain, adc, bits };
    db_smv_text header;
    DB_TRY(db_smv_text_build(context, path, experiment, &meaning, style, &header));
    db_file_part parts[] = { { header.bytes, header.length },
                             { numbers, count * sizeof *numbers } };
    if (bits == 32) return db_write_atomically(context, path, parts, 2);
    uint16_t *counts = malloc(count * sizeof *counts);
    if (!counts) return db_fail_memory(context, "the SMV image");
    for (size_t i = 0; i < count; i++)
        counts[i] = (uint16_t)(numbers[i] < 0 ? 0 : numbers[i] > 65535 ? 65535 : numbers[i]);
    parts[1] = (db_file_part){ counts, count * sizeof *counts };
    const db_status status = db_write_atomically(context, path, parts, 2);
    free(counts);
    return status;
}
