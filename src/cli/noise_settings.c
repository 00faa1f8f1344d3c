#define _XOPEN_SOURCE 700 /* stat */
#include "cli/noise_settings.h"

#include "cli/complaint.h"
#include "io/nexus/nexus_write.h"

#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/noise_check.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

int db_noise_alone(const db_settings *settings) { return strcmp(settings->command, "noise") == 0; }

void db_noise_leave_open(db_settings *settings) {
    settings->noise = (db_noise_options)DB_NOISE_OPTIONS_INIT;
    settings->noise_wanted = -1;
    settings->calibration_seed = (long)settings->noise.calibration_seed;
    if (db_noise_alone(settings)) settings->noise.calibration = 0.03;
}

int db_noise_available(void) { return strstr(db_features(), "Random123") != NULL; }

int db_noise_wanted(const db_settings *settings) {
    return settings->noise_wanted == 1 && (settings->noise_file || settings->noise_float_file);
}

/* Number of floats in a file. */
static db_status count_floats(const db_settings *s, long long *count) {
    struct stat info;
    if (stat(s->float_file, &info) != 0)
        return db_complain(s->command, DB_ERROR_FILE, "-floatfile %s: cannot read: %s",
                           s->float_file, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return db_complain(s->command, DB_ERROR_FILE,
                           "-floatfile %s: expected a file of 32-bit floats, found something else",
                           s->float_file);
    if (info.st_size == 0 || info.st_size % 4)
        return db_complain(s->command, DB_ERROR_INPUT,
                           "-floatfile %s: expected 4 bytes per pixel, found %lld bytes",
                           s->float_file, (long long)info.st_size);
    *count = (long long)info.st_size / 4;
    return DB_OK;
}

/* The given shape, else that of the detector's size, else a square. */
static db_status choose_shape(db_settings *s, long long count) {
    int *const pixels = s->setup.detector_pixels;
    const long long fast = llround(s->setup.detector_size[0] / s->setup.pixel_size),
                    slow = llround(s->setup.detector_size[1] / s->setup.pixel_size),
                    root = llround(sqrt((double)count));
    if (pixels[0] && !pixels[1] && count % pixels[0] == 0)
        pixels[1] = (int)(count / pixels[0]);
    else if (pixels[1] && !pixels[0] && count % pixels[1] == 0)
        pixels[0] = (int)(count / pixels[1]);
    else if (!pixels[0] && !pixels[1] && fast * slow != count && root * root == count)
        pixels[0] = pixels[1] = (int)root;
    const long long shape[2] = { pixels[0] ? pixels[0] : fast, pixels[1] ? pixels[1] : slow };
    if (shape[0] * shape[1] == count) return DB_OK;
    if (!pixels[0] && !pixels[1])
        return db_complain(s->command, DB_ERROR_INPUT,
                           "-floatfile %s: %lld pixels are no square; give their shape by "
                           "-detpixels_f FAST and -detpixels_s SLOW",
                           s->float_file, count);
    return db_complain(s->command, DB_ERROR_INPUT,
                       "-floatfile %s: expected %lld x %lld pixels, found %lld", s->float_file,
                       shape[0], shape[1], count);
}

int db_noise_of_image(db_context *context, const db_settings *settings) {
    db_file_kind kind;
    return db_noise_alone(settings) && settings->float_file &&
           db_recognize_file(context, settings->float_file, &kind) == DB_OK &&
           (kind.holds & DB_HOLDS_IMAGES);
}

db_status db_noise_prepare(db_context *context, db_settings *settings) {
    long long count = 0;
    if (!db_noise_alone(settings)) return DB_OK;
    if (!settings->float_file)
        return db_complain(settings->command, DB_ERROR_USAGE,
                           "no image named: expected -floatfile FILE, found none");
    for (int i = 0; i < 3; i++) settings->setup.cell[i] = 1;
    if (db_noise_of_image(context, settings)) return DB_OK;
    const db_status status = count_floats(settings, &count);
    return status == DB_OK ? choose_shape(settings, count) : status;
}

db_noise_options db_noise_options_of(const db_settings *s, const db_experiment *experiment) {
    db_noise_options options = s->noise;
    options.seed = s->seed ? (uint32_t)s->seed : 1;
    options.calibration_seed = (uint32_t)s->calibration_seed;
    /* a file of integers can contain counts unchanged; SMV images have an offset */
    options.adc = s->adc_given || !db_names_hdf5(s->noise_file) ? s->adc : 0;
    options.truncate = s->noise.truncate || s->setup.compat;
    options.psf_fwhm = 1e-3 * s->psf_width / experiment->detector.panels[0].pixel_size[0];
    return options;
}

static db_status check_psf(const db_settings *s) {
    if (s->noise.psf != DB_PSF_NONE && !(s->psf_width > 0))
        return db_complain(s->command, DB_ERROR_USAGE,
                           "-psf: expected -psf_fwhm WIDTH (um) above 0 with it, found %g",
                           s->psf_width);
    if (s->noise.psf == DB_PSF_NONE && (s->psf_width != 0 || s->noise.psf_radius != 0))
        return db_complain(s->command, DB_ERROR_USAGE,
                           "-psf_fwhm and -psf_radius: expected -psf gauss or -psf fiber with "
                           "them, found none");
    return DB_OK;
}

db_status db_noise_flags_check(db_context *context, const db_settings *s,
                               const db_experiment *experiment) {
    const int alone = db_noise_alone(s);
    if (!db_noise_wanted(s) && !alone) {
        if (s->noise_given && !s->quiet)
            db_remark(s->command,
                      "flags of noise have no effect without -noisefile or -noisefloatfile");
        return DB_OK;
    }
    if (!db_noise_available())
        return db_complain(s->command, DB_ERROR_UNSUPPORTED,
                           "this build makes no noise (it needs Random123 when it is configured)");
    db_status status = check_psf(s);
    if (status != DB_OK) return status;
    const db_noise_options options = db_noise_options_of(s, experiment);
    status = db_noise_check(context, &options);
    return status == DB_OK ? DB_OK : db_complain_context(s->command, status, context);
}
