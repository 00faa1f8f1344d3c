/* Puts the refined values into a copy of the configuration. */
#include "fit/report/refined_config.h"

#include "base/context_internal.h"
#include "base/text_stream.h"
#include "fit/config/config_move.h"
#include "fit/config/config_print.h"
#include "fit/config/orientation.h"
#include "fit/report/value_with_error.h"
#include "fit/verdict/verdict_tests.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_files.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void take_crystal(const db_crystal *crystal, db_fit_config *config) {
    db_setup *const setup = &config->setup;
    memcpy(setup->cell, crystal->cell, sizeof setup->cell);
    db_orientation_configure(crystal, config);
    memcpy(setup->crystal_position, crystal->position, sizeof setup->crystal_position);
    memcpy(setup->Ncells, crystal->Ncells, sizeof setup->Ncells);
    setup->shape = crystal->shape;
    setup->fudge = crystal->fudge;
    setup->mosaic_spread = crystal->mosaic_spread;
    if (crystal->mosaic_anisotropic)
        memcpy(setup->mosaic_abc, crystal->mosaic_abc, sizeof setup->mosaic_abc);
    setup->mosaic_domains = crystal->mosaic_domains;
    setup->mosaic_seed = crystal->mosaic_seed;
    setup->b_factor = crystal->b_factor;
    for (int i = 0; crystal->diffuse_gamma[0] > 0 && i < 3; i++) {
        const int own = i == 0 || crystal->diffuse_anisotropic;
        setup->diffuse_sigma[i] = own ? crystal->diffuse_sigma[i] : NAN;
        setup->diffuse_gamma[i] = own ? crystal->diffuse_gamma[i] : NAN;
    }
    setup->matrix_file = NULL;
    config->matrix_file[0] = '\0';
}

static void take_beam(const db_beam *beam, db_fit_config *config) {
    config->setup.wavelength = beam->wavelength;
    config->setup.polarization = beam->polarization;
    config->setup.fluence = beam->fluence;
    config->setup.dispersion = beam->dispersion;
    config->setup.spectrum_stretch = beam->spectrum_stretch;
    for (int i = 0; i < 2; i++) /* in radian; without divergence the key stays open */
        if (!isnan(config->setup.divergence_range[i]) || beam->divergence[i] != 0)
            config->setup.divergence_range[i] = 1e-3 * beam->divergence[i];
    memcpy(config->setup.beam_tilt, beam->tilt, sizeof beam->tilt);
    config->setup.scale = beam->scale;
}

/* Standard deviations from variances; a 0 that was not given stays open. */
static void take_rms(const double *variance, int count, double unit, double *rms) {
    int given = !isnan(rms[0]);
    for (int i = 0; i < count; i++) given |= variance[i] != 0;
    for (int i = 0; given && i < count; i++) rms[i] = sqrt(fmax(variance[i], 0)) * unit;
}

static void take_numbers(const double *value, int count, double *key) {
    int given = !isnan(key[0]);
    for (int i = 0; i < count; i++) given |= value[i] != 0;
    for (int i = 0; given && i < count; i++) key[i] = value[i];
}

/* Standard deviations and correlation along two axes. */
static void take_pair(const double covariance[3], double rms[2], double *correlation) {
    take_rms(covariance, 2, 1, rms);
    const double both = sqrt(fmax(covariance[0] * covariance[1], 0));
    const double ratio = both > 0 ? fmin(fmax(covariance[2] / both, -1), 1) : 0;
    take_numbers(&ratio, 1, correlation);
}

/* Takes spreads of spots in closed form, which include caps and full ranges of the configuration. */
static void take_spread(const db_spread *spread, db_setup *setup) {
    db_spread_setup *const s = &setup->spread;
    if (spread->spots != DB_SPOTS_CLOSED) return;
    setup->mosaic_abc[0] = NAN;
    for (int i = 0; i < 2; i++) setup->divergence_range[i] = NAN;
    s->mosaic_rms_abc[0] = NAN; /* included in the tensor */
    /* If open, these begin at the widths of spots, so 0 is written, too. */
    if (isnan(s->mosaic_rms)) s->mosaic_rms = 0;
    if (isnan(s->footprint_rms[0])) s->footprint_rms[0] = 0;
    take_rms(&spread->mosaic, 1, 1, &s->mosaic_rms);
    take_numbers(spread->mosaic_tensor, 6, s->mosaic_tensor);
    take_rms(&spread->strain, 1, 1e-3, &s->strain_rms);
    take_rms(spread->strain_tensor, 6, 1e-3, s->strain_rms_tensor);
    for (int k = 0; k < DB_SPREAD_MODES; k++) take_numbers(spread->mode[k], 9, s->mode[k]);
    for (int k = 0; k < spread->tails; k++) {
        s->tail[k][0] = spread->tail_fraction[k];
        s->tail[k][1] = spread->tail_width[k];
    }
    take_numbers(spread->size_correlation, 3, s->size_correlation);
    take_rms(&spread->bandwidth, 1, 1e-3, &s->bandwidth_rms);
    take_pair(spread->divergence, s->divergence_rms, &s->divergence_correlation);
    take_pair(spread->footprint, s->footprint_rms, &s->footprint_correlation);
    take_pair(spread->point_spread, s->point_spread_rms, &s->point_spread_correlation);
}

