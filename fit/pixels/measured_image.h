/* Pixels of measured images of one or several panels, which lie one below the other. */
#ifndef DB_FIT_PIXELS_MEASURED_IMAGE_H
#define DB_FIT_PIXELS_MEASURED_IMAGE_H

#include <dualbragg/fit.h>

static inline size_t db_sheet_panels(const db_measured_image *image) {
    return image->panel_count > 1 ? image->panel_count : 1;
}

/* First row of a panel, and how many it has. */
static inline int db_sheet_first_row(const db_measured_image *image, size_t panel) {
    return image->panel_count > 1 ? image->panels[panel].first_row : 0;
}
static inline int db_sheet_rows(const db_measured_image *image, size_t panel) {
    return image->panel_count > 1 ? image->panels[panel].slow_pixels : image->slow_pixels;
}

/* Where pixel (fast, slow), counted from a region's first one, is in the image. */
static inline size_t db_sheet_index(const db_measured_image *image, const db_region *region,
                                    int fast, int slow) {
    const int row = db_sheet_first_row(image, region->panel) + region->slow_start + slow;
    return (size_t)row * (size_t)image->fast_pixels + (size_t)(region->fast_start + fast);
}

/* One panel as an image of its own; borrows the pixels. */
static inline db_measured_image db_sheet_panel(const db_measured_image *image, size_t panel) {
    const size_t first = (size_t)db_sheet_first_row(image, panel) * (size_t)image->fast_pixels;
    db_measured_image one = *image;
    one.slow_pixels = db_sheet_rows(image, panel);
    one.value += first;
    one.mask += first;
    one.panel_count = 0;
    one.panels = NULL;
    return one;
}

#endif
