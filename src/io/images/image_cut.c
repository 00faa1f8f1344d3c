/* Images of one array that are cut into the panels of a detector. */
#include "io/images/image.h"

#include "base/context_internal.h"

#include <dualbragg/expert/image_arrays.h>
#include <stdlib.h>
#include <string.h>

static db_status check_cuts(db_context *context, const char *path, const db_detector *detector,
                            const db_measured_image *image) {
    long long pixels = 0;
    if (image->panel_count > 1)
        return db_fail(context, DB_ERROR_USAGE, "%s: expected an image of one panel, found %zu",
                       path, image->panel_count);
    for (size_t p = 0; p < detector->panel_count; p++) {
        const db_panel *const panel = &detector->panels[p];
        const int *const first = panel->image_offset;
        if (panel->fast_pixels != detector->panels[0].fast_pixels)
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "%s: expected panels of one width, found %d and %d pixels", path,
                           detector->panels[0].fast_pixels, panel->fast_pixels);
        if (first[0] < 0 || first[1] < 0 || first[0] > image->fast_pixels - panel->fast_pixels ||
            first[1] > image->slow_pixels - panel->slow_pixels)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s: panel %zu of the detector, %d x %d pixels from pixel %d, %d on, is "
                           "not within the image of %d x %d",
                           path, p, panel->fast_pixels, panel->slow_pixels, first[0], first[1],
                           image->fast_pixels, image->slow_pixels);
        pixels += (long long)panel->fast_pixels * panel->slow_pixels;
    }
    if (pixels > (long long)image->fast_pixels * image->slow_pixels)
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: the detector's panels have more pixels than the image: they overlap, or "
            "the image does not hold all of them (raw_image_offset)",
            path);
    return DB_OK;
}

static void copy_panel(const db_panel *panel, const db_measured_image *image,
                       const db_image_panel *to, db_measured_image *cut) {
    const size_t width = (size_t)panel->fast_pixels;
    for (int row = 0; row < panel->slow_pixels; row++) {
        const size_t from = (size_t)(panel->image_offset[1] + row) * (size_t)image->fast_pixels +
                            (size_t)panel->image_offset[0],
                     at = (size_t)(to->first_row + row) * width;
        memcpy(cut->value + at, image->value + from, width * sizeof *cut->value);
        memcpy(cut->mask + at, image->mask + from, width);
    }
}

db_status db_measured_image_cut(db_context *context, const char *path, const db_detector *detector,
                                db_measured_image *image) {
    db_measured_image cut = *image;
    long long rows = 0;
    if (image->dark)
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected an image without dark levels, which are of the whole detector",
                       path);
    DB_TRY(check_cuts(context, path, detector, image));
    for (size_t p = 0; p < detector->panel_count; p++) rows += detector->panels[p].slow_pixels;
    cut.value = NULL;
    cut.mask = NULL;
    cut.panel_count = detector->panel_count;
    cut.panels = calloc(detector->panel_count, sizeof *cut.panels);
    db_status status = cut.panels ? DB_OK : db_fail_memory(context, path);
    if (status == DB_OK)
        status = db_image_allocate(context, path, detector->panels[0].fast_pixels, rows, &cut);
    int row = 0;
    for (size_t p = 0; p < cut.panel_count && status == DB_OK; p++) {
        cut.panels[p].first_row = row;
        cut.panels[p].slow_pixels = detector->panels[p].slow_pixels;
        row += detector->panels[p].slow_pixels;
        copy_panel(&detector->panels[p], image, &cut.panels[p], &cut);
    }
    if (status != DB_OK) {
        db_measured_image_clear(&cut);
        return status;
    }
    cut.masked = 0;
    for (size_t i = 0; i < (size_t)cut.fast_pixels * (size_t)cut.slow_pixels; i++)
        cut.masked += cut.mask[i] != 0;
    db_measured_image_clear(image);
    *image = cut;
    return DB_OK;
}
