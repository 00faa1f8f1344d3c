#define _POSIX_C_SOURCE 200809L /* strdup */
/* dualbragg sim: one image; and dualbragg amorphous, where the session has put a crystal that
 * scatters nothing. */
#include "cli/complaint.h"
#include "base/shown_text.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/images.h"
#include "cli/noise_output.h"
#include "cli/noise_settings.h"
#include "cli/output.h"
#include "cli/printout.h"
#include "cli/report.h"
#include "cli/shots.h"
#include "base/context_internal.h"
#include "base/path.h"
#include "io/experiments/dxtbx.h"
#include "io/nexus/nexus_write.h"
#include "model/crystal_position.h"

#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/colour.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/picture_files.h>
#include <dualbragg/expert/spot_places.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_status check_expt(const db_settings *settings) {
    if (!settings->expt_file) return DB_OK;
    if (!strstr(db_features(), "JSON"))
        return db_complain(settings->command, DB_ERROR_UNSUPPORTED,
                           "-exptfile: this build has no JSON support");
    if (settings->setup.curved)
        return db_complain(settings->command, DB_ERROR_UNSUPPORTED,
                           "-exptfile: a DIALS experiment list holds flat panels, not a curved "
                           "detector (-curved_det)");
    return DB_OK;
}

static db_status check_outputs(const db_settings *s) {
    if (!s->float_file && !s->hdf5_file && !s->int_file && !s->png_file && !s->pgm_file &&
        !s->expt_file && !s->spot_file && !s->wavelength_file && !db_noise_wanted(s))
        return db_complain(
            s->command, DB_ERROR_USAGE,
            "no output named: expected -floatfile FILE (32-bit floats), -hdf5file FILE (NXmx), "
            "-intfile FILE (SMV), -noisefile FILE (with noise, SMV or HDF5), -pngfile or -pgmfile "
            "FILE (pictures), -exptfile FILE (for DIALS), -spotfile FILE (list of spots) or "
            "-wavelengthfile FILE (mean wavelengths)");
    if (s->png_file && !db_output_has_png())
        return db_complain(s->command, DB_ERROR_UNSUPPORTED,
                           "-pngfile: this build has no PNG support");
    return check_expt(s);
}

/* The SMV image has no counts, not even the offset, outside the rendered pixels. */
static void blank_outside(float *image, const db_panel *panel, const db_region *roi) {
    if (roi->fast_count == panel->fast_pixels && roi->slow_count == panel->slow_pixels) return;
    for (int slow = 0; slow < panel->slow_pixels; slow++)
        for (int fast = 0; fast < panel->fast_pixels; fast++)
            if (fast < roi->fast_start || fast >= roi->fast_start + roi->fast_count ||
                slow < roi->slow_start || slow >= roi->slow_start + roi->slow_count)
                image[(size_t)slow * roi->stride + (size_t)fast] = NAN;
}

static db_status write_hdf5(const db_session *session, const char *file, const float *image) {
    const db_nexus_format format = db_photon_format(session);
    if (!session->settings.quiet)
        db_shown_print(stdout, "writing %s as 4-byte floats (NXmx)\n", db_shown_path(file));
    return db_nexus_write(session->context, file, &session->experiment, &format, image);
}

/* Writes HDF5 if the file's name says so. */
static db_status write_float_file(const db_session *session, const char *file, const float *image) {
    const size_t count = db_experiment_pixels(&session->experiment);
    if (db_names_hdf5(file)) return write_hdf5(session, file, image);
    if (!session->settings.quiet)
        db_shown_print(stdout, "writing %s as %zu 4-byte floats\n", db_shown_path(file), count);
    return db_write_float_image(session->context, file, image, count);
}

static db_status write_floats(const db_session *session, const float *image) {
    const db_settings *s = &session->settings;
    if (s->hdf5_file) DB_TRY(write_hdf5(session, s->hdf5_file, image));
    return s->float_file ? write_float_file(session, s->float_file, image) : DB_OK;
}

static db_status write_wavelengths(db_session *session) {
    const char *const file = session->settings.wavelength_file;
    if (!file) return DB_OK;
    float *const image = db_image_buffer(&session->sheet, &session->region);
    if (!image) return db_fail_memory(session->context, "the image of mean wavelengths");
    db_status status = db_session_mean_wavelength(session, image);
    if (status == DB_OK) status = write_float_file(session, file, image);
    free(image);
    return status;
}

