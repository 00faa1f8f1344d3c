/* Reads the measured image of a configuration, and masks everything that must not count. */
#include "base/context_internal.h"
#include "fit/config/detector_modules.h"
#include "fit/config/listed_experiment.h"
#include "fit/pixels/dark_levels.h"
#include "fit/pixels/listed_pixels.h"
#include "fit/pixels/measured_image.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_steps.h>
#include <dualbragg/expert/image_arrays.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    db_context *context;
    const db_fit_config *config;
    db_measured_image *image;
    db_notice_function line;
    void *user;
    int any_gain; /* an image that does not tell its gain gets that of photons */
} reading;

static db_status apply_mask_file(const reading *r) {
    db_measured_image *const image = r->image;
    if (!*r->config->mask_file) return DB_OK;
    uint8_t *const mask = malloc(db_measured_pixels(image));
    if (!mask) return db_fail_memory(r->context, "the mask");
    const db_status status = db_read_mask(r->context, r->config->mask_file, image->fast_pixels,
                                          image->slow_pixels, mask);
    for (size_t i = 0; i < db_measured_pixels(image) && status == DB_OK; i++)
        if (!mask[i]) image->mask[i] |= DB_MASK_BAD;
    free(mask);
    return status;
}

static db_status mask_listed(const reading *r, const db_fit_spots *spots) {
    db_measured_image *const image = r->image;
    for (size_t i = 0; i < spots->count; i++) {
        const db_fit_spot *const s = &spots->spot[i];
        const int fast = (int)s->position[0], slow = (int)s->position[1];
        const int there = s->panel < db_measured_panels(image) && s->position[0] >= 0 &&
                          s->position[1] >= 0 && s->position[0] < image->fast_pixels &&
                          s->position[1] < db_measured_rows(image, s->panel);
        if (!there)
            return db_fail(r->context, DB_ERROR_INPUT,
                           "%s: pixel %g %g of panel %zu is not on the image",
                           r->config->hot_pixel_file, s->position[0], s->position[1], s->panel);
        const size_t row = (size_t)db_measured_first_row(image, s->panel) + (size_t)slow;
        image->mask[row * (size_t)image->fast_pixels + (size_t)fast] |= DB_MASK_BAD;
    }
    return DB_OK;
}

static db_status apply_hot_pixels(const reading *r) {
    db_fit_spots spots;
    if (!*r->config->hot_pixel_file) return DB_OK;
    DB_TRY(db_fit_spots_read(r->context, r->config->hot_pixel_file, 1, -1, &spots));
    const db_status status = mask_listed(r, &spots);
    db_fit_spots_clear(&spots);
    return status;
}

/* Masks pixels outside the region of interest. Known structure factors cut it into tiles instead. */
static db_status apply_region(const reading *r) {
    const int *const roi = r->config->settings.roi;
    db_measured_image *const image = r->image;
    const int columns = image->fast_pixels, rows = image->slow_pixels;
    if (r->config->settings.intensity == DB_FIT_KNOWN) return DB_OK;
    if (roi[1] >= columns || roi[3] >= rows)
        return db_fail(r->context, DB_ERROR_USAGE,
                       "data.roi: [%d, %d, %d, %d] reaches beyond the image of %d x %d pixels",
                       roi[0], roi[1], roi[2], roi[3], columns, rows);
    for (int row = 0; row < rows && roi[0] >= 0; row++)
        for (int column = 0; column < columns; column++)
            if (column < roi[0] || column > roi[1] || row < roi[2] || row > roi[3])
                image->mask[(size_t)row * (size_t)columns + (size_t)column] |= DB_MASK_BAD;
    return DB_OK;
}

static db_status apply_files(const reading *r) {
    DB_TRY(apply_region(r));
    DB_TRY(apply_mask_file(r));
    return apply_hot_pixels(r);
}

static size_t count_lit(const db_measured_image *image) {
    size_t lit = 0;
    for (size_t i = 0; i < db_measured_pixels(image); i++)
        lit += image->mask[i] == DB_MASK_TRUSTED && image->value[i] > 0;
    return lit;
}

