/* What an experiment list says of the pixels of panels, from the files that were imported. */
#include "cli/import.h"

#include "base/measured_pixels.h"
#include "io/images/image_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_expt_panel *db_imported_panels(const db_imported *geometry, const db_imported *image) {
    const db_expt_content *const content = &geometry->content;
    const size_t count = geometry->experiment.detector.panel_count;
    db_expt_panel *const panel = calloc(count, sizeof *panel);
    double limit[2] = { -DB_NO_LIMIT, DB_NO_LIMIT };
    int has_pedestal = 0, has_gain = 0;
    for (int i = 0; i < 2 && image && image->trusted[0] < image->trusted[1]; i++)
        limit[i] = image->trusted[i] + image->pedestal;
    for (size_t p = 0; p < content->panel_count; p++) {
        has_pedestal |= content->panel[p].pedestal != 0;
        has_gain |= content->panel[p].gain != 1;
    }
    for (size_t p = 0; panel && p < count; p++) {
        panel[p] = content->panel_count == count
                       ? content->panel[p]
                       : (db_expt_panel){ .trusted = { -INFINITY, INFINITY }, .gain = 1 };
        for (int i = 0; i < 2; i++)
            if (!isfinite(panel[p].trusted[i])) panel[p].trusted[i] = limit[i];
        if (image && !has_pedestal) panel[p].pedestal = image->pedestal;
        if (image && !has_gain) panel[p].gain = image->gain;
    }
    return panel;
}

static void leave_out(char text[DB_LEFT_OUT_TEXT], const char *what) {
    const size_t length = strlen(text);
    snprintf(text + length, DB_LEFT_OUT_TEXT - length, "%s%s", length ? ", " : "", what);
}

/* Are the panels anything but a whole array of fast and slow pixels? */
static int has_places(const db_image_layout *layout) {
    const db_layout_panel *const first = &layout->panel[0];
    return layout->panel_count > 1 || first->first[0] || first->first[1] ||
           first->dim[0] != DB_DIM_SLOW || first->dim[1] != DB_DIM_FAST ||
           first->dim[2] != DB_DIM_NONE;
}

static void leave_layout_out(const db_image_layout *layout, char text[DB_LEFT_OUT_TEXT]) {
    int marked = 0, masks = 0, limits = 0;
    for (size_t p = 0; p < layout->panel_count; p++) {
        const db_layout_panel *const panel = &layout->panel[p];
        marked |= panel->marked_count > 0;
        limits |= panel->saturation.data != NULL;
        for (int m = 0; m < DB_LAYOUT_MASKS; m++) masks |= panel->mask[m].data != NULL;
    }
    if (has_places(layout)) leave_out(text, "places of panels in arrays");
    if (layout->region_count) leave_out(text, "bad regions by x and y");
    if (marked) leave_out(text, "values of bad pixels");
    if (masks) leave_out(text, "masks in files");
    if (limits) leave_out(text, "saturation in files");
}

int db_imported_left_out(const db_imported *geometry, char text[DB_LEFT_OUT_TEXT]) {
    const db_expt_content *const content = &geometry->content;
    int groups = 0;
    *text = '\0';
    for (size_t p = 0; p < content->panel_count; p++) groups |= content->panel[p].level_count > 1;
    if (content->layout) leave_layout_out(content->layout, text);
    for (int k = 0; k < DB_EXPT_MAP_COUNT; k++) {
        char file[48];
        snprintf(file, sizeof file, "the file of %s", db_expt_map_name((db_expt_map)k));
        if (content->map[k]) leave_out(text, file);
    }
    if (groups) leave_out(text, "groups of panels");
    return *text != '\0';
}