static db_status write_picture(const db_session *session, const float *image) {
    const db_settings *s = &session->settings;
    const db_panel *panel = &session->sheet;
    if (!s->png_file) return DB_OK;
    if (!s->quiet) db_shown_print(stdout, "writing %s as a picture\n", db_shown_path(s->png_file));
    return db_write_png(session->context, s->png_file, image, panel->fast_pixels,
                        panel->slow_pixels, DB_COLOUR_GREY, NAN, NAN);
}

/* Writes integers; overwrites the image. */
static db_status write_integers(const db_session *session, double scale, float *image,
                                const db_smv_style *style) {
    const db_settings *s = &session->settings;
    if (!s->int_file) return DB_OK;
    if (!s->quiet)
        db_shown_print(stdout, "intfile_scale = %.*g\nwriting %s as 2-byte integers\n", s->digits,
                       scale, db_shown_path(s->int_file));
    blank_outside(image, &session->sheet, &session->region);
    const db_experiment experiment = db_session_header_experiment(session);
    return db_write_smv(session->context, s->int_file, &experiment, image, scale, s->adc, style);
}

/* Grey levels per photon: the user's, or 50 at the root mean square deviation, or those of the SMV image. */
static double pgm_scale(const db_settings *settings, const db_image_statistics *statistics,
                        double smv_scale) {
    return settings->pgm_scale > 0 ? settings->pgm_scale
           : statistics->rmsd > 0  ? 250 / (5 * statistics->rmsd)
                                   : smv_scale;
}

static db_status write_pgm(const db_session *session, const db_image_statistics *statistics,
                           double smv_scale, const float *image) {
    const db_settings *s = &session->settings;
    const db_panel *panel = &session->sheet;
    if (!s->pgm_file) return DB_OK;
    const double scale = pgm_scale(s, statistics, smv_scale);
    if (!s->quiet)
        db_shown_print(stdout, "pgm_scale = %.*g\nwriting %s as 1-byte integers\n", s->digits,
                       scale, db_shown_path(s->pgm_file));
    return db_write_pgm(session->context, s->pgm_file, image, panel->fast_pixels,
                        panel->slow_pixels, scale);
}

/* Name of the image in the list; to be freed. NULL without memory. */
static char *name_in_list(const char *list, const char *image) {
    const size_t folder = db_folder_length(list);
    if (folder == db_folder_length(image) && memcmp(list, image, folder) == 0)
        return strdup(image + folder);
    char *const whole = db_whole_path(image);
    return whole ? whole : strdup(image);
}

static int is_numbered(db_context *context, const char *image) {
    db_image_template made;
    if (db_names_hdf5(image)) return 1;
    if (db_image_template_of(context, image, &made) != DB_OK) return 0;
    free(made.text);
    return made.numbered;
}

/* Writes the experiment list, if it is wanted, after its image (NULL: none), whose counts are pedestal + gain *
 * photons. An image in the list's folder is named without a folder, another one by its whole path. */
static db_status write_expt(const db_session *session, const char *image, double pedestal,
                            double gain) {
    const db_settings *s = &session->settings;
    if (!s->expt_file) return DB_OK;
    if (!s->quiet)
        db_shown_print(stdout, "writing %s as a DIALS experiment list\n",
                       db_shown_path(s->expt_file));
    if (!s->quiet && db_is_off_origin(&session->experiment.crystal))
        db_remark(s->command,
                  "-exptfile leaves out the position of the crystal, which lists do not have");
    if (!image || !is_numbered(session->context, image)) {
        if (image && !s->quiet)
            db_remark(
                s->command,
                "-exptfile leaves the image %s out: dxtbx reads SMV images only with a number "
                "before the extension, as in image_0001.img",
                db_shown_path(image));
        return db_write_expt(session->context, s->expt_file, &session->experiment, NULL);
    }
    char *name = name_in_list(s->expt_file, image);
    if (name && db_names_hdf5(image)) {
        char *const numbered = malloc(strlen(name) + 3);
        if (numbered) sprintf(numbered, "%s#1", name);
        free(name);
        name = numbered;
    }
    const db_expt_image described = { .path = name ? name : image,
                                      .pedestal = pedestal,
                                      .gain = gain };
    const db_status status =
        db_write_expt(session->context, s->expt_file, &session->experiment, &described);
    free(name);
    return status;
}

/* The experiment list refers to the image that is most like a measured one. */
static db_status write_list(const db_session *session, double scale) {
    const db_settings *s = &session->settings;
    if ((!db_noise_wanted(s) || !s->noise_file) && !s->int_file && s->hdf5_file)
        return write_expt(session, s->hdf5_file, 0, 1);
    if (!db_noise_wanted(s) || !s->noise_file)
        return write_expt(session, s->int_file, s->adc, scale);
    const db_noise_options noise = db_noise_options_of(&session->settings, &session->experiment);
    return write_expt(session, s->noise_file, noise.adc, noise.gain);
}

