/* Panels of a measured image, which lie one below the other. */
#ifndef DB_BASE_MEASURED_PANELS_H
#define DB_BASE_MEASURED_PANELS_H

#include <dualbragg/measured_image.h>

static inline size_t db_measured_panels(const db_measured_image *image) {
    return image->panel_count > 1 ? image->panel_count : 1;
}

/* First row of a panel, and how many it has. */
static inline int db_measured_first_row(const db_measured_image *image, size_t panel) {
    return image->panel_count > 1 ? image->panels[panel].first_row : 0;
}
static inline int db_measured_rows(const db_measured_image *image, size_t panel) {
    return image->panel_count > 1 ? image->panels[panel].slow_pixels : image->slow_pixels;
}

/* One panel as an image of its own; borrows the pixels. */
static inline db_measured_image db_measured_panel(const db_measured_image *image, size_t panel) {
    const size_t first = (size_t)db_measured_first_row(image, panel) * (size_t)image->fast_pixels;
    db_measured_image one = *image;
    one.slow_pixels = db_measured_rows(image, panel);
    one.value += first;
    one.mask += first;
    one.panel_count = 0;
    one.panels = NULL;
    return one;
}

#endif
