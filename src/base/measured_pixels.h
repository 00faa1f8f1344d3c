/* Places of the pixels of measured images: panels are one below the other. */
#ifndef DB_BASE_MEASURED_PIXELS_H
#define DB_BASE_MEASURED_PIXELS_H

#include <dualbragg/measured_image.h>
#include <dualbragg/plan.h>

/* Counts beyond every detector's, for lists, which hold no infinity. */
#define DB_NO_LIMIT 1e9

/* Least and largest count, pedestal subtracted, that an image's pixels may be trusted with. Of an image without a lower limit
 * the least is that of its pixels, or 0. */
DB_API void db_trusted_range(const db_measured_image *image, double range[2]);

/* DB_ERROR_USAGE, unless panels fill the image, one below the other. */
DB_API db_status db_need_panels(db_context *context, const db_measured_image *image);

static inline size_t db_measured_panels(const db_measured_image *image) {
    return image->panel_count > 1 ? image->panel_count : 1;
}

/* Number of pixels of all panels. */
static inline size_t db_measured_pixels(const db_measured_image *image) {
    return (size_t)image->fast_pixels * (size_t)image->slow_pixels;
}

/* First row of a panel, and number of its rows. */
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

/* Index in the image of pixel (fast, slow), counted from a region's first one. */
static inline size_t db_measured_index(const db_measured_image *image, const db_region *region,
                                       int fast, int slow) {
    const int row = db_measured_first_row(image, region->panel) + region->slow_start + slow;
    return (size_t)row * (size_t)image->fast_pixels + (size_t)(region->fast_start + fast);
}

/* 1: all pixels of a region are on its panel of the image. */
static inline int db_measured_holds(const db_measured_image *image, const db_region *region) {
    return region->panel < db_measured_panels(image) && region->fast_start >= 0 &&
           region->slow_start >= 0 &&
           region->fast_start + region->fast_count <= image->fast_pixels &&
           region->slow_start + region->slow_count <= db_measured_rows(image, region->panel);
}

#endif