static db_status write_spots(const db_session *session) {
    const db_settings *s = &session->settings;
    db_predicted_spots list;
    if (!s->spot_file) return DB_OK;
    db_status status = db_spots_predict(session->context, &session->experiment, NULL, &list);
    if (status != DB_OK) return status;
    if (!s->quiet)
        db_shown_print(stdout, "writing %s as a list of %zu spots\n", db_shown_path(s->spot_file),
                       list.count);
    status = db_write_spots(session->context, s->spot_file, &list);
    db_predicted_spots_clear(&list);
    return status;
}

static db_status write_files(db_session *session, float *image,
                             const db_image_statistics *statistics) {
    db_status status = write_floats(session, image);
    if (status == DB_OK) {
        db_report_statistics(session, statistics);
        status = write_picture(session, image);
    }
    const double largest = statistics->largest, scale = session->settings.scale > 0
                                                            ? session->settings.scale
                                                        : largest > 0 ? 55000 / largest
                                                                      : 1;
    const db_smv_style style = db_session_smv_style(session);
    if (status == DB_OK) status = write_integers(session, scale, image, &style);
    if (status == DB_OK) status = write_pgm(session, statistics, scale, image);
    if (status == DB_OK) status = db_noise_output(session, image, &style);
    if (status == DB_OK) status = write_list(session, scale);
    if (status == DB_OK) status = write_spots(session);
    if (status == DB_OK) status = write_wavelengths(session);
    return status;
}

static db_status write_all(db_session *session, float *image,
                           const db_image_statistics *statistics) {
    db_enter_stage(session->context, "write files");
    const db_status status = write_files(session, image, statistics);
    db_leave_stage(session->context, "write files");
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

static db_status finish_sim(db_session *session, float *image) {
    db_enter_stage(session->context, "statistics");
    const db_image_statistics statistics =
        db_image_statistics_of(image, &session->region, session->mask);
    const db_settings *s = &session->settings;
    /* the reference's running products overflow here */
    const db_status finite =
        s->setup.compat ? DB_OK : db_image_check_finite(s->command, "image", statistics.rms);
    db_status status = finite == DB_OK ? db_printout(session, image) : finite;
    if (status == DB_OK) status = db_report_solid_angle(session, session->mask);
    db_leave_stage(session->context, "statistics");
    if (finite != DB_OK) return finite; /* reported already */
    return status == DB_OK ? write_all(session, image, &statistics)
                           : db_session_complain(session, status);
}

/* Runs many shots; the first of several processes speaks for all. */
static db_status simulate_many(db_session *session) {
    db_processes all;
    db_status status = db_processes_join(session->settings.command, &all);
    if (status != DB_OK) return status;
    session->settings.quiet |= all.rank > 0;
    status = db_report_experiment(session);
    if (status == DB_OK) status = db_shots_run(session, &all);
    db_processes_leave();
    return status;
}

static db_status simulate(db_session *session) {
    db_status status = check_outputs(&session->settings);
    if (status == DB_OK && session->settings.spot_file &&
        session->experiment.spread.spots != DB_SPOTS_CLOSED)
        status =
            db_complain(session->settings.command, DB_ERROR_USAGE,
                        "-spotfile: spots are predicted in closed form; expected -spots closed");
    if (status == DB_OK)
        status = db_noise_flags_check(session->context, &session->settings, &session->experiment);
    if (status == DB_OK) status = db_printout_check(session);
    const int many = db_shots_wanted(&session->settings);
    if (status == DB_OK && many) status = db_shots_check(session);
    if (status != DB_OK) return status;
    if (many) return simulate_many(session);
    status = db_report_experiment(session);
    if (status != DB_OK) return status;
    float *image = db_image_buffer(&session->sheet, &session->region);
    if (!image)
        return db_complain(session->settings.command, DB_ERROR_MEMORY,
                           "out of memory for the image of %d x %d pixels",
                           session->region.fast_count, session->region.slow_count);
    status = db_session_render(session, NULL, 0, image, NULL);
    if (status == DB_OK) status = finish_sim(session, image);
    free(image);
    return status;
}

static int run_sim(const db_command *command, int argc, char **argv) {
    return db_session_run(command, argc, argv, simulate);
}

const db_command db_sim_command = { "sim", db_sim_help, &db_sim_flags, run_sim };
const db_command db_amorphous_command = { "amorphous", db_amorphous_help, &db_amorphous_flags,
                                          run_sim };
