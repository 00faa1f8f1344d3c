/* dualbragg view: a measured image as a picture or a page, with observed and predicted spots. */
#include "base/frame_name.h"
#include "base/shown_text.h"
#include "base/path.h"
#include "base/rotation.h"
#include "cli/complaint.h"
#include "cli/flag_files.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/session.h"
#include "cli/standard_streams.h"
#include "fit/config/listed_experiment.h"
#include "fit/pixels/dark_levels.h"
#include "fit/pixels/measured_image.h"
#include "fit/report/view.h"

#include <dualbragg/expert/fit_configurations.h>

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct view_run {
    db_session session; /* flags, context, experiment; the rest of it stays empty */
    const char *image_name;
    db_fit_config config;
    db_measured_image image;
    db_observed_spots observed;
    db_predicted_spots predicted;
    db_view view;
    int known, has_crystal; /* place of the detector is known; there is a crystal */
} view_run;

static db_status complain(const view_run *r, db_status status) {
    return db_complain_context("view", status, r->session.context);
}

/* Adds a note about an unknown fact, to the page and the terminal. */
static void __attribute__((format(printf, 2, 3))) note(view_run *r, const char *format, ...) {
    va_list arguments;
    if (r->view.note_count == DB_VIEW_MOST_NOTES) return;
    char *const text = r->view.note[r->view.note_count++];
    va_start(arguments, format);
    db_shown_vformat(text, DB_VIEW_NOTE, format, arguments);
    va_end(arguments);
    if (!r->session.settings.quiet) db_remark("view", "%s", text);
}

/* Reports a line of the library: unused contents of a file, or properties of the image. */
static void say_line(void *user, const char *line) {
    const view_run *const r = user;
    if (!r->session.settings.quiet) db_remark("view", "%s", line);
}

static int ends_in(const char *name, const char *ending) {
    const size_t length = strlen(name), size = strlen(ending);
    return length > size && strcasecmp(name + length - size, ending) == 0;
}

static int is_page(const char *name) { return ends_in(name, ".html") || ends_in(name, ".htm"); }

static db_status check_settings(const db_settings *s) {
    const double *const c = s->view.counts;
    const double *const p = s->view.percentile;
    if (!s->output_file || !(is_page(s->output_file) || ends_in(s->output_file, ".png")))
        return db_complain("view", DB_ERROR_USAGE, "expected -o FILE.png or -o FILE.html, found %s",
                           s->output_file ? s->output_file : "neither");
    if (c[0] >= c[1] || p[0] >= p[1])
        return db_complain("view", DB_ERROR_USAGE, "%s: expected the lower end first",
                           c[0] >= c[1] ? "-counts" : "-percentile");
    return DB_OK;
}

static db_status read_flags(view_run *r, const db_command *command, int argc, char **argv) {
    db_session *const session = &r->session;
    db_settings_init(&session->settings, command->flags);
    db_status status = db_arguments_read(&session->given, command->flags, argc, argv);
    if (status != DB_OK) return status;
    size_t kept = 0; /* words are removed, because db_settings_apply does not take them */
    for (size_t i = 0; i < session->given.count && status == DB_OK; i++) {
        const db_argument one = session->given.argument[i];
        if (one.flag)
            session->given.argument[kept++] = one;
        else if (r->image_name)
            status = db_complain("view", DB_ERROR_USAGE, "expected one image, found one more: '%s'",
                                 one.text);
        else
            r->image_name = db_streams_input_name(one.text);
    }
    session->given.count = kept;
    if (status != DB_OK) return status;
    db_settings_apply(&session->settings, &session->given);
    if (session->settings.help) return DB_OK;
    db_settings_remark(&session->settings, &session->given);
    if (!r->image_name)
        return db_complain("view", DB_ERROR_USAGE,
                           "expected an image: dualbragg view IMAGE -o FILE.png");
    return check_settings(&session->settings);
}

