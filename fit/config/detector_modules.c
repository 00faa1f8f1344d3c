/* Modules of a detector with one panel: from data.modules, or of a known detector of this size. */
#include "fit/config/detector_modules.h"

#include "base/context_internal.h"

db_status db_fit_find_modules(db_context *context, const db_fit_config *config,
                              const db_experiment *experiment, db_module_grid *grid, int *found) {
    const db_panel *const panel = &experiment->detector.panels[0];
    const int pixels[2] = { panel->fast_pixels, panel->slow_pixels };
    const int *const given = config->modules;
    *found = 0;
    if (experiment->detector.panel_count != 1) return DB_OK;
    if (!given[0] && !given[1] && !given[2] && !given[3]) {
        *found = db_module_grid_find(pixels, panel->pixel_size, grid);
        return DB_OK;
    }
    *found = db_module_grid_of(pixels, given, grid);
    if (*found) return DB_OK;
    return db_fail(
        context, DB_ERROR_USAGE,
        "%s: data.modules: modules of %d x %d pixels with gaps of %d and %d pixels do not "
        "fill the detector's %d x %d",
        config->config_file, given[0], given[1], given[2], given[3], pixels[0], pixels[1]);
}

db_status db_fit_cut_detector(db_context *context, const db_fit_config *config,
                              db_experiment *experiment, db_module_grid *grid, int *cut) {
    const db_panel *const panel = &experiment->detector.panels[0];
    const size_t named = config->settings.panel_groups.panel_count;
    db_module_grid own;
    *cut = 0;
    if (named < 2 || experiment->detector.panel_count != 1) return DB_OK;
    DB_TRY(db_fit_find_modules(context, config, experiment, &own, cut));
    if (grid) *grid = own;
    if (*cut) return db_detector_cut(context, &own, experiment);
    return db_fail(
        context, DB_ERROR_USAGE,
        "%s: panel_groups: panel %zu is named, but the detector has one panel, and %d x %d pixels "
        "of %g mm are no detector with known modules; give them by data.modules",
        config->config_file, named - 1, panel->fast_pixels, panel->slow_pixels,
        panel->pixel_size[0]);
}
