/* Facts of an experiment list about pixels: trusted pixels, and counts of photons. */
#include "fit/pixels/listed_pixels.h"

#include "base/shown_text.h"
#include "base/context_internal.h"
#include "base/path.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell_of_list(const db_listed_pixels *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell_of_list(const db_listed_pixels *l, const char *format, ...) {
    char line[1400];
    va_list arguments;
    if (!l->line) return;
    const size_t length =
        db_shown_format(line, sizeof line, "%.300s: ", db_file_name(l->config->expt_file));
    va_start(arguments, format);
    db_shown_vformat(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    l->line(l->user, line);
}

void db_trust_range(const double range[2], double subtracted, int first_row, int rows,
                    db_measured_image *image) {
    const size_t first = (size_t)first_row * (size_t)image->fast_pixels,
                 end = first + (size_t)rows * (size_t)image->fast_pixels;
    for (size_t i = first; i < end; i++) {
        const double value = (double)image->value[i] + subtracted;
        if (image->mask[i] != DB_MASK_TRUSTED) continue;
        if (value < range[0]) image->mask[i] = DB_MASK_BAD;
        if (value > range[1]) image->mask[i] = DB_MASK_OVERLOAD;
    }
}

static void mask_rectangle(const int r[4], int first_row, int rows, db_measured_image *image) {
    for (int s = r[1] > 0 ? r[1] : 0; s < r[3] && s < rows; s++)
        for (int f = r[0] > 0 ? r[0] : 0; f < r[2] && f < image->fast_pixels; f++)
            image->mask[(size_t)(first_row + s) * (size_t)image->fast_pixels + (size_t)f] =
                DB_MASK_BAD;
}

static db_status check_panels(const db_listed_pixels *l) {
    const db_measured_image *const image = l->image;
    const size_t count = l->content->panel_count;
    if (count != db_measured_panels(image))
        return db_fail(l->context, DB_ERROR_INPUT, "%s: %zu panel%s, the image %s has %zu%s",
                       l->config->expt_file, count, count == 1 ? "" : "s", l->config->image_file,
                       db_measured_panels(image),
                       db_measured_panels(image) > 1
                           ? ""
                           : "; expected raw_image_offset of each panel: the pixel of the image "
                             "with which it begins");
    for (size_t p = 0; p < count; p++) {
        const char *const name = l->content->panel[p].name;
        for (size_t k = 0; k < image->panel_count; k++)
            if (k != p && *name && strcmp(image->panels[k].name, name) == 0)
                return db_fail(l->context, DB_ERROR_INPUT,
                               "%s: panel %zu is named %s, the name of panel %zu in the image %s; "
                               "expected one order of panels",
                               l->config->expt_file, p, name, k, l->config->image_file);
    }
    return DB_OK;
}

static void mask_panels(const db_listed_pixels *l) {
    db_measured_image *const image = l->image;
    for (size_t p = 0; p < l->content->panel_count; p++) {
        const db_expt_panel *const listed = &l->content->panel[p];
        const int first = db_measured_first_row(image, p), rows = db_measured_rows(image, p);
        if (isnan(l->config->trusted[0]))
            db_trust_range(listed->trusted, image->pedestal, first, rows, image);
        for (size_t m = 0; m < listed->mask_count; m++)
            mask_rectangle(listed->mask[m], first, rows, image);
    }
}

/* Changes pixels from `first` to before `end`; number: the list's, for the panel or the pixel. */
typedef void (*pixel_step)(db_measured_image *image, size_t first, size_t end, double number,
                           double reference);

static void subtract_pedestal(db_measured_image *image, size_t first, size_t end, double pedestal,
                              double subtracted) {
    for (size_t i = first; i < end; i++)
        image->value[i] = (float)((double)image->value[i] - (pedestal - subtracted));
}

static void scale_gain(db_measured_image *image, size_t first, size_t end, double gain,
                       double common) {
    for (size_t i = first; i < end; i++)
        image->value[i] = (float)((double)image->value[i] * (common / gain));
}

/* Applies a change to each panel, with its number. */
static void by_panel(const db_listed_pixels *l, const double *number, double reference,
                     pixel_step step) {
    const size_t width = (size_t)l->image->fast_pixels;
    for (size_t p = 0; p < l->content->panel_count; p++) {
        const size_t first = (size_t)db_measured_first_row(l->image, p) * width;
        if (number[p] != reference)
            step(l->image, first, first + (size_t)db_measured_rows(l->image, p) * width, number[p],
                 reference);
    }
}

/* Applies a change to each pixel, with its number; pixels with less than `least` are marked bad instead. */
static void by_pixel(const db_listed_pixels *l, const float *number, double least, double reference,
                     pixel_step step) {
    for (size_t i = 0; i < db_measured_pixels(l->image); i++) {
        const double own = (double)number[i];
        if (isfinite(own) && own > least)
            step(l->image, i, i + 1, own, reference);
        else
            l->image->mask[i] |= DB_MASK_BAD;
    }
}

/* Values of a file that the list names; NULL: no file, or none that can be read, which a notice says. */
static db_status read_map(const db_listed_pixels *l, db_expt_map map, float **value) {
    *value = NULL;
    if (!l->content->map[map]) return DB_OK;
    float *const made = malloc(db_measured_pixels(l->image) * sizeof *made);
    if (!made) return db_fail_memory(l->context, l->content->map[map]);
    const db_status status = db_read_listed_map(l->context, l->content, map, l->image, made);
    if (status == DB_OK)
        *value = made;
    else
        free(made);
    if (status == DB_OK || status == DB_ERROR_MEMORY) return status;
    tell_of_list(l, "the %s of the images is not used: %s", db_expt_map_name(map),
                 db_context_message(l->context));
    return DB_OK;
}