static db_status check_files(view_run *r) {
    db_settings *const s = &r->session.settings;
    db_named_files files = { 0 };
    char plain[4096];
    db_frame_split(r->image_name, plain, sizeof plain);
    db_named_files_add(&files, DB_ROLE_INPUT, "IMAGE", plain);
    db_status status = db_flag_files_check(s->flags, s, &files);
    if (status == DB_OK) status = db_streams_take_input("view", "IMAGE", r->image_name);
    if (status == DB_OK) status = db_flag_files_take_input(s->flags, s);
    return status == DB_OK ? db_flag_files_take_output(s->flags, s) : status;
}

static db_status copy_name(const char *from, char to[DB_FIT_PATH_SIZE]) {
    if (!from) return DB_OK;
    if (strlen(from) >= DB_FIT_PATH_SIZE)
        return db_complain("view", DB_ERROR_USAGE, "%s: a name longer than %d characters", from,
                           DB_FIT_PATH_SIZE - 1);
    strcpy(to, from);
    return DB_OK;
}

/* Restores counts as in the file: subtracted dark levels serve the search only. */
static void restore_counts(db_measured_image *image) { db_dark_levels_add(image, image->value); }

static int same_shape(const db_measured_image *a, const db_measured_image *b) {
    return a->fast_pixels == b->fast_pixels && a->slow_pixels == b->slow_pixels &&
           a->panel_count == b->panel_count;
}

/* Adds the images after the first one. */
static db_status add_images(view_run *r) {
    char file[4096], name[4096 + 32];
    const int count = r->session.settings.view.sum;
    const long first = db_frame_split(r->image_name, file, sizeof file);
    const size_t pixels = db_measured_pixels(&r->image);
    if (count > 1 && first < 1)
        return db_complain("view", DB_ERROR_USAGE,
                           "-sum: expected the first image as FILE#N, found %s", r->image_name);
    if (count > 1) restore_counts(&r->image);
    for (int k = 1; k < count; k++) {
        db_measured_image next;
        snprintf(name, sizeof name, "%s#%ld", file, first + k);
        db_status status = copy_name(name, r->config.image_file);
        if (status != DB_OK) return status;
        status = db_fit_config_read_any_gain(r->session.context, &r->config, &next, NULL, NULL);
        if (status != DB_OK) return complain(r, status);
        if (!same_shape(&r->image, &next)) {
            status = db_complain("view", DB_ERROR_INPUT,
                                 "-sum: %s: expected panels like those of the first image, %d x %d "
                                 "pixels in all, found %d x %d",
                                 name, r->image.fast_pixels, r->image.slow_pixels, next.fast_pixels,
                                 next.slow_pixels);
            db_measured_image_clear(&next);
            return status;
        }
        restore_counts(&next);
        for (size_t i = 0; i < pixels; i++) {
            r->image.value[i] += next.value[i];
            r->image.mask[i] |= next.mask[i];
        }
        db_measured_image_clear(&next);
    }
    return DB_OK;
}

/* Reads an image, with the masks of a list, and cut into its modules. Isolated pixels are not changed. */
static db_status read_image(view_run *r) {
    const db_settings *const s = &r->session.settings;
    db_fit_config_init(&r->config);
    r->config.hot_sigma = 0;
    r->config.setup.expt_number = s->setup.expt_number;
    db_status status = copy_name(r->image_name, r->config.image_file);
    if (status == DB_OK) status = copy_name(s->setup.expt_file, r->config.expt_file);
    if (status == DB_OK) status = copy_name(s->mask_file, r->config.mask_file);
    if (status != DB_OK) return status;
    status = db_fit_config_read_any_gain(r->session.context, &r->config, &r->image, say_line, r);
    if (status != DB_OK) return complain(r, status);
    return add_images(r);
}

