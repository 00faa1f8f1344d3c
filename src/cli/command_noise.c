/* dualbragg noise: applies a detector's noise to an image from a file. */
#include "cli/complaint.h"
#include "base/shown_text.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/noise_output.h"
#include "cli/noise_settings.h"
#include "base/context_internal.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/image_arrays.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_status check_outputs(const db_session *session) {
    const db_settings *s = &session->settings;
    if (!s->int_file && !db_noise_wanted(s))
        return db_complain(
            s->command, DB_ERROR_USAGE,
            "no output named: expected -noisefile FILE (SMV or HDF5), -noisefloatfile FILE (32-bit "
            "floats) or -intfile FILE (SMV without noise)");
    return db_noise_flags_check(session->context, &session->settings, &session->experiment);
}

/* Photons per unit of the input: the user's factor, and the fluence's, unless the fluence is the one for which the
 * factor is 1. */
static double photon_scale(const db_session *session) {
    const double fluence = session->experiment.beam.fluence,
                 scale = session->settings.scale > 0 ? session->settings.scale : 1;
    return fluence == DB_DEFAULT_FLUENCE ? scale : scale * fluence * DB_THOMSON_R2;
}

static void report_noise(const db_session *session, const db_noise_options *o, const float *image) {
    const db_settings *s = &session->settings;
    const db_panel *panel = &session->experiment.detector.panels[0];
    const int digits = s->digits;
    double largest = 0;
    if (s->quiet) return;
    const size_t count = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    for (size_t i = 0; i < count; i++)
        if ((double)image[i] > largest) largest = (double)image[i];
    db_shown_print(stdout, "importing %zu pixel intensities: %s (%d x %d pixels)\n", count,
                   s->float_file, panel->fast_pixels, panel->slow_pixels);
    if (o->psf != DB_PSF_NONE)
        printf("  %s PSF fwhm = %.*g um\n", o->psf == DB_PSF_GAUSS ? "Gaussian" : "fiber", digits,
               s->psf_width);
    printf("  seed: -%lu\n  calibration noise seed: %lu\n  calibration_noise = %.*g %%\n"
           "  input file scale = %.*g\n  readout_noise = %.*g ADU\n  flicker_noise = %.*g %%\n"
           "  quantum_gain = %.*g ADU/photon\n  adc_offset = %.*g ADU\n",
           (unsigned long)o->seed, (unsigned long)o->calibration_seed, digits, 100 * o->calibration,
           digits, o->scale, digits, o->readout, digits, 100 * o->flicker, digits, o->gain, digits,
           o->adc);
    printf("maximum value in input file: %.*g ( %.*g on photon scale)\n", digits, largest, digits,
           largest * o->scale);
}

static db_status write_all(const db_session *session, const float *image) {
    const db_settings *s = &session->settings;
    const db_smv_style style = db_session_smv_style(session);
    db_noise_options options = db_noise_options_of(&session->settings, &session->experiment);
    options.scale = photon_scale(session);
    report_noise(session, &options, image);
    if (s->int_file) {
        db_noise_options clean = options;
        clean.noisy = 0;
        clean.adc = s->adc;
        const db_status status = db_noise_write(session, &clean, image, s->int_file, NULL, &style);
        if (status != DB_OK) return status;
    }
    if (!db_noise_wanted(s)) return DB_OK;
    return db_noise_write(session, &options, image, s->noise_file, s->noise_float_file, &style);
}

/* Leaves out pixels that the file masks, like those of -mask. */
static db_status take_mask(db_session *session, const db_measured_image *from) {
    const size_t count = db_experiment_pixels(&session->experiment);
    if (from->masked == 0) return DB_OK;
    if (!session->mask) {
        session->mask = malloc(count);
        if (!session->mask) return db_fail_memory(session->context, "a mask");
        memset(session->mask, 1, count);
    }
    for (size_t i = 0; i < count; i++)
        if (from->mask[i] != DB_MASK_TRUSTED) session->mask[i] = 0;
    if (!session->settings.quiet)
        db_remark(session->settings.command, "%s: %zu pixels are masked: they get no counts",
                  session->settings.float_file, from->masked);
    return DB_OK;
}

/* Photons of an image with a header, from its counts. */
static db_status read_measured(db_session *session, float *image) {
    const char *const path = session->settings.float_file;
    const db_panel *const panel = &session->experiment.detector.panels[0];
    db_measured_image from;
    DB_TRY(db_read_image(session->context, path, &from));
    db_status status = DB_OK;
    if (from.fast_pixels != panel->fast_pixels || from.slow_pixels != panel->slow_pixels)
        status = db_fail(session->context, DB_ERROR_INPUT,
                         "-floatfile %s: expected %d x %d pixels, as the detector has, found %d x "
                         "%d",
                         path, panel->fast_pixels, panel->slow_pixels, from.fast_pixels,
                         from.slow_pixels);
    if (status == DB_OK) status = take_mask(session, &from);
    const size_t count = db_experiment_pixels(&session->experiment);
    for (size_t i = 0; i < count && status == DB_OK; i++)
        image[i] = (float)((double)from.value[i] / from.gain);
    db_measured_image_clear(&from);
    return status;
}

static db_status read_input(db_session *session, float *image) {
    const db_panel *const panel = &session->experiment.detector.panels[0];
    if (db_noise_of_image(session->context, &session->settings))
        return read_measured(session, image);
    return db_read_float_image(session->context, session->settings.float_file, panel->fast_pixels,
                               panel->slow_pixels, image);
}

static db_status add_noise(db_session *session) {
    const db_settings *s = &session->settings;
    db_status status = check_outputs(session);
    if (status != DB_OK) return status;
    float *image = malloc(db_experiment_pixels(&session->experiment) * sizeof *image);
    if (!image) return db_complain(s->command, DB_ERROR_MEMORY, "out of memory for the image");
    status = read_input(session, image);
    if (status == DB_OK) {
        db_session_apply_mask(session, image);
        status = write_all(session, image);
    }
    free(image);
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

static int run_noise(const db_command *command, int argc, char **argv) {
    return db_session_run(command, argc, argv, add_noise);
}

const db_command db_noise_command = { "noise", db_noise_help, &db_noise_flags, run_noise };
