#include "cli/noise_output.h"

#include "cli/complaint.h"
#include "cli/noise_settings.h"

#include <stdio.h>
#include <stdlib.h>

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
        printf("point spread function: light is followed over %d pixels, the other %.*g of it is "
               "on all pixels evenly\n",
               summary->psf_radius, s->digits, summary->psf_lost);
    if (options->noisy)
        printf("%.0f photons on noise image (%zu overloads)\n", summary->photons,
               summary->overloads);
    if (options->noisy && summary->negative)
        db_remark(s->command, "%zu pixels expect less than no photons: none are on the noise image",
                  summary->negative);
    if (summary->underflows)
        db_remark(s->command, "%zu pixels are below 0 ADU and written as 0; -adc lifts them",
                  summary->underflows);
}

static db_status write_files(const db_session *session, const db_noise_options *options,
                             const db_noise_frame *frame, const char *number_file,
                             const char *float_file, const db_smv_style *style) {
    const int quiet = session->settings.quiet;
    const size_t count = (size_t)frame->fast_pixels * (size_t)frame->slow_pixels;
    db_status status = DB_OK;
    if (number_file) {
        if (!quiet)
            printf("writing %s as %d-byte integers\n", db_shown_path(number_file),
                   options->bits / 8);
        status =
            db_write_smv_numbers(session->context, number_file, &session->experiment, frame->number,
                                 options->bits, options->gain, options->adc, style);
    }
    if (status == DB_OK && float_file) {
        if (!quiet) printf("writing %s as %zu 4-byte floats\n", db_shown_path(float_file), count);
        status = db_write_float_image(session->context, float_file, frame->signal, count);
    }
    return status;
}

db_status db_noise_write(const db_session *session, const db_noise_options *options,
                         const float *image, const char *number_file, const char *float_file,
                         const db_smv_style *style) {
    const db_panel *panel = &session->experiment.detector.panels[0];
    const size_t count = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    db_noise_frame frame = { .fast_pixels = panel->fast_pixels,
                             .slow_pixels = panel->slow_pixels,
                             .expected = image,
                             .fast_start = session->region.fast_start,
                             .slow_start = session->region.slow_start,
                             .fast_count = session->region.fast_count,
                             .slow_count = session->region.slow_count };
    if (number_file) frame.number = malloc(count * sizeof *frame.number);
    if (float_file) frame.signal = malloc(count * sizeof *frame.signal);
    db_status status = DB_OK;
    if ((number_file && !frame.number) || (float_file && !frame.signal)) {
        status = DB_ERROR_MEMORY;
    } else {
        db_noise_summary summary;
        status = db_noise_apply(session->context, options, &frame, &summary);
        if (status == DB_OK) {
            print_summary(session, options, &summary);
            status = write_files(session, options, &frame, number_file, float_file, style);
        }
    }
    free(frame.number);
    free(frame.signal);
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
    const db_panel *panel = &session->experiment.detector.panels[0];
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
