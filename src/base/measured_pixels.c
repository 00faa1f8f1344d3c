#include "base/measured_pixels.h"

#include "base/context_internal.h"
#include "base/given.h"

#include <math.h>

db_status db_need_panels(db_context *context, const db_measured_image *image) {
    const char *const what = "panels of the measured image";
    int row = 0;
    if (image->fast_pixels < 1 || image->slow_pixels < 1)
        return db_fail(context, DB_ERROR_USAGE,
                       "measured image: expected pixels along fast and slow, found %d x %d",
                       image->fast_pixels, image->slow_pixels);
    if (image->panel_count < 2) return DB_OK;
    DB_TRY(db_need_list(context, what, image->panels, image->panel_count));
    for (size_t p = 0; p < image->panel_count; p++) {
        const db_image_panel *const panel = &image->panels[p];
        if (panel->first_row != row || panel->slow_pixels < 1 ||
            panel->slow_pixels > image->slow_pixels - row)
            return db_fail(context, DB_ERROR_USAGE,
                           "%s: expected one below the other in %d rows, found %d rows from row %d "
                           "for panel %zu, where row %d is next",
                           what, image->slow_pixels, panel->slow_pixels, panel->first_row, p, row);
        row += panel->slow_pixels;
    }
    if (row == image->slow_pixels) return DB_OK;
    return db_fail(context, DB_ERROR_USAGE, "%s: expected %d rows in all, found %d", what,
                   image->slow_pixels, row);
}

void db_trusted_range(const db_measured_image *image, double range[2]) {
    const size_t count = db_measured_pixels(image);
    range[0] = image->underload;
    range[1] = isfinite(image->overload) ? image->overload : DB_NO_LIMIT;
    for (size_t i = 0; i < count && image->underload == 0; i++)
        if (image->mask[i] == DB_MASK_TRUSTED && (double)image->value[i] < range[0])
            range[0] = floor((double)image->value[i]);
}