/* Files of many panels may contain their places. */
static void look_for_panels(view_run *r) {
    db_setup *const setup = &r->session.settings.setup;
    const db_expt_selection selection = { .image = r->image_name };
    char file[4096];
    db_listed listed;
    if (setup->expt_file || r->image.panel_count < 2) return;
    db_frame_split(r->image_name, file, sizeof file);
    if (db_listed_select(r->session.context, file, &selection, &listed) != DB_OK) return;
    if (copy_name(file, r->config.expt_file) == DB_OK) setup->expt_file = r->config.expt_file;
    db_listed_clear(&listed);
}

/* Does the list have a crystal? */
static int lists_crystal(const view_run *r) {
    const db_setup *const setup = &r->session.settings.setup;
    const db_expt_selection selection = { .number = setup->expt_number, .image = r->image_name };
    db_listed listed;
    if (!setup->expt_file ||
        db_listed_select(r->session.context, setup->expt_file, &selection, &listed) != DB_OK)
        return 0;
    const int found = listed.content.has_crystal;
    db_listed_clear(&listed);
    return found;
}

static void say_missing(view_run *r, const char *what) {
    note(r, "the geometry is not known (no %s): no resolution rings, no predicted spots", what);
}

/* Is the detector's place known, from flags and header together? */
static int knows_detector(view_run *r) {
    const db_setup *const s = &r->session.settings.setup;
    const db_stated_placement *const stated = &s->stated;
    if (s->expt_file) return 1;
    const int has_distance = !isnan(s->distance) || !isnan(s->close_distance) ||
                             !isnan(stated->distance) || !isnan(stated->close_distance) ||
                             !isnan(s->origin[0]);
    const int has_centre = !isnan(s->beam_centre[0]) || !isnan(s->org[0]) ||
                           !isnan(s->close_point[0]) || !isnan(s->origin[0]) ||
                           !isnan(stated->beam_centre[0]) || !isnan(stated->near_point[0]);
    const int has_wavelength = !isnan(r->image.wavelength) || s->wavelength_given;
    const char *const missing = !has_wavelength        ? "wavelength; -lambda ANGSTROM"
                                : !has_distance        ? "distance; -distance MM"
                                : isnan(s->pixel_size) ? "pixel size; -pixel MM"
                                : !has_centre          ? "beam centre; -Xbeam MM -Ybeam MM"
                                                       : NULL;
    if (missing) say_missing(r, missing);
    return !missing;
}

/* Do the panels of the experiment fit those of the image? */
static int fits(const view_run *r) {
    const db_detector *const d = &r->session.experiment.detector;
    int same = d->panel_count == db_measured_panels(&r->image);
    for (size_t p = 0; p < d->panel_count && same; p++)
        same = d->panels[p].fast_pixels == r->image.fast_pixels &&
               d->panels[p].slow_pixels == db_measured_rows(&r->image, p);
    return same;
}

/* Completes a crystal for spots in closed form; open widths are small, so that spots stay separate. */
static void complete_crystal(const view_run *r, db_setup *setup) {
    static const double any_cell[6] = { 100, 100, 100, 90, 90, 90 };
    const double *const n = setup->Ncells;
    if (!r->has_crystal) memcpy(setup->cell, any_cell, sizeof any_cell);
    if (!setup->hkl_file) setup->default_F = 1;
    if (setup->hkl_file && !r->has_crystal) setup->hkl_file = NULL;
    setup->spread.spots = DB_SPOTS_CLOSED;
    if (n[0] == 1 && n[1] == 1 && n[2] == 1)
        for (int i = 0; i < 3; i++) setup->Ncells[i] = 1000;
    if (!(setup->spread.mosaic_rms > 0)) setup->spread.mosaic_rms = 0.1;
    setup->layers_at_front = 0;
}

static int is_given(const view_run *r, const char *flag) {
    const db_arguments *const given = &r->session.given;
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->argument[i].flag->name, flag) == 0) return 1;
    return 0;
}

