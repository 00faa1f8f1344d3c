/* Detectors put together from modules. */
#include <dualbragg/expert/modules.h>
#include <dualbragg/expert/panel_motion.h>

#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of a module and of the gaps, as the makers state them; pixel sizes in mm. */
static const struct family {
    const char *name;
    double pixel_size;
    int module[4];
} families[] = {
    { "EIGER", 0.075, { 1030, 514, 10, 37 } },
    { "EIGER2", 0.075, { 1028, 512, 12, 38 } },
    { "PILATUS", 0.172, { 487, 195, 7, 17 } },
    { "PILATUS4", 0.15, { 513, 255, 7, 20 } },
};
enum { EIGER, EIGER2, PILATUS, PILATUS4, FAMILIES };

static const struct model {
    int family, modules[2];
    const char *name;
} models[] = {
    { EIGER, { 1, 2 }, "1M" },       { EIGER, { 2, 4 }, "4M" },     { EIGER, { 3, 6 }, "9M" },
    { EIGER, { 4, 8 }, "16M" },      { EIGER2, { 1, 2 }, "1M" },    { EIGER2, { 2, 1 }, "1M-W" },
    { EIGER2, { 4, 1 }, "2M-W" },    { EIGER2, { 2, 4 }, "4M" },    { EIGER2, { 3, 6 }, "9M" },
    { EIGER2, { 4, 8 }, "16M" },     { PILATUS, { 1, 2 }, "200K" }, { PILATUS, { 1, 3 }, "300K" },
    { PILATUS, { 3, 1 }, "300K-W" }, { PILATUS, { 3, 3 }, "900K" }, { PILATUS, { 9, 1 }, "900K-W" },
    { PILATUS, { 2, 5 }, "1M" },     { PILATUS, { 3, 8 }, "2M" },   { PILATUS, { 5, 12 }, "6M" },
    { PILATUS4, { 2, 4 }, "1M" },    { PILATUS4, { 3, 6 }, "2M" },  { PILATUS4, { 4, 8 }, "4M" },
};

int db_module_grid_of(const int pixels[2], const int module[4], db_module_grid *grid) {
    db_module_grid g = { .name = "" };
    for (int i = 0; i < 2; i++) {
        const long long whole = (long long)pixels[i] + module[2 + i],
                        step = (long long)module[i] + module[2 + i];
        if (module[i] < 1 || module[2 + i] < 0 || whole < step || whole % step != 0) return 0;
        g.modules[i] = (int)(whole / step);
        g.pixels[i] = module[i];
        g.gap[i] = module[2 + i];
    }
    if (g.modules[0] == 1 && g.modules[1] == 1) return 0;
    *grid = g;
    return 1;
}

static void name_grid(int family, int turned, db_module_grid *grid) {
    const char *size = "";
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        if (models[m].family == family && models[m].modules[turned] == grid->modules[0] &&
            models[m].modules[!turned] == grid->modules[1])
            size = models[m].name;
    snprintf(grid->name, sizeof grid->name, "%s%s%s", families[family].name, *size ? " " : "",
             size);
}

int db_module_grid_find(const int pixels[2], const double pixel_size[2], db_module_grid *grid) {
    static const double TOLERANCE = 0.01; /* of a pixel's size: files have it rounded or refined */
    for (int f = 0; f < FAMILIES; f++) {
        const double size = families[f].pixel_size;
        const int *const m = families[f].module;
        const int turned[4] = { m[1], m[0], m[3], m[2] };
        if (!(fabs(pixel_size[0] - size) <= TOLERANCE * size) ||
            !(fabs(pixel_size[1] - size) <= TOLERANCE * size))
            continue;
        for (int t = 0; t < 2; t++) {
            if (!db_module_grid_of(pixels, t ? turned : m, grid)) continue;
            name_grid(f, t, grid);
            return 1;
        }
    }
    return 0;
}

static db_status check_modules(db_context *context, const db_module_grid *grid,
                               const db_detector *detector) {
    if (detector->curved)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "modules: expected a flat detector, found a curved one");
    if (detector->panel_count != 1)
        return db_fail(context, DB_ERROR_USAGE,
                       "modules: expected a detector of one panel, found %zu",
                       detector->panel_count);
    const db_panel *const panel = &detector->panels[0];
    const int pixels[2] = { panel->fast_pixels, panel->slow_pixels };
    for (int i = 0; i < 2; i++)
        if (grid->modules[i] < 1 || grid->pixels[i] < 1 || grid->gap[i] < 0 ||
            (long long)grid->modules[i] * ((long long)grid->pixels[i] + grid->gap[i]) !=
                (long long)pixels[i] + grid->gap[i])
            return db_fail(context, DB_ERROR_USAGE,
                           "modules: %d of %d pixels with gaps of %d do not fill the panel's %d "
                           "along %s",
                           grid->modules[i], grid->pixels[i], grid->gap[i], pixels[i],
                           i ? "slow" : "fast");
    return DB_OK;
}

static void cut_out(const db_panel *whole, const db_module_grid *grid, int number,
                    db_panel *module) {
    const int at[2] = { number % grid->modules[0], number / grid->modules[0] };
    *module = *whole;
    module->fast_pixels = grid->pixels[0];
    module->slow_pixels = grid->pixels[1];
    for (int i = 0; i < 2; i++) {
        const int first = at[i] * (grid->pixels[i] + grid->gap[i]);
        const double *const axis = i ? whole->slow_axis : whole->fast_axis;
        module->image_offset[i] = whole->image_offset[i] + first;
        for (int k = 0; k < 3; k++) module->origin[k] += first * whole->pixel_size[i] * axis[k];
    }
}

db_status db_detector_cut(db_context *context, const db_module_grid *grid,
                          db_experiment *experiment) {
    db_detector *const detector = &experiment->detector;
    DB_TRY(check_modules(context, grid, detector));
    const int count = grid->modules[0] * grid->modules[1];
    db_panel *const modules = calloc((size_t)count, sizeof *modules);
    if (!modules) return db_fail_memory(context, "the modules of a detector");
    db_panels_take_own_motion(detector);
    for (int n = 0; n < count; n++) cut_out(&detector->panels[0], grid, n, &modules[n]);
    const db_status status = db_experiment_set_panels(context, experiment, modules, (size_t)count);
    free(modules);
    return status;
}

int db_detector_is_one_array(const db_detector *detector) {
    int placed = 0;
    for (size_t p = 0; p < detector->panel_count; p++)
        placed |= detector->panels[p].image_offset[0] || detector->panels[p].image_offset[1];
    return placed && detector->panel_count > 1;
}