static void take_detector(const db_detector *detector, db_fit_config *config) {
    db_setup *const setup = &config->setup;
    const db_panel *const panel = &detector->panels[0];
    setup->distance = detector->distance_is_close ? NAN : detector->distance;
    setup->close_distance = detector->distance_is_close ? detector->distance : NAN;
    setup->pixel_size = panel->pixel_size[0];
    setup->detector_pixels[0] = panel->fast_pixels;
    setup->detector_pixels[1] = panel->slow_pixels;
    for (int i = 0; i < 2; i++)
        setup->beam_centre_px[i] = detector->centre[i] / panel->pixel_size[i];
    memcpy(setup->rotation, detector->rotation, sizeof setup->rotation);
    setup->twotheta = detector->twotheta;
    memcpy(setup->panel_turn, detector->panel_turn, sizeof setup->panel_turn);
    memcpy(setup->panel_shift, detector->panel_shift, sizeof setup->panel_shift);
}

static void take_sensor(const db_detector *detector, db_setup *setup) {
    setup->sensor_thickness = detector->sensor_thickness;
    if (detector->sensor_thickness == 0) return;
    setup->attenuation_depth = detector->attenuation_depth;
    setup->sensor_material = detector->sensor_material;
    setup->sensor_layers = detector->sensor_layers;
}

/* Leaves beam, detector and spindle to the refined list, which has them moved and turned. */
static void leave_to_list(db_fit_config *config) {
    db_setup *const setup = &config->setup;
    setup->distance = setup->close_distance = NAN;
    setup->rotation[0] = setup->rotation[1] = setup->rotation[2] = setup->twotheta = 0;
    memset(setup->panel_turn, 0, sizeof setup->panel_turn);
    memset(setup->panel_shift, 0, sizeof setup->panel_shift);
    memset(setup->spindle_tilt, 0, sizeof setup->spindle_tilt);
    memset(setup->beam_tilt, 0, sizeof setup->beam_tilt);
    setup->expt_number = -1;
    setup->expt_frame = 0;
}

db_status db_fit_refined_config(db_context *context, const db_fit_config *config,
                                const db_experiment *experiment, db_fit_config *refined) {
    if (experiment->detector.panel_count != 1 && !*config->expt_file)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "a configuration describes one panel, the model has %zu",
                       experiment->detector.panel_count);
    DB_TRY(db_fit_config_copy(context, config, refined));
    take_crystal(&experiment->crystal, refined);
    take_beam(&experiment->beam, refined);
    take_spread(&experiment->spread, &refined->setup);
    if (!*config->expt_file) take_detector(&experiment->detector, refined);
    take_sensor(&experiment->detector, &refined->setup);
    refined->setup.phi = experiment->goniometer.phi;
    memcpy(refined->setup.spindle_tilt, experiment->goniometer.tilt,
           sizeof refined->setup.spindle_tilt);
    if (!config->settings.choose_oversample) refined->setup.oversample = experiment->oversample;
    if (*config->expt_file) leave_to_list(refined);
    refined->header_geometry = 0;
    refined->output_prefix[0] = '\0';
    refined->settings.starts.count = 1; /* the best start has been found */
    return DB_OK;
}

db_status db_config_write(db_context *context, const char *path, const db_fit_config *config,
                          db_config_heading heading, const void *of) {
    db_text_stream text;
    DB_TRY(db_text_stream_open(context, &text));
    heading(text.stream, of);
    db_fit_config_print(config, DB_CONFIG_PLAIN, text.stream);
    return db_text_stream_write(context, &text, DB_OK, path);
}

db_status db_refined_config_write(db_context *context, const char *path,
                                  const db_fit_config *config, const db_fit_result *found,
                                  db_config_heading heading, const void *of) {
    db_fit_config refined = { .image_file = "" };
    db_status status = db_fit_refined_config(context, config, &found->experiment, &refined);
    if (status == DB_OK) status = db_fit_config_move(context, path, &refined);
    if (status == DB_OK) {
        db_fit_settings_count_from(&found->estimates, &refined.settings);
        status = db_config_write(context, path, &refined, heading, of);
    }
    db_fit_config_clear(&refined);
    return status;
}

/* A refined image. */
typedef struct refined_still {
    const db_fit_config *config;
    const db_fit_result *result;
} refined_still;

static void print_heading(FILE *stream, const void *of) {
    const refined_still *const s = of;
    fprintf(stream, "# dualbragg %s: model refined from ", db_version());
    db_yaml_print_text(stream, s->config->config_file);
    fprintf(stream, "\n# %s%s\n#\n",
            db_verdict_heading(s->result->status, s->result->verdict.usable), s->result->reason);
    for (size_t i = 0; i < s->result->estimates.count; i++) {
        const db_fit_estimate *const e = &s->result->estimates.list[i];
        char start[DB_VALUE_TEXT_SIZE], refined[DB_VALUE_TEXT_SIZE];
        fprintf(stream, "# %-16s %14s -> %-18s %s\n", e->name,
                db_value_with_error(start, e->start, NAN),
                db_value_with_error(refined, e->value, e->error), e->unit);
    }
    fputc('\n', stream);
}

db_status db_fit_write_yaml(db_context *context, const char *path, const db_fit_config *config,
                            const db_fit_result *result) {
    const refined_still still = { config, result };
    return db_refined_config_write(context, path, config, result, print_heading, &still);
}