static db_status apply_mask(const db_listed_pixels *l) {
    float *good;
    DB_TRY(read_map(l, DB_EXPT_MASK, &good));
    for (size_t i = 0; good && i < db_measured_pixels(l->image); i++)
        if (!(fabs((double)good[i]) > 0)) l->image->mask[i] |= DB_MASK_BAD;
    free(good);
    return DB_OK;
}

/* A number for each panel; *differ: they are not all equal. */
static db_status panel_numbers(const db_listed_pixels *l, int of_gain, double **number,
                               int *differ) {
    const size_t count = l->content->panel_count;
    *differ = 0;
    *number = calloc(count + 1, sizeof **number);
    if (!*number) return db_fail_memory(l->context, l->config->expt_file);
    for (size_t p = 0; p < count; p++) {
        const db_expt_panel *const panel = &l->content->panel[p];
        (*number)[p] = of_gain ? panel->gain : panel->pedestal;
        *differ |= (*number)[p] != (*number)[0];
    }
    return DB_OK;
}

/* Subtracts the list's pedestals, if it has any, instead of the header's, which is subtracted already. */
static db_status subtract_of_panels(const db_listed_pixels *l) {
    const double before = l->image->pedestal;
    double *pedestal;
    int differ;
    DB_TRY(panel_numbers(l, 0, &pedestal, &differ));
    if (differ || pedestal[0] != 0) {
        if (before != 0 && fabs(pedestal[0] - before) > 1e-6)
            tell_of_list(l, "its pedestal %g is used, not %g of the image's header", pedestal[0],
                         before);
        by_panel(l, pedestal, before, subtract_pedestal);
        l->image->pedestal = pedestal[0];
        l->image->overload -= pedestal[0] - before;
    }
    free(pedestal);
    return DB_OK;
}

static db_status apply_pedestal(const db_listed_pixels *l) {
    float *pedestal;
    DB_TRY(read_map(l, DB_EXPT_PEDESTAL, &pedestal));
    if (!pedestal) return subtract_of_panels(l);
    by_pixel(l, pedestal, -INFINITY, l->image->pedestal, subtract_pedestal);
    free(pedestal);
    return DB_OK;
}

static double mean_gain(const db_measured_image *image, const float *gain) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < db_measured_pixels(image); i++)
        if (image->mask[i] == DB_MASK_TRUSTED && gain[i] > 0 && isfinite((double)gain[i])) {
            sum += (double)gain[i];
            count++;
        }
    return count > 0 ? sum / count : 1;
}

/* Brings counts of panels to the gain of the first one, so that one gain describes the noise of all. */
static void bring_panels(const db_listed_pixels *l, const double *gain, int differ) {
    double least = gain[0], most = gain[0];
    for (size_t p = 0; p < l->content->panel_count; p++) {
        least = fmin(least, gain[p]);
        most = fmax(most, gain[p]);
    }
    if (!(least > 0)) {
        tell_of_list(l, "gains of its panels are not used: expected numbers above 0, found %g",
                     least);
    } else if (differ && !isnan(l->config->settings.gain)) {
        tell_of_list(l, "gains of its panels, %g to %g, are not used, because data.gain is", least,
                     most);
    } else if (differ) {
        tell_of_list(l,
                     "gains of its panels are %g to %g: counts are scaled to the gain of the first "
                     "panel, %g",
                     least, most, gain[0]);
        by_panel(l, gain, gain[0], scale_gain);
        l->image->gain = gain[0];
    } else if (l->image->gain == 1) {
        l->image->gain = gain[0];
    } else if (gain[0] != 1 && fabs(gain[0] / l->image->gain - 1) > 1e-3) {
        tell_of_list(l, "its gain %g is used, not %g of the image's header", gain[0],
                     l->image->gain);
        l->image->gain = gain[0];
    }
}

static db_status gain_of_panels(const db_listed_pixels *l) {
    double *gain;
    int differ;
    DB_TRY(panel_numbers(l, 1, &gain, &differ));
    bring_panels(l, gain, differ);
    free(gain);
    return DB_OK;
}

static db_status apply_gain(const db_listed_pixels *l) {
    float *gain = NULL;
    if (isnan(l->config->settings.gain))
        DB_TRY(read_map(l, DB_EXPT_GAIN, &gain));
    else if (l->content->map[DB_EXPT_GAIN])
        tell_of_list(l, "the gain of each pixel (%s) is not used, because data.gain is",
                     db_file_name(l->content->map[DB_EXPT_GAIN]));
    if (!gain) return gain_of_panels(l);
    const double common = mean_gain(l->image, gain);
    by_pixel(l, gain, 0, common, scale_gain);
    l->image->gain = common;
    free(gain);
    return DB_OK;
}

static void name_displacements(const db_listed_pixels *l) {
    if (l->content->map[DB_EXPT_DX] || l->content->map[DB_EXPT_DY])
        tell_of_list(
            l, "displacements of single pixels (dx, dy of the images) are not used: panels are "
               "taken for flat and evenly divided");
}

db_status db_listed_pixels_apply(const db_listed_pixels *l) {
    DB_TRY(check_panels(l));
    mask_panels(l);
    DB_TRY(apply_mask(l));
    DB_TRY(apply_pedestal(l));
    DB_TRY(apply_gain(l));
    name_displacements(l);
    return DB_OK;
}