/* Cuts an image into the modules of its detector. */
static db_status cut_into_modules(const reading *r, db_experiment *listed) {
    char line[240];
    db_module_grid g;
    int cut;
    DB_TRY(db_fit_cut_detector(r->context, r->config, listed, &g, &cut));
    if (!cut) return DB_OK;
    const size_t before = count_lit(r->image);
    DB_TRY(db_measured_image_cut(r->context, r->config->image_file, &listed->detector, r->image));
    const size_t lost = before - count_lit(r->image);
    if (!r->line) return DB_OK;
    snprintf(line, sizeof line,
             "the detector's panel is cut into %d x %d modules of %d x %d pixels, with gaps of %d "
             "and %d pixels%s%s",
             g.modules[0], g.modules[1], g.pixels[0], g.pixels[1], g.gap[0], g.gap[1],
             *g.name ? ": " : "", g.name);
    r->line(r->user, line);
    snprintf(line, sizeof line, "%zu trusted pixels in the gaps have counts; they are left out",
             lost);
    if (lost) r->line(r->user, line);
    return DB_OK;
}

/* Applies masks: for the image as in its file, and for the list's panels. */
static db_status apply_all(const reading *r, db_experiment *listed,
                           const db_expt_content *content) {
    const int one_array =
        db_measured_panels(r->image) == 1 && db_detector_is_one_array(&listed->detector);
    if (one_array) {
        DB_TRY(apply_files(r));
        DB_TRY(
            db_measured_image_cut(r->context, r->config->image_file, &listed->detector, r->image));
    }
    const db_listed_pixels listed_pixels = { r->context, r->config, content,
                                             r->image,   r->line,   r->user };
    DB_TRY(db_listed_pixels_apply(&listed_pixels));
    if (!isnan(r->config->trusted[0]))
        db_trust_range(r->config->trusted, 0, 0, r->image->slow_pixels, r->image);
    if (one_array) return DB_OK;
    DB_TRY(apply_files(r));
    return cut_into_modules(r, listed);
}

/* Reads the image in the layout of the list. */
static db_status read_listed(const reading *r) {
    db_listed listed;
    DB_TRY(db_listed_read(r->context, r->config, &listed));
    db_status status =
        db_read_listed_image(r->context, r->config->image_file, &listed.content, r->image);
    if (status == DB_OK) status = apply_all(r, &listed.experiment, &listed.content);
    db_listed_clear(&listed);
    return status;
}

/* Applies masks to an image without a list. */
static db_status apply_plain(const reading *r) {
    if (!isnan(r->config->trusted[0]))
        db_trust_range(r->config->trusted, 0, 0, r->image->slow_pixels, r->image);
    return apply_files(r);
}

static db_status read_masked(const reading *r) {
    if (*r->config->expt_file) return read_listed(r);
    DB_TRY(db_read_image(r->context, r->config->image_file, r->image));
    return apply_plain(r);
}

/* Masks pixels that are not finite. */
static void mask_not_finite(db_measured_image *image) {
    for (size_t i = 0; i < db_measured_pixels(image); i++)
        if (!isfinite(image->value[i])) {
            image->value[i] = 0;
            image->mask[i] |= DB_MASK_BAD;
        }
}

static void count_masked(db_measured_image *image) {
    image->masked = 0;
    for (size_t i = 0; i < db_measured_pixels(image); i++) image->masked += image->mask[i] != 0;
}

/* Names the image whose noise cannot be measured. */
static db_status name_image(const reading *r, db_status status) {
    char why[400];
    if (status != DB_ERROR_INPUT || !*r->config->image_file) return status;
    snprintf(why, sizeof why, "%s", db_context_message(r->context));
    return db_fail(r->context, status, "%s: %s", r->config->image_file, why);
}

/* Says which gain and readout noise were found. A readout noise that was given, or that cannot be told from dark
 * levels, is not measured. */
