#include "cli/noise_output.h"

#include "base/shown_text.h"
#include "cli/complaint.h"
#include "cli/noise_settings.h"
#include "base/context_internal.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/image_arrays.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_noise_report(const db_session *session) {
    const db_settings *s = &session->settings;
    if (!db_noise_wanted(s)) return;
    /* sign and spelling are the reference's, which negates its seeds */
    printf("\n  noise image paramters:\n  seed: -%lu\n  water droplet size: %.*g m\n",
           (unsigned long)db_noise_options_of(&session->settings, &session->experiment).seed,
           s->digits, 1e-6 * s->setup.water_size);
}

static void print_summary(const db_session *session, const db_noise_options *options,
                          const db_noise_summary *summary) {
    const db_settings *s = &session->settings;
    if (s->quiet) return;
    if (options->psf != DB_PSF_NONE)
        printf("point spread function: computed up to a distance of %d pixels; the remaining "
               "fraction %.*g of the light is spread evenly over all pixels\n",
               summary->psf_radius, s->digits, summary->psf_lost);
    if (options->noisy)
        printf("%.0f photons on noise image (%zu overloads)\n", summary->photons,
               summary->overloads);
    if (options->noisy && summary->negative)
        db_remark(s->command,
                  "%zu pixels expect a negative number of photons: the noise image has 0 there",
                  summary->negative);
    if (summary->underflows)
        db_remark(s->command,
                  "%zu pixels are below 0 ADU and written as 0; a larger -adc avoids this",
                  summary->underflows);
}

static size_t sheet_pixels(const db_session *session) {
    return (size_t)session->sheet.fast_pixels * (size_t)session->sheet.slow_pixels;
}

db_status db_noise_make(db_context *context, const db_noise_options *options,
                        const db_detector *detector, const db_region *region, const float *image,
                        int32_t *number, float *signal, db_noise_summary *summary) {
    static const double square = 1e-3; /* refined pixels differ by less */
    size_t at = 0;
    *summary = (db_noise_summary){ 0 };
    for (size_t p = 0; p < detector->panel_count; p++) {
        const db_panel *const panel = &detector->panels[p];
        const double *const first = detector->panels[0].pixel_size, *const size = panel->pixel_size;
        db_noise_options own_options = *options;
        if (options->psf != DB_PSF_NONE && fabs(size[1] / size[0] - 1) > square)
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "-psf: expected square pixels, found %g x %g mm on panel %zu", size[0],
                           size[1], p);
        own_options.psf_fwhm *= first[0] / size[0]; /* pixels */
        db_noise_frame frame = { .panel = (uint32_t)p,
                                 .fast_pixels = panel->fast_pixels,
                                 .slow_pixels = panel->slow_pixels,
                                 .expected = image + at,
                                 .number = number ? number + at : NULL,
                                 .signal = signal ? signal + at : NULL };
        if (detector->panel_count == 1) {
            frame.fast_start = region->fast_start;
            frame.slow_start = region->slow_start;
            frame.fast_count = region->fast_count;
            frame.slow_count = region->slow_count;
        }
        db_noise_summary own;
        DB_TRY(db_noise_apply(context, &own_options, &frame, &own));
        own.photons += summary->photons;
        own.overloads += summary->overloads;
        own.underflows += summary->underflows;
        own.negative += summary->negative;
        *summary = own;
        at += (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    }
    return DB_OK;
}

db_nexus_format db_noise_format(const db_session *session, const db_noise_options *options) {
    return (db_nexus_format){ .pixels = options->bits == 16 ? DB_NEXUS_16_BIT : DB_NEXUS_32_BIT,
                              .mask = session->mask,
                              .region = db_session_part(session),
                              .exposure = session->settings.setup.exposure,
                              .gain = options->gain,
                              .pedestal = options->adc };
}

void db_noise_narrow(const db_noise_options *options, int32_t *number, size_t count) {
    if (options->bits != 16) return;
    for (size_t i = 0; i < count; i++) {
        const uint16_t narrow = (uint16_t)number[i];
        memcpy((char *)number + i * sizeof narrow, &narrow, sizeof narrow);
    }
}

static db_status write_numbers(const db_session *session, const db_noise_options *options,
                               const char *file, int32_t *number, const db_smv_style *style) {
    const int hdf5 = db_names_hdf5(file);
    if (!session->settings.quiet)
        db_shown_print(stdout, "writing %s as %d-byte integers%s\n", db_shown_path(file),
                       options->bits / 8, hdf5 ? " (NXmx)" : "");
    const db_experiment experiment = db_session_header_experiment(session);
    if (!hdf5)
        return db_write_smv_numbers(session->context, file, &experiment, number, options->bits,
                                    options->gain, options->adc, style);
    const db_nexus_format format = db_noise_format(session, options);
    db_noise_narrow(options, number, sheet_pixels(session));
    return db_nexus_write(session->context, file, &session->experiment, &format, number);
}

static db_status write_signal(const db_session *session, const char *file, const float *signal) {
    if (!session->settings.quiet)
        db_shown_print(stdout, "writing %s as %zu 4-byte floats\n", db_shown_path(file),
                       sheet_pixels(session));
    return db_write_float_image(session->context, file, signal, sheet_pixels(session));
}

db_status db_noise_write(const db_session *session, const db_noise_options *options,
                         const float *image, const char *number_file, const char *float_file,
                         const db_smv_style *style) {
    const size_t count = sheet_pixels(session);
    int32_t *const number = number_file ? malloc(count * sizeof *number) : NULL;
    float *const signal = float_file ? malloc(count * sizeof *signal) : NULL;
    db_status status = DB_OK;
    db_noise_summary summary;
    if ((number_file && !number) || (float_file && !signal))
        status = db_fail_memory(session->context, "an image with noise");
    if (status == DB_OK)
        status = db_noise_make(session->context, options, &session->experiment.detector,
                               &session->region, image, number, signal, &summary);
    if (status == DB_OK) print_summary(session, options, &summary);
    if (status == DB_OK && number_file)
        status = write_numbers(session, options, number_file, number, style);
    if (status == DB_OK && float_file) status = write_signal(session, float_file, signal);
    free(number);
    free(signal);
    return status;
}

/* Renders the whole panel but masked pixels. */
static db_status render_panel(const db_session *session, float *image) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = session->settings.precision;
    options.tolerance = session->settings.tolerance;
    db_plan *plan = NULL;
    db_status status = db_plan_create(session->context, &session->experiment, &options, &plan);
    if (status == DB_OK) status = db_plan_forward(plan, image);
    db_plan_destroy(&plan);
    if (status == DB_OK) db_session_apply_mask(session, image);
    return status;
}

static int whole_panel(const db_session *session) {
    const db_panel *panel = &session->sheet;
    return session->region.fast_count == panel->fast_pixels &&
           session->region.slow_count == panel->slow_pixels;
}

db_status db_noise_output(const db_session *session, const float *image,
                          const db_smv_style *style) {
    const db_settings *s = &session->settings;
    if (!db_noise_wanted(s)) return DB_OK;
    const db_noise_options options = db_noise_options_of(&session->settings, &session->experiment);
    if (options.psf == DB_PSF_NONE || whole_panel(session))
        return db_noise_write(session, &options, image, s->noise_file, s->noise_float_file, style);
    float *all = malloc(db_experiment_pixels(&session->experiment) * sizeof *all);
    if (!all) return DB_ERROR_MEMORY;
    db_status status = render_panel(session, all);
    if (status == DB_OK)
        status = db_noise_write(session, &options, all, s->noise_file, s->noise_float_file, style);
    free(all);
    return status;
}
