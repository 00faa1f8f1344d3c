#include "cli/session.h"

#include "cli/amorphous.h"
#include "cli/closed_spots.h"
#include "cli/complaint.h"
#include "cli/flag_files.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/noise_settings.h"
#include "cli/parameter_list.h"
#include "cli/profile.h"
#include "cli/progress.h"
#include "cli/stopwatch.h"
#include "base/growth.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/instruction_set.h>
#include <dualbragg/expert/setup_defaults.h>
#include <dualbragg/expert/stages.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

db_status db_session_complain(const db_session *session, db_status status) {
    return db_complain_context(session->settings.command, status, session->context);
}

static db_status open_context(db_session *session) {
    const db_settings *settings = &session->settings;
    db_status status = db_context_create(&session->context);
    if (status == DB_OK) status = db_context_set_threads(session->context, settings->threads);
    if (status == DB_OK && settings->isa)
        status = db_context_set_isa(session->context, settings->isa);
    if (status == DB_OK && settings->device)
        status = db_context_set_device(session->context, settings->device);
    if (status == DB_OK && !settings->quiet)
        db_context_set_notices(session->context, db_notices_add, &session->notices);
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

/* How far energies of varied shots are from that of the beam (db_setup.site_reach): by their spectrum
 * (db_experiment_set_sase), and by seven standard deviations of its wavelength. */
static double reach_of_shots(const db_settings *settings) {
    const double of_spectrum =
        settings->sase[0] > 0 ? 1.3 * settings->sase[0] + settings->sase[1] / 3 : 0;
    const double of_wavelength = 7 * settings->wavelength_jitter;
    const double longest = (1 + of_wavelength) / fmax(0.1, 1 - of_spectrum),
                 shortest = fmax(0.5, 1 - of_wavelength) / (1 + of_spectrum);
    return fmax(longest, 1 / shortest) - 1;
}

static db_status resolve_session(db_session *session) {
    const db_setup *setup = &session->settings.setup;
    db_status prepared = db_amorphous_prepare(&session->settings);
    if (prepared == DB_OK) prepared = db_noise_prepare(session->context, &session->settings);
    if (prepared != DB_OK) return prepared;
    const int crystal =
        !db_amorphous_alone(&session->settings) && !db_noise_alone(&session->settings);
    if (crystal && !setup->hkl_file && !setup->cache_file && setup->default_F == 0)
        return db_complain(
            session->settings.command, DB_ERROR_INPUT,
            "no structure factors: expected -hkl FILE or -default_F F, found neither");
    db_setup own = *setup;
    own.site_reach = reach_of_shots(&session->settings);
    if (session->settings.shots_file && !own.spectrum_file)
        own.spectrum_resolution = 0; /* that of the spectra in the list */
    db_status status =
        db_setup_resolve(session->context, &own, &session->experiment,
                         session->settings.quiet ? NULL : db_notices_add, &session->notices);
    if (status == DB_OK)
        status = db_closed_spots_prepare(session->context, &session->settings, &session->experiment,
                                         &session->notices);
    if (status == DB_OK) return DB_OK;
    db_notices_print_rest(&session->notices);
    return db_session_complain(session, status);
}

/* A flag that works only with one panel. */
static const char *one_panel_flag(const db_settings *s) {
    return s->roi[0] >= 0                                   ? "-roi"
           : s->mask_file                                   ? "-mask"
           : s->int_file                                    ? "-intfile"
           : s->noise_file && !db_names_hdf5(s->noise_file) ? "-noisefile of an SMV image"
           : s->printout || s->trace_pixel[0] >= 0          ? "-printout"
           : strcmp(s->command, "noise") == 0               ? "dualbragg noise"
                                                            : NULL;
}

static db_status lay_out_sheet(db_session *session) {
    const db_detector *detector = &session->experiment.detector;
    const db_settings *s = &session->settings;
    session->sheet = detector->panels[0];
    if (detector->panel_count == 1) return DB_OK;
    if (one_panel_flag(s))
        return db_complain(s->command, DB_ERROR_UNSUPPORTED,
                           "%s: expected a detector of one panel, found %zu", one_panel_flag(s),
                           detector->panel_count);
    for (size_t p = 1; p < detector->panel_count; p++) {
        if (detector->panels[p].fast_pixels != session->sheet.fast_pixels)
            return db_complain(s->command, DB_ERROR_UNSUPPORTED,
                               "-expt %s: expected panels of one width, found %d and %d pixels",
                               s->setup.expt_file, session->sheet.fast_pixels,
                               detector->panels[p].fast_pixels);
        session->sheet.slow_pixels += detector->panels[p].slow_pixels;
    }
    return DB_OK;
}

db_status db_settings_roi(const db_settings *settings, const int size[2], int roi[4]) {
    memcpy(roi, settings->roi, sizeof settings->roi);
    for (int i = 0; i < 2 && roi[0] >= 0; i++) {
        int *const limit = &roi[2 * i];
        if (limit[0] > limit[1] || limit[0] >= size[i])
            return db_complain(settings->command, DB_ERROR_USAGE,
                               "-roi: expected %s from 0 to %d, the smaller one first, found %d %d",
                               i ? "YMIN YMAX" : "XMIN XMAX", size[i] - 1, limit[0], limit[1]);
        if (limit[1] < size[i]) continue;
        if (!settings->quiet)
            db_remark(settings->command,
                      "-roi: the last pixel along the %s axis is %d, not %d (both ends are part of "
                      "the region)",
                      i ? "slow" : "fast", size[i] - 1, limit[1]);
        limit[1] = size[i] - 1;
    }
    return DB_OK;
}

static db_status choose_region(db_session *session) {
    const db_panel *panel = &session->sheet;
    int roi[4];
    const int size[2] = { panel->fast_pixels, panel->slow_pixels };
    db_region *const region = &session->region;
    *region =
        (db_region){ .fast_count = size[0], .slow_count = size[1], .stride = (size_t)size[0] };
    DB_TRY(db_settings_roi(&session->settings, size, roi));
    if (roi[0] < 0) return DB_OK;
    region->fast_start = roi[0];
    region->fast_count = roi[1] - roi[0] + 1;
    region->slow_start = roi[2];
    region->slow_count = roi[3] - roi[2] + 1;
    region->offset = (size_t)roi[2] * region->stride + (size_t)roi[0];
    return DB_OK;
}

/* Narrower gaps in a row are rendered, too: a piece of a row costs this many pixels. */
enum { WORTH_A_GAP = 16 };

typedef struct region_list {
    db_region *region;
    size_t count, capacity;
} region_list;

/* 0 without memory. */
static int append_region(region_list *list, db_region region) {
    db_region *const grown =
        db_grown(list->region, &list->capacity, list->count + 1, sizeof *grown);
    if (!grown) return 0;
    list->region = grown;
    list->region[list->count++] = region;
    return 1;
}

/* End of a run of pixels in use that begins at `start`. */
static int run_end(const unsigned char *row, int start, int end) {
    int last = start;
    for (int i = start; i < end && i - last <= WORTH_A_GAP; i++)
        if (row[i]) last = i;
    return last + 1;
}

/* Rectangles that cover all pixels in use of the region of interest: runs of rows, joined with the same run of the
 * row above. `above`: the first rectangle that may reach to that row. */
static int cover(const unsigned char *mask, const db_region *roi, region_list *list) {
    size_t above = 0;
    for (int slow = 0; slow < roi->slow_count; slow++) {
        const size_t offset = roi->offset + (size_t)slow * roi->stride;
        const unsigned char *row = mask + offset;
        const size_t first = list->count;
        size_t candidate = above;
        for (int i = 0; i < roi->fast_count; i++) {
            if (!row[i]) continue;
            const int end = run_end(row, i, roi->fast_count);
            const int fast_start = roi->fast_start + i, slow_start = roi->slow_start + slow;
            while (candidate < first && list->region[candidate].fast_start < fast_start)
                candidate++;
            db_region *same = candidate < first ? &list->region[candidate] : NULL;
            if (same && same->fast_start == fast_start && same->fast_count == end - i &&
                same->slow_start + same->slow_count == slow_start)
                same->slow_count++;
            else if (!append_region(list, (db_region){ roi->panel, fast_start, slow_start, end - i,
                                                       1, offset + (size_t)i, roi->stride }))
                return 0;
            i = end - 1;
        }
        if (list->count > first) above = first;
    }
    return 1;
}

static db_status choose_regions(db_session *session) {
    region_list list = { NULL, 0, 0 };
    const int complete = cover(session->mask, &session->region, &list);
    session->mask_regions = list.region;
    session->region_count = list.count;
    if (!complete)
        return db_complain(session->settings.command, DB_ERROR_MEMORY,
                           "out of memory for the regions of a mask");
    session->regions = session->mask_regions;
    if (session->region_count) return DB_OK;
    return db_complain(session->settings.command, DB_ERROR_INPUT,
                       "-mask %s: expected a mask that leaves pixels to render, found 0 in all of "
                       "the region of interest",
                       session->settings.mask_file);
}

static db_status read_mask(db_session *session) {
    const db_settings *s = &session->settings;
    const db_panel *panel = &session->experiment.detector.panels[0];
    session->mask = malloc((size_t)panel->fast_pixels * (size_t)panel->slow_pixels);
    if (!session->mask) return db_complain(s->command, DB_ERROR_MEMORY, "out of memory for a mask");
    const db_status status = db_read_mask(session->context, s->mask_file, panel->fast_pixels,
                                          panel->slow_pixels, session->mask);
    return status == DB_OK ? choose_regions(session) : db_session_complain(session, status);
}

static db_status choose_pixels(db_session *session) {
    db_status status = choose_region(session);
    if (session->experiment.detector.panel_count > 1) return status; /* all pixels of all panels */
    session->regions = &session->region;
    session->region_count = 1;
    return status == DB_OK && session->settings.mask_file ? read_mask(session) : status;
}

static db_status take_header(db_session *session, const char *file, db_header_role role,
                             db_setup *setup) {
    if (!file) return DB_OK;
    const db_status status =
        db_setup_read_header(session->context, file, role, setup,
                             session->settings.quiet ? NULL : db_notices_add, &session->notices);
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

static db_status take_list(db_session *session, db_setup *setup) {
    const db_settings *const s = &session->settings;
    if (!s->setup.expt_file) return DB_OK;
    setup->expt_frame = s->setup.expt_frame;
    const db_status status =
        db_setup_read_expt(session->context, s->setup.expt_file, s->setup.expt_number, s->img_file,
                           setup, s->quiet ? NULL : db_notices_add, &session->notices);
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

/* Files of -mask, -img and -expt replace defaults: first the header of the mask, then of the image, then the
 * experiment list, then the flags, which have precedence. The image for noise has its own header, unless it is raw
 * floats. */
db_status db_session_take_headers(db_session *session) {
    const db_settings *const named = &session->settings;
    const char *const image = named->img_file                              ? named->img_file
                              : db_noise_of_image(session->context, named) ? named->float_file
                                                                           : NULL;
    if (!named->mask_file && !image && !named->setup.expt_file) return DB_OK;
    db_settings again;
    db_settings_init(&again, named->flags);
    again.setup.compat = named->setup.compat;
    db_status status = take_header(session, named->mask_file, DB_HEADER_OF_MASK, &again.setup);
    if (status == DB_OK) status = take_header(session, image, DB_HEADER_OF_IMAGE, &again.setup);
    if (status == DB_OK) status = take_list(session, &again.setup);
    if (status != DB_OK) return status;
    db_settings_apply(&again, &session->given);
    again.setup.expt_image = named->img_file;
    session->settings = again;
    return DB_OK;
}

/* entered: db_stopwatch, before: db_processor_time, both at the start of the program. */
static db_status open_profile(db_session *session, double entered, double before) {
    const db_settings *s = &session->settings;
    if (!s->profile_file) return DB_OK;
    session->profile = db_profile_create(entered - before);
    if (!session->profile)
        return db_complain(s->command, DB_ERROR_MEMORY, "out of memory for the profile");
    db_profile_add(session->profile, "start", entered - before, entered);
    db_profile_add(session->profile, "read flags", entered, db_stopwatch());
    db_context_set_stages(session->context, db_profile_stage, session->profile);
    return DB_OK;
}

/* Writes the file, and prints the table after a successful run. */
static db_status close_profile(db_session *session, db_status status) {
    const db_settings *s = &session->settings;
    if (!session->profile) return status;
    session->profile->end = db_stopwatch();
    db_context_set_stages(session->context, NULL, NULL);
    if (status == DB_OK) {
        status = db_profile_write_trace(session->profile, session->context, s->profile_file);
        if (status != DB_OK)
            db_session_complain(session, status);
        else if (!s->quiet)
            db_profile_print_table(session->profile, stderr);
    }
    db_profile_destroy(&session->profile);
    return status;
}

static db_status read_flags(db_session *session, const db_command *command, int argc, char **argv) {
    db_settings *const settings = &session->settings;
    db_settings_init(settings, command->flags);
    const db_status status = db_arguments_read(&session->given, command->flags, argc, argv);
    if (status != DB_OK) return status;
    db_settings_apply(settings, &session->given);
    session->finished = settings->help || settings->list_parameters;
    if (settings->help)
        db_print_help(stdout, command);
    else
        db_settings_remark(settings, &session->given);
    if (settings->list_parameters && !settings->help) db_parameter_list_print(stdout);
    return DB_OK;
}

db_status db_session_open(db_session *session, const db_command *command, int argc, char **argv) {
    const double entered = db_stopwatch(), before = db_processor_time();
    db_settings *const settings = &session->settings;
    db_named_files files = { 0 };
    memset(session, 0, sizeof *session);
    db_status status = read_flags(session, command, argc, argv);
    if (status != DB_OK || session->finished) return status;
    db_settings_name_curves(settings, &files);
    status = db_flag_files_check(settings->flags, settings, &files);
    if (status == DB_OK) status = db_flag_files_take_input(settings->flags, settings);
    if (status == DB_OK) status = open_context(session);
    if (status == DB_OK) status = open_profile(session, entered, before);
    if (status == DB_OK) status = db_session_take_headers(session);
    if (status == DB_OK) status = db_flag_files_take_output(settings->flags, settings);
    if (status == DB_OK) status = resolve_session(session);
    if (status == DB_OK) status = lay_out_sheet(session);
    if (status == DB_OK) status = choose_pixels(session);
    return status;
}

db_status db_session_close(db_session *session, db_status status) {
    status = close_profile(session, status);
    db_experiment_clear(&session->experiment);
    free(session->mask);
    free(session->mask_regions);
    db_notices_clear(&session->notices);
    db_context_destroy(&session->context);
    db_arguments_clear(&session->given);
    return status;
}

int db_session_run(const db_command *command, int argc, char **argv,
                   db_status (*work)(db_session *session)) {
    db_session session;
    db_status status = db_session_open(&session, command, argc, argv);
    if (status == DB_OK && !session.finished) status = work(&session);
    return db_status_exit_code(db_session_close(&session, status));
}

void db_session_apply_mask(const db_session *session, float *image) {
    if (!session->mask) return;
    const size_t count = db_experiment_pixels(&session->experiment);
    for (size_t i = 0; i < count; i++)
        if (!session->mask[i]) image[i] = 0;
}

static db_status ask_for_precision(const db_session *session, const db_plan_options *options,
                                   db_precision *precision) {
    db_precision_advice advice;
    const db_status status =
        db_precision_recommend(session->context, &session->experiment, options, &advice);
    if (status != DB_OK) return status;
    *precision = advice.precision;
    /* the report of -compat has the reference's lines only */
    if (session->settings.quiet || session->settings.setup.compat) return DB_OK;
    if (advice.precision == DB_PRECISION_MIXED)
        printf("precision: mixed, expected error %.1g of the maximum\n", advice.error);
    else
        printf("precision: double, because %s\n", advice.reason);
    return DB_OK;
}

db_status db_session_choose_precision(db_session *session, db_plan_options *options) {
    db_settings *const s = &session->settings;
    db_status status = DB_OK;
    if (s->precision_choice == DB_CHOOSE_AUTO)
        status = ask_for_precision(session, options, &s->precision);
    else
        s->precision =
            s->precision_choice == DB_CHOOSE_MIXED ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
    options->precision = s->precision;
    return status;
}

const db_region *db_session_part(const db_session *session) {
    return session->settings.roi[0] >= 0 ? &session->region : NULL;
}

db_nexus_format db_photon_format(const db_session *session) {
    return (db_nexus_format){ .pixels = DB_NEXUS_FLOATS,
                              .mask = session->mask,
                              .region = db_session_part(session),
                              .exposure = session->settings.setup.exposure,
                              .gain = 1 };
}

double db_session_sweep(const db_session *session) {
    const db_setup *const setup = &session->settings.setup;
    const db_goniometer *const goniometer = &session->experiment.goniometer;
    if (!isnan(setup->osc) && !(setup->compat && setup->osc < 0)) return setup->osc;
    if (!isnan(setup->phi_step) && setup->phi_step > 0) return setup->phi_step;
    if (setup->compat && setup->phi_steps >= 0) return 1;
    return goniometer->phi_steps * goniometer->phi_step;
}

db_experiment db_session_header_experiment(const db_session *session) {
    db_experiment experiment = session->experiment;
    db_goniometer *const goniometer = &experiment.goniometer;
    if (session->settings.setup.compat)
        goniometer->phi_step = db_session_sweep(session) / goniometer->phi_steps;
    return experiment;
}

db_smv_style db_session_smv_style(const db_session *session) {
    const db_setup *setup = &session->settings.setup;
    const int custom = session->settings.vector_given;
    db_smv_style style = { .convention = db_convention_name(custom ? DB_CONVENTION_CUSTOM
                                                                   : setup->convention) };
    /* a resolved set-up has its beam centre */
    if (db_setup_beam_centre(session->context, setup, style.beam_centre) != DB_OK)
        style.beam_centre[0] = style.beam_centre[1] = NAN;
    return style;
}

void db_session_note_device(const db_session *session) {
    const char *const note = db_context_device_note(session->context);
    /* the report of -compat has the reference's lines only */
    if (*note && !session->settings.quiet && !session->settings.setup.compat)
        printf("device: cpu, because %s\n", note);
}

const char *db_session_manner(const db_session *session, const char *device) {
    static char text[256];
    const char *const precision =
        session->settings.precision == DB_PRECISION_MIXED ? "mixed precision" : "double precision";
    char threads[32] = "all threads";
    if (strcmp(device, "cpu") != 0) {
        snprintf(text, sizeof text, "%s, %s, %s", precision, device,
                 db_context_device_model(session->context));
        return text;
    }
    if (session->settings.threads)
        snprintf(threads, sizeof threads, "%d thread%s", session->settings.threads,
                 session->settings.threads == 1 ? "" : "s");
    snprintf(text, sizeof text, "%s, %s, %s", precision, db_context_isa(session->context), threads);
    return text;
}

db_status db_session_mean_wavelength(db_session *session, float *image) {
    const db_settings *const s = &session->settings;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan = NULL;
    options.regions = session->regions;
    options.region_count = session->region_count;
    options.tolerance = s->tolerance;
    options.precision = s->precision;
    db_status status = db_plan_create(session->context, &session->experiment, &options, &plan);
    if (status == DB_OK) status = db_plan_mean_wavelength(plan, image);
    db_plan_destroy(&plan);
    if (status == DB_OK) db_session_apply_mask(session, image);
    return status;
}

db_status db_session_render(db_session *session, const db_parameter *parameters, size_t count,
                            float *image, void *const *derivatives) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.regions = session->regions;
    options.region_count = session->region_count;
    options.tolerance = session->settings.tolerance;
    options.parameters = parameters;
    options.parameter_count = count;
    db_plan *plan = NULL;
    char counted[48] = "";
    const double start = db_stopwatch();
    db_status status = db_session_choose_precision(session, &options);
    if (status != DB_OK) return db_session_complain(session, status);
    db_progress_attach(session->context, &session->settings);
    status = db_plan_create(session->context, &session->experiment, &options, &plan);
    if (status == DB_OK)
        status =
            derivatives ? db_plan_gradient(plan, image, derivatives) : db_plan_forward(plan, image);
    db_progress_finish(session->context);
    const char *const manner =
        status == DB_OK ? db_session_manner(session, db_plan_device(plan)) : "";
    db_plan_destroy(&plan);
    if (status != DB_OK) return db_session_complain(session, status);
    db_session_apply_mask(session, image);
    for (size_t k = 0; derivatives && k < count; k++)
        db_session_apply_mask(session, derivatives[k]);
    db_session_note_device(session);
    if (derivatives) snprintf(counted, sizeof counted, " image and %zu derivatives", count);
    if (!session->settings.quiet)
        printf("rendered%s in %.3f s (%s)\n", counted, db_stopwatch() - start, manner);
    return DB_OK;
}