static void say_noise(const reading *r, const db_fit_settings *settings,
                      const db_image_noise *noise) {
    char line[200], found[100];
    const char *const said = noise->stated ? "is that of the file" : "is measured";
    if (noise->has_dark || r->config->settings.readout_noise > 0)
        snprintf(found, sizeof found, "gain %.3g %s", settings->gain, said);
    else if (noise->stated)
        snprintf(found, sizeof found, "gain %.3g %s, readout noise %.3g is measured",
                 settings->gain, said, settings->readout_noise);
    else
        snprintf(found, sizeof found, "gain %.3g and readout noise %.3g are measured",
                 settings->gain, settings->readout_noise);
    snprintf(line, sizeof line,
             "%s: pixels scatter by more than twice the variance of photons (data.gain, "
             "data.readout_noise)",
             found);
    r->line(r->user, line);
}

/* Estimates noise, unless the image has measured values. */
static db_status estimate_noise(const reading *r, db_fit_settings *settings) {
    char line[200];
    db_image_noise noise;
    db_status status =
        name_image(r, db_image_noise_estimate(r->context, r->image, settings, &noise));
    if (status == DB_ERROR_INPUT && r->any_gain) {
        if (r->line) r->line(r->user, db_context_message(r->context));
        settings->gain = 1;
        status = db_image_noise_estimate(r->context, r->image, settings, &noise);
    }
    DB_TRY(status);
    if (noise.measured) {
        r->image->gain = settings->gain;
        r->image->readout_noise = settings->readout_noise;
    }
    if (!r->line) return DB_OK;
    if (noise.by_steps) {
        snprintf(line, sizeof line,
                 "gain %.6g is measured: most pixels have 0, and all others a multiple of that "
                 "(data.gain)",
                 settings->gain);
        r->line(r->user, line);
        return DB_OK;
    }
    if (noise.measured) say_noise(r, settings, &noise);
    snprintf(line, sizeof line,
             "dark levels of %.3g to %.3g counts are subtracted: the scatter of the background "
             "shows that they are no photons",
             noise.dark[0], noise.dark[1]);
    if (noise.has_dark) r->line(r->user, line);
    return DB_OK;
}

static db_status finish(const reading *r) {
    const db_fit_config *const config = r->config;
    db_fit_settings settings = config->settings;
    mask_not_finite(r->image);
    count_masked(r->image);
    DB_TRY(estimate_noise(r, &settings));
    const size_t hot = db_mask_hot_pixels(&settings, config->hot_sigma, r->image);
    if (hot && r->line) {
        char text[200];
        snprintf(text, sizeof text,
                 "%zu hot pixel%s left out (single pixels %g standard deviations above their "
                 "surroundings), if not at reflections",
                 hot, hot == 1 ? "" : "s", config->hot_sigma);
        r->line(r->user, text);
    }
    return DB_OK;
}

static db_status read_and_finish(const reading *r) {
    memset(r->image, 0, sizeof *r->image);
    db_status status = read_masked(r);
    if (status == DB_OK) status = finish(r);
    if (status != DB_OK) db_measured_image_clear(r->image);
    return status;
}

db_status db_fit_config_read_image(db_context *context, const db_fit_config *config,
                                   db_measured_image *image, db_notice_function notices,
                                   void *user) {
    const reading r = { context, config, image, notices, user, 0 };
    return read_and_finish(&r);
}

db_status db_fit_config_read_any_gain(db_context *context, const db_fit_config *config,
                                      db_measured_image *image, db_notice_function notices,
                                      void *user) {
    const reading r = { context, config, image, notices, user, 1 };
    return read_and_finish(&r);
}

db_status db_fit_config_mask_image(db_context *context, const db_fit_config *config,
                                   db_measured_image *image, db_notice_function notices,
                                   void *user) {
    const reading r = { context, config, image, notices, user, 0 };
    for (size_t i = 0; i < db_measured_pixels(image);
         i++) /* what the caller knows as bad stays so */
        if (image->mask[i] == DB_MASK_HOT) image->mask[i] = DB_MASK_BAD;
    DB_TRY(apply_plain(&r));
    return finish(&r);
}
