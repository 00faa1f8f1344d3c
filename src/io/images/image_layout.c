#define _POSIX_C_SOURCE 200809L /* access */
/* Images whose panels are rectangles of the arrays in a file. */
#include "io/images/image_layout.h"

#include "base/context_internal.h"
#include "base/path.h"
#include "io/images/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

db_image_layout *db_image_layout_create(const char *path, size_t panel_count) {
    db_image_layout *const layout = calloc(1, sizeof *layout);
    if (!layout) return NULL;
    layout->path = malloc(strlen(path) + 1);
    layout->panel = calloc(panel_count + 1, sizeof *layout->panel);
    layout->panel_count = panel_count;
    if (layout->path) strcpy(layout->path, path);
    if (layout->path && layout->panel) return layout;
    db_image_layout_destroy(layout);
    return NULL;
}

void db_image_layout_destroy(db_image_layout *layout) {
    if (!layout) return;
    free(layout->path);
    free(layout->text);
    free(layout->panel);
    free(layout->region);
    free(layout);
}

/* Allocates the panels one below the other; the area beside a narrow panel is a gap. */
db_status db_layout_allocate(db_context *context, const char *path, const db_image_layout *layout,
                             db_measured_image *image) {
    long long fast = 0, slow = 0;
    image->value = NULL;
    image->mask = NULL;
    image->panel_count = layout->panel_count;
    image->panels = calloc(layout->panel_count, sizeof *image->panels);
    if (!image->panels) return db_fail_memory(context, path);
    for (size_t p = 0; p < layout->panel_count; p++) {
        const db_layout_panel *const panel = &layout->panel[p];
        db_image_panel *const made = &image->panels[p];
        snprintf(made->name, sizeof made->name, "%s", panel->name);
        made->first_row = (int)slow;
        made->slow_pixels = panel->size[1];
        if (panel->size[0] > fast) fast = panel->size[0];
        slow += panel->size[1];
    }
    DB_TRY(db_image_allocate(context, path, fast, slow, image));
    memset(image->mask, DB_MASK_GAP, (size_t)fast * (size_t)slow);
    return DB_OK;
}

db_status db_layout_cut(db_context *context, const char *path, const db_image_layout *layout,
                        size_t p, const db_measured_image *sheet, db_measured_image *image) {
    const db_layout_panel *const panel = &layout->panel[p];
    if (panel->first[0] > sheet->fast_pixels - panel->size[0] ||
        panel->first[1] > sheet->slow_pixels - panel->size[1])
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: panel %s is pixels %d to %d, %d to %d (fast, slow, from 0) of an image; "
            "%s has %d x %d pixels",
            layout->path, panel->name, panel->first[0], panel->first[0] + panel->size[0] - 1,
            panel->first[1], panel->first[1] + panel->size[1] - 1, path, sheet->fast_pixels,
            sheet->slow_pixels);
    for (int s = 0; s < panel->size[1]; s++) {
        const size_t from =
            (size_t)(panel->first[1] + s) * (size_t)sheet->fast_pixels + (size_t)panel->first[0];
        const size_t to = (size_t)(image->panels[p].first_row + s) * (size_t)image->fast_pixels;
        memcpy(image->value + to, sheet->value + from,
               (size_t)panel->size[0] * sizeof *image->value);
        memcpy(image->mask + to, sheet->mask + from, (size_t)panel->size[0]);
    }
    return DB_OK;
}

char *db_layout_file(const db_image_layout *layout, const char *name) {
    char *const beside = db_path_beside(layout->path, name);
    if (!beside || access(beside, F_OK) == 0 || access(name, F_OK) != 0) return beside;
    free(beside);
    char *const here = malloc(strlen(name) + 1);
    return here ? strcpy(here, name) : NULL;
}