/* The orientation is for the still as it is, at any angle of the spindle, as in dualbragg fit. */
static void resolve_phi(const view_run *r, db_setup *setup) {
    if (!setup->expt_file && !db_turns(setup->osc) && !is_given(r, "-phi")) setup->phi = 0;
}

static db_status resolve(view_run *r) {
    db_session *const session = &r->session;
    db_setup *const setup = &session->settings.setup;
    r->has_crystal = !isnan(setup->cell[0]) || setup->matrix_file || lists_crystal(r);
    complete_crystal(r, setup);
    resolve_phi(r, setup);
    const db_status status =
        db_setup_resolve(session->context, setup, &session->experiment, NULL, NULL);
    if (status != DB_OK) return complain(r, status);
    r->known = fits(r);
    if (!r->known)
        note(r,
             "the panels of the geometry do not match the image: %zu of %d x %d pixels, expected "
             "%zu of %d x %d",
             session->experiment.detector.panel_count,
             session->experiment.detector.panels[0].fast_pixels,
             session->experiment.detector.panels[0].slow_pixels, db_measured_panels(&r->image),
             r->image.fast_pixels, db_measured_rows(&r->image, 0));
    return DB_OK;
}

/* Takes the list's values for the image, where flags give none. The header is not used. */
static db_status take_list(view_run *r) {
    db_session *const session = &r->session;
    const db_setup *const named = &session->settings.setup;
    db_settings again;
    db_settings_init(&again, session->settings.flags);
    const db_status status = db_setup_read_expt(
        session->context, named->expt_file, named->expt_number, r->image_name, &again.setup,
        session->settings.quiet ? NULL : db_notices_add, &session->notices);
    if (status != DB_OK) return complain(r, status);
    const char *const file = named->expt_file;
    db_settings_apply(&again, &session->given);
    again.setup.expt_file = file;
    again.setup.expt_image = r->image_name;
    session->settings = again;
    db_notices_print_rest(&session->notices);
    return DB_OK;
}

/* Takes the header's values; knows_detector reports missing ones. */
static db_status take_header(view_run *r) {
    db_session *const session = &r->session;
    const int quiet = session->settings.quiet;
    if (!session->settings.img_file) session->settings.img_file = r->image_name;
    session->settings.quiet = 1;
    const db_status status = db_session_take_headers(session);
    session->settings.quiet = quiet;
    return status;
}

/* Makes the experiment of the image, as far as it is known. */
static db_status place_image(view_run *r) {
    look_for_panels(r);
    const int listed = r->session.settings.setup.expt_file != NULL;
    if (!listed && r->image.panel_count > 1) {
        say_missing(r, "places of its panels; -expt FILE");
        return DB_OK;
    }
    const db_status status = listed ? take_list(r) : take_header(r);
    if (status != DB_OK && listed) return status;
    if (status != DB_OK)
        say_missing(r, "header that can be used");
    else if (knows_detector(r))
        return resolve(r);
    return DB_OK;
}

static db_status find_spots(view_run *r) {
    db_fit_settings *const settings = &r->config.settings;
    if (r->session.settings.view.no_observed) return DB_OK;
    settings->strong_sigma = r->session.settings.view.strong;
    settings->gain = r->image.gain;
    settings->readout_noise = r->image.readout_noise;
    const db_status status =
        db_observed_spots_of_image(r->session.context, &r->image, settings, &r->observed);
    if (status != DB_OK) return complain(r, status);
    r->view.observed = &r->observed;
    return DB_OK;
}

static db_status predict(view_run *r) {
    db_spot_options options = DB_SPOT_OPTIONS_INIT;
    if (!r->known || !r->has_crystal) return DB_OK;
    options.most_turn = r->session.settings.view.near;
    const db_status status =
        db_spots_predict(r->session.context, &r->session.experiment, &options, &r->predicted);
    if (status != DB_OK) return complain(r, status);
    r->view.predicted = &r->predicted;
    return DB_OK;
}

