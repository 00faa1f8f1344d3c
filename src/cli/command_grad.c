/* dualbragg grad: an image and its derivatives. */
#include "cli/complaint.h"
#include "base/shown_text.h"
#include "cli/flag_files.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/images.h"
#include "cli/output.h"
#include "cli/parameter_list.h"
#include "cli/report.h"
#include "base/context_internal.h"

#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/colour.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/picture_files.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The image and one image per parameter. */
typedef struct images {
    db_parameter_list list;
    size_t pixels;
    float *image;
    void *derivative[DB_MOST_LISTED_PARAMETERS]; /* as floats */
} images;

static void free_images(images *all) {
    free(all->image);
    for (size_t k = 0; k < all->list.count; k++) free(all->derivative[k]);
}

static db_status allocate_images(const db_session *session, images *all) {
    all->pixels = db_experiment_pixels(&session->experiment);
    const db_panel *panel = &session->sheet;
    all->image = db_image_buffer(panel, &session->region);
    int complete = all->image != NULL;
    for (size_t k = 0; k < all->list.count; k++) {
        all->derivative[k] = db_image_buffer(panel, &session->region);
        complete &= all->derivative[k] != NULL;
    }
    if (complete) return DB_OK;
    return db_complain("grad", DB_ERROR_MEMORY, "out of memory for %zu images of %zu pixels",
                       all->list.count + 1, all->pixels);
}

/* Writes one image as floats and, if the build can, as a picture. */
static db_status write_pair(const db_session *session, const char *name, const float *pixels,
                            size_t count, db_colour_map map) {
    const db_settings *s = &session->settings;
    const db_panel *panel = &session->sheet;
    char *floats = db_output_path(s->output_directory, s->prefix, name, "f32"),
         *picture = db_output_path(s->output_directory, s->prefix, name, "png");
    db_status status = DB_OK;
    if (!floats || !picture)
        status = db_complain(s->command, DB_ERROR_MEMORY, "out of memory for a path");
    else {
        status = db_write_float_image(session->context, floats, pixels, count);
        if (status == DB_OK && db_output_has_png())
            status = db_write_png(session->context, picture, pixels, panel->fast_pixels,
                                  panel->slow_pixels, map, NAN, NAN);
        if (status != DB_OK) db_session_complain(session, status);
    }
    if (status == DB_OK && !s->quiet) db_shown_print(stdout, "writing %s\n", floats);
    free(floats);
    free(picture);
    return status;
}

static db_status check_finite(const db_session *session, const images *all) {
    const char *const command = session->settings.command;
    db_status status = db_image_check_finite(command, "image",
                                             db_image_largest_magnitude(all->image, all->pixels));
    for (size_t k = 0; k < all->list.count && status == DB_OK; k++) {
        char name[DB_LISTED_NAME];
        db_parameter_name(all->list.parameter[k], name, sizeof name);
        status = db_image_check_finite(command, name,
                                       db_image_largest_magnitude(all->derivative[k], all->pixels));
    }
    return status;
}

static db_status write_all(const db_session *session, const images *all) {
    db_status status = write_pair(session, "image", all->image, all->pixels, DB_COLOUR_GREY);
    for (size_t k = 0; k < all->list.count && status == DB_OK; k++) {
        const db_parameter_info *info = db_parameter_describe(all->list.parameter[k]);
        char name[DB_LISTED_NAME];
        db_parameter_name(all->list.parameter[k], name, sizeof name);
        status = write_pair(session, name, all->derivative[k], all->pixels, DB_COLOUR_SIGNED);
        if (status == DB_OK && !session->settings.quiet)
            printf("dI/d%s: largest magnitude %.*g photons/%s\n", name, session->settings.digits,
                   db_image_largest_magnitude(all->derivative[k], all->pixels), info->unit);
    }
    return status;
}

/* Visitor of the names of outputs. */
typedef db_status (*output_visitor)(const db_settings *s, const char *path, db_named_files *files);

static db_status name_output(const db_settings *s, const char *path, db_named_files *files) {
    (void)s;
    db_named_files_add(files, DB_ROLE_OUTPUT, "-prefix", path);
    return DB_OK;
}

static db_status check_output(const db_settings *s, const char *path, db_named_files *files) {
    (void)files;
    return db_output_check(s->command, "-prefix", path);
}

static db_status visit_outputs(const db_settings *s, const db_parameter_list *list,
                               output_visitor visit, db_named_files *files) {
    db_status status = DB_OK;
    const size_t kinds = db_output_has_png() ? 2 : 1, count = kinds * (list->count + 1);
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        char name[DB_LISTED_NAME] = "image";
        if (i >= kinds) db_parameter_name(list->parameter[i / kinds - 1], name, sizeof name);
        char *const path =
            db_output_path(s->output_directory, s->prefix, name, i % kinds ? "png" : "f32");
        if (!path) return db_complain(s->command, DB_ERROR_MEMORY, "out of memory for a path");
        status = visit(s, path, files);
        free(path);
    }
    return status;
}

static db_status check_outputs(const db_settings *s, const db_parameter_list *list) {
    db_named_files files = { 0 };
    db_settings_name_curves(s, &files);
    db_flag_files_list(s->flags, s, &files);
    db_status status = visit_outputs(s, list, name_output, &files);
    db_named_files_add_printed(&files);
    const db_status distinct = db_named_files_check(s->command, &files);
    if (status == DB_OK) status = distinct;
    if (status == DB_OK) status = visit_outputs(s, list, check_output, NULL);
    if (status == DB_OK && !db_output_has_png() && !s->quiet)
        db_remark(s->command, "this build has no PNG support: no pictures");
    return status;
}

static db_status differentiate(db_session *session) {
    const db_settings *settings = &session->settings;
    images all = { 0 };
    if (!settings->parameters)
        return db_complain(
            settings->command, DB_ERROR_USAGE,
            "no parameters named: -params A,B,... or -params all; --list-params shows them");
    db_status status = db_parameter_list_read(
        settings->command, session->context, &session->experiment, settings->parameters, &all.list);
    if (status == DB_OK) status = check_outputs(settings, &all.list);
    if (status != DB_OK) return status;
    status = db_report_experiment(session);
    if (status != DB_OK) return status;
    status = allocate_images(session, &all);
    if (status == DB_OK)
        status = db_session_render(session, all.list.parameter, all.list.count, all.image,
                                   all.derivative);
    if (status == DB_OK) status = check_finite(session, &all);
    if (status == DB_OK) {
        db_enter_stage(session->context, "statistics");
        const db_image_statistics statistics =
            db_image_statistics_of(all.image, &session->region, session->mask);
        db_leave_stage(session->context, "statistics");
        db_report_statistics(session, &statistics);
        db_enter_stage(session->context, "write files");
        status = write_all(session, &all);
        db_leave_stage(session->context, "write files");
    }
    free_images(&all);
    return status;
}

static int run_grad(const db_command *command, int argc, char **argv) {
    return db_session_run(command, argc, argv, differentiate);
}

const db_command db_grad_command = { "grad", db_grad_help, &db_grad_flags, run_grad };
