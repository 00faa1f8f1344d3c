/* Images whose panels are parts of arrays, as laid out by the experiment's file. */
#include "base/context_internal.h"
#include "io/images/image.h"
#include "io/images/image_layout.h"

#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/file_kind.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of values that mark bad ones. */
static void mask_marked(const db_layout_panel *panel, int first_row, db_measured_image *image) {
    for (int s = 0; s < panel->size[1] && panel->marked_count; s++)
        for (int f = 0; f < panel->size[0]; f++) {
            const size_t i = (size_t)(first_row + s) * (size_t)image->fast_pixels + (size_t)f;
            for (int k = 0; k < panel->marked_count; k++)
                if (image->value[i] == (float)panel->marked[k]) image->mask[i] = DB_MASK_BAD;
        }
}

/* Regions of the laboratory: CrystFEL looks at the first corner of each pixel. */
static void mask_region(const db_layout_panel *panel, const db_layout_region *region, int first_row,
                        db_measured_image *image) {
    for (int s = 0; s < panel->size[1]; s++)
        for (int f = 0; f < panel->size[0]; f++) {
            double at[2];
            for (int i = 0; i < 2; i++)
                at[i] = panel->corner[i] + f * panel->fast[i] + s * panel->slow[i];
            if (at[0] > region->x[0] && at[0] < region->x[1] && at[1] > region->y[0] &&
                at[1] < region->y[1])
                image->mask[(size_t)(first_row + s) * (size_t)image->fast_pixels + (size_t)f] =
                    DB_MASK_BAD;
        }
}

static void finish_image(const db_image_layout *layout, db_measured_image *image) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    for (size_t p = 0; p < layout->panel_count; p++) {
        const int first = image->panels[p].first_row;
        mask_marked(&layout->panel[p], first, image);
        for (size_t r = 0; r < layout->region_count; r++)
            mask_region(&layout->panel[p], &layout->region[r], first, image);
    }
    image->masked = 0;
    for (size_t i = 0; i < count; i++) image->masked += image->mask[i] != 0;
    if (image->panel_count > 1) return;
    free(image->panels); /* one panel needs no list */
    image->panels = NULL;
    image->panel_count = 0;
}

/* A file of one array, such as CBF or TIFF. */
static db_status cut_sheet(db_context *context, const char *path, const db_image_layout *layout,
                           const db_measured_image *sheet, db_measured_image *image) {
    *image = *sheet;
    image->value = NULL;
    image->mask = NULL;
    image->panels = NULL;
    if (sheet->panel_count > 1)
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: expected an image of one array that contains the panels of %s, found %zu panels",
            path, layout->path, sheet->panel_count);
    DB_TRY(db_layout_allocate(context, path, layout, image));
    for (size_t p = 0; p < layout->panel_count; p++)
        DB_TRY(db_layout_cut(context, path, layout, p, sheet, image));
    return DB_OK;
}

static db_status read_sheet(db_context *context, const char *path, const db_image_layout *layout,
                            db_measured_image *image) {
    db_measured_image sheet;
    DB_TRY(db_read_image(context, path, &sheet));
    const db_status status = cut_sheet(context, path, layout, &sheet, image);
    db_measured_image_clear(&sheet);
    return status;
}

static db_status read_arrays(db_context *context, const char *path, const db_image_layout *layout,
                             db_measured_image *image) {
    db_image_init(image, "HDF5");
    DB_TRY(db_layout_allocate(context, path, layout, image));
    return db_layout_read_arrays(context, path, layout, image);
}

static int is_hdf5(db_context *context, const char *path) {
    db_event_name name;
    db_file_kind kind;
    return db_event_name_read(path, &name) &&
           db_recognize_file(context, name.file, &kind) == DB_OK && strcmp(kind.label, "HDF5") == 0;
}

db_status db_read_listed_image(db_context *context, const char *path,
                               const db_expt_content *content, db_measured_image *image) {
    const db_image_layout *const layout = content ? content->layout : NULL;
    if (!layout) return db_read_image(context, path, image);
    memset(image, 0, sizeof *image);
    const int arrays = layout->panel[0].data && is_hdf5(context, path);
    const db_status status = arrays ? read_arrays(context, path, layout, image)
                                    : read_sheet(context, path, layout, image);
    if (status != DB_OK) {
        db_measured_image_clear(image);
        return status;
    }
    finish_image(layout, image);
    return DB_OK;
}