static db_status lay_out(view_run *r) {
    db_context *const context = r->session.context;
    db_view *const v = &r->view;
    v->title = db_file_name(r->image_name);
    v->image = &r->image;
    v->experiment = r->known ? &r->session.experiment : NULL;
    const db_status status =
        r->known ? db_panel_layout_make(context, v->experiment, v->image, &v->layout)
                 : db_panel_layout_stack(context, v->image, &v->layout);
    return status == DB_OK ? DB_OK : complain(r, status);
}

static db_view_options options_of(const db_settings *s, const int roi[4]) {
    db_view_options o = { .colours = (db_view_colours)s->view.colours,
                          .logarithmic = s->view.logarithmic,
                          .bin = s->view.bin,
                          .size = s->view.size };
    memcpy(o.counts, s->view.counts, sizeof o.counts);
    memcpy(o.percentile, s->view.percentile, sizeof o.percentile);
    for (int i = 0; i < DB_VIEW_MOST_RINGS && !isnan(s->view.ring[i]); i++)
        o.ring[o.ring_count++] = s->view.ring[i];
    if (s->view.no_rings)
        o.ring_count = 0;
    else if (o.ring_count == 0)
        o.ring_count = -1;
    for (int i = 0; i < 2 && roi[0] >= 0; i++) {
        o.part[i] = roi[2 * i];
        o.part[2 + i] = roi[2 * i + 1] - roi[2 * i] + 1;
    }
    return o;
}

static db_status write_output(const view_run *r) {
    const db_settings *const s = &r->session.settings;
    int roi[4];
    db_status status =
        db_settings_roi(s, (int[2]){ r->view.layout.fast, r->view.layout.slow }, roi);
    if (status != DB_OK) return status;
    const db_view_options options = options_of(s, roi);
    status = (is_page(s->output_file) ? db_view_write_html : db_view_write_png)(
        r->session.context, s->output_file, &r->view, &options);
    if (status != DB_OK) return complain(r, status);
    if (s->quiet) return DB_OK;
    db_shown_print(stdout, "%s", s->output_file);
    if (r->view.observed) printf(", %zu observed spots", r->observed.count);
    if (r->view.predicted) printf(", %zu predicted ones", r->predicted.count);
    puts("");
    return DB_OK;
}

static db_status make_view(view_run *r) {
    db_session *const session = &r->session;
    db_status status = check_files(r);
    if (status != DB_OK) return status;
    status = db_context_create(&session->context);
    if (status == DB_OK)
        status = db_context_set_threads(session->context, session->settings.threads);
    if (status != DB_OK) return complain(r, status);
    db_context_set_notices(session->context, say_line, r);
    status = read_image(r);
    if (status == DB_OK) status = place_image(r);
    if (status == DB_OK) status = find_spots(r);
    if (status == DB_OK && session->settings.view.sum == 1) restore_counts(&r->image);
    if (status == DB_OK) status = predict(r);
    if (status == DB_OK) status = lay_out(r);
    return status == DB_OK ? write_output(r) : status;
}

static void clear_view(view_run *r) {
    db_panel_layout_clear(&r->view.layout);
    db_observed_spots_clear(&r->observed);
    db_predicted_spots_clear(&r->predicted);
    db_measured_image_clear(&r->image);
    db_fit_config_clear(&r->config);
}

static int run_view_command(const db_command *command, int argc, char **argv) {
    view_run *const r = calloc(1, sizeof *r);
    if (!r) return db_status_exit_code(db_complain("view", DB_ERROR_MEMORY, "out of memory"));
    db_status status = read_flags(r, command, argc, argv);
    if (status == DB_OK && r->session.settings.help)
        db_print_help(stdout, command);
    else if (status == DB_OK)
        status = make_view(r);
    clear_view(r);
    status = db_session_close(&r->session, status);
    free(r);
    return db_status_exit_code(status);
}

extern const char db_view_help[]; /* fit/cli/help/view.txt */
const db_command db_view_command = { "view", db_view_help, &db_view_flags, run_view_command };
