#include "cli/session.h"

#include "cli/amorphous.h"
#include "cli/complaint.h"
#include "cli/flag_files.h"
#include "cli/flags.h"
#include "cli/headers.h"
#include "cli/help.h"
#include "cli/mask.h"
#include "cli/noise_settings.h"
#include "cli/parameter_list.h"
#include "cli/profile_output.h"
#include "cli/stopwatch.h"

#include <stdio.h>
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
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

static db_status resolve(db_session *session) {
    const db_setup *setup = &session->settings.setup;
    db_status prepared = db_amorphous_prepare(&session->settings);
    if (prepared == DB_OK) prepared = db_noise_prepare(&session->settings);
    if (prepared != DB_OK) return prepared;
    const int crystal =
        !db_amorphous_alone(&session->settings) && !db_noise_alone(&session->settings);
    if (crystal && !setup->hkl_file && !setup->cache_file && setup->default_F == 0)
        return db_complain(
            session->settings.command, DB_ERROR_INPUT,
            "no structure factors: expected -hkl FILE or -default_F F, found neither");
    const db_status status =
        db_setup_resolve(session->context, setup, &session->experiment,
                         session->settings.quiet ? NULL : db_notices_add, &session->notices);
    if (status == DB_OK) return DB_OK;
    db_notices_print_rest(&session->notices);
    return db_session_complain(session, status);
}

/* What works on one panel only. */
static const char *one_panel_flag(const db_settings *s) {
    return s->roi[0] >= 0                          ? "-roi"
           : s->mask_file                          ? "-mask"
           : s->int_file                           ? "-intfile"
           : s->noise_file || s->noise_float_file  ? "-noisefile"
           : s->printout || s->trace_pixel[0] >= 0 ? "-printout"
           : strcmp(s->command, "noise") == 0      ? "dualbragg noise"
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

static db_status choose_region(db_session *session) {
    const db_panel *panel = &session->sheet;
    int roi[4];
    memcpy(roi, session->settings.roi, sizeof roi);
    const int size[2] = { panel->fast_pixels, panel->slow_pixels };
    db_region *const region = &session->region;
    *region =
        (db_region){ .fast_count = size[0], .slow_count = size[1], .stride = (size_t)size[0] };
    if (roi[0] < 0) return DB_OK;
    for (int i = 0; i < 2; i++) {
        int *const limit = &roi[2 * i];
        if (limit[0] > limit[1] || limit[0] >= size[i])
            return db_complain(session->settings.command, DB_ERROR_INPUT,
                               "-roi: expected %s from 0 to %d, the smaller one first, found %d %d",
                               i ? "YMIN YMAX" : "XMIN XMAX", size[i] - 1, limit[0], limit[1]);
        if (limit[1] < size[i]) continue;
        if (!session->settings.quiet)
            db_remark(session->settings.command,
                      "-roi: the last pixel in that direction is %d, not %d (both ends are part of "
                      "the region)",
                      size[i] - 1, limit[1]);
        limit[1] = size[i] - 1;
    }
    region->fast_start = roi[0];
    region->fast_count = roi[1] - roi[0] + 1;
    region->slow_start = roi[2];
    region->slow_count = roi[3] - roi[2] + 1;
    region->offset = (size_t)roi[2] * region->stride + (size_t)roi[0];
    return DB_OK;
}

db_status db_session_open(db_session *session, int argc, char **argv) {
    const double entered = db_stopwatch(), before = db_processor_time();
    memset(session, 0, sizeof *session);
    db_settings_init(&session->settings, argv[0]);
    db_status status = db_flags_parse(&session->settings, argc, argv);
    if (status != DB_OK) return status;
    session->finished = session->settings.help || session->settings.list_parameters;
    if (session->settings.help)
        db_help_command(stdout, argv[0]);
    else if (session->settings.list_parameters)
        db_parameter_list_print(stdout);
    if (session->finished) return DB_OK;
    status = db_flag_files_check(&session->settings);
    if (status == DB_OK) status = db_flag_files_take_input(&session->settings);
    if (status == DB_OK) status = open_context(session);
    if (status == DB_OK) status = db_profile_open(session, entered, before);
    if (status == DB_OK) status = db_headers_take(session, argc, argv);
    if (status == DB_OK) status = db_flag_files_take_output(&session->settings);
    if (status == DB_OK) status = resolve(session);
    if (status == DB_OK) status = lay_out_sheet(session);
    if (status == DB_OK) status = choose_region(session);
    if (status == DB_OK) status = db_mask_open(session);
    return status;
}

db_status db_session_close(db_session *session, db_status status) {
    status = db_profile_close(session, status);
    db_experiment_clear(&session->experiment);
    db_mask_close(session);
    db_notices_clear(&session->notices);
    db_context_destroy(&session->context);
    return status;
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
