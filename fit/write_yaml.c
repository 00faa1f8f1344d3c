#define _XOPEN_SOURCE 700
#include <dualbragg/fit.h>

#include "core/context_internal.h"
#include "fit/config_print.h"
#include "fit/text_stream.h"
#include "fit/value_with_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t folder_length(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A file name as the written file must give it: names in a configuration are relative to its
 * folder. */
static db_status rename_from(db_context *context, const char *yaml_path,
                             char name[DB_FIT_PATH_SIZE]) {
    if (!*name || *name == '/') return DB_OK;
    const size_t folder = folder_length(yaml_path), own = folder_length(name);
    if (folder == own && memcmp(yaml_path, name, folder) == 0) {
        memmove(name, name + own, strlen(name + own) + 1);
        return DB_OK;
    }
    char *const whole = realpath(name, NULL);
    const int fits = whole && strlen(whole) < DB_FIT_PATH_SIZE;
    if (fits) memcpy(name, whole, strlen(whole) + 1);
    free(whole);
    if (!fits) return db_fail(context, DB_ERROR_FILE, "%s: cannot be found any more", name);
    return DB_OK;
}

/* The configuration with the refined experiment as its starting model, all of it given. */
static db_status refined_config(db_context *context, const char *path, const db_fit_config *config,
                                const db_experiment *refined, db_fit_config *out) {
    *out = *config;
    db_setup *const setup = &out->setup;
    const db_crystal *const crystal = &refined->crystal;
    const db_detector *const detector = &refined->detector;
    if (detector->panel_count != 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: a configuration describes one panel, the model has %zu", path,
                       detector->panel_count);
    const db_panel *const panel = &detector->panels[0];
    out->matrix_file[0] = '\0';
    memcpy(setup->cell, crystal->cell, sizeof setup->cell);
    memcpy(out->orientation, crystal->orientation, sizeof out->orientation);
    memcpy(setup->misset, crystal->misset, sizeof setup->misset);
    memcpy(setup->cells, crystal->cells, sizeof setup->cells);
    setup->shape = crystal->shape;
    setup->fudge = crystal->fudge;
    setup->mosaic_spread = crystal->mosaic_spread;
    setup->mosaic_domains = crystal->mosaic_domains;
    setup->mosaic_seed = crystal->mosaic_seed;
    setup->wavelength = refined->beam.wavelength;
    setup->polarization = refined->beam.polarization;
    setup->fluence = refined->beam.fluence;
    memcpy(out->beam_tilt, refined->beam.tilt, sizeof out->beam_tilt);
    out->scale = refined->beam.scale;
    setup->phi = refined->goniometer.phi;
    setup->distance = detector->distance_is_close ? NAN : detector->distance;
    setup->close_distance = detector->distance_is_close ? detector->distance : NAN;
    setup->pixel_size = panel->pixel_size[0];
    setup->detector_pixels[0] = panel->fast_pixels;
    setup->detector_pixels[1] = panel->slow_pixels;
    for (int i = 0; i < 2; i++) out->beam_centre[i] = detector->centre[i] / panel->pixel_size[i];
    memcpy(setup->rotation, detector->rotation, sizeof setup->rotation);
    setup->twotheta = detector->twotheta;
    setup->oversample = refined->oversample;
    out->header_geometry = 0;
    DB_TRY(rename_from(context, path, out->image_file));
    DB_TRY(rename_from(context, path, out->hkl_file));
    out->output_prefix[0] = '\0';
    return DB_OK;
}

static void print_heading(const db_fit_config *config, const db_fit_result *result, FILE *stream) {
    fprintf(stream, "# dualbragg %s: model refined from ", db_version());
    db_yaml_print_text(stream, config->config_file);
    fprintf(stream, "\n# %s: %s\n#\n", result->status == DB_OK ? "converged" : "NOT CONVERGED",
            result->reason);
    for (size_t i = 0; i < result->parameter_count; i++) {
        const db_parameter_info *const info = db_parameter_describe(result->parameter[i]);
        char start[DB_VALUE_TEXT_SIZE], refined[DB_VALUE_TEXT_SIZE];
        fprintf(stream, "# %-16s %14s -> %-18s %s\n", info->name,
                db_value_with_error(start, result->start[i], NAN),
                db_value_with_error(refined, result->refined[i], result->error[i]), info->unit);
    }
    fputc('\n', stream);
}

db_status db_fit_write_yaml(db_context *context, const char *path, const db_fit_config *config,
                            const db_fit_result *result) {
    db_fit_config *const refined = malloc(sizeof *refined);
    if (!refined) return db_fail_memory(context, path);
    db_text_stream text;
    db_status status = refined_config(context, path, config, &result->experiment, refined);
    if (status == DB_OK) status = db_text_stream_open(context, &text);
    if (status == DB_OK) {
        print_heading(config, result, text.stream);
        db_fit_config_print(refined, DB_CONFIG_PLAIN, text.stream);
        status = db_text_stream_write(context, &text, DB_OK, path);
    }
    free(refined);
    return status;
}
