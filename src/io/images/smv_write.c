/* SMV images that are written: a header, then pixels: unsigned 16-bit, or signed 32-bit.
 *
 * The header is text in blocks of 512 bytes.
 *
 * The keys are the reference's, in its order. The reference's own header
 * (experiment->reference.on) holds them and nothing else, with six digits. By default their values
 * are those of the final detector placement, and more keys follow. Where that leaves a choice:
 *  - BEAM_CENTER_X/Y follow the habit of ADSC headers: X along slow, Y along fast, mm from the
 * outer corner of the first pixel, as DENZO has them, which BEAM_CENTER_CONVENTION states. With
 * DATE, TIME and a numeric DETECTOR_SN, and without BEAMLINE=fake, dxtbx then takes the file for an
 *    ADSC image and reads an untilted detector exactly. Tilts do not fit into its view of an SMV
 *    header.
 *  - CONVENTION, PIVOT, DETECTOR_ROTATION and OSC_STEPS say the rest that it takes to set up the
 * same experiment.
 *  - SENSOR_THICKNESS, SENSOR_ATTENUATION_DEPTH (mm) and SENSOR_MATERIAL describe the sensor.
 *  - DATE is the start of the Unix epoch and TIME 1 s: a simulation has neither, and files should
 *    be reproducible.
 *  - IMAGE_PEDESTAL (ADSC) and ADC_OFFSET (simulators) both hold the pedestal, GAIN the counts per
 *    photon. */
#include "base/atomic_file.h"
#include "base/c_locale.h"
#include "base/context_internal.h"
#include "base/given.h"
#include "base/file_content.h"
#include "io/images/smv_geometry.h"

#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/sensor_materials.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, HEADER_SIZE = 8 * BLOCK };

typedef struct smv_text {
    char bytes[HEADER_SIZE];
    size_t length; /* a multiple of BLOCK once it is built */
} smv_text;

/* How pixels are stored: value = scale * photons + adc, in 16 or 32 bits. */
typedef struct smv_pixels {
    double scale, adc;
    int bits;
} smv_pixels;

/* The sources of the keys. */
typedef struct source {
    const db_experiment *experiment;
    const db_smv_style *style;
    db_smv_geometry geometry;
    const smv_pixels *pixels;
    int reference;
    int digits;
} source;

__attribute__((format(printf, 2, 3))) static void put(smv_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof text->bytes - text->length;
    const int length = vsnprintf(text->bytes + text->length, room, format, arguments);
    va_end(arguments);
    text->length =
        length < 0 || (size_t)length >= room ? sizeof text->bytes : text->length + (size_t)length;
}

/* A length or angle without the rounding noise around 0. */
static double tidy(const source *from, double value) {
    return !from->reference && fabs(value) < 1e-9 ? 0 : value;
}

static void put_number(smv_text *text, const source *from, const char *key, double value) {
    put(text, "%s=%.*g;\n", key, from->digits, tidy(from, value));
}

static void put_pair(smv_text *text, const source *from, const char *x_key, double x,
                     const char *y_key, double y) {
    put_number(text, from, x_key, x);
    put_number(text, from, y_key, y);
}

static void put_beam_centres(smv_text *text, const source *from, double pixel, int slow_pixels) {
    const double f = from->geometry.beam_centre[0], s = from->geometry.beam_centre[1];
    const int own_numbers = from->reference && from->style;
    put_pair(text, from, "BEAM_CENTER_X", own_numbers ? from->style->beam_centre[0] : s,
             "BEAM_CENTER_Y", own_numbers ? from->style->beam_centre[1] : f);
    put_pair(text, from, "ADXV_CENTER_X", f, "ADXV_CENTER_Y", pixel * slow_pixels - s);
    put_pair(text, from, "MOSFLM_CENTER_X", s - pixel / 2, "MOSFLM_CENTER_Y", f - pixel / 2);
    put_pair(text, from, "DENZO_X_BEAM", s, "DENZO_Y_BEAM", f);
}

static void put_placement(smv_text *text, const source *from) {
    const db_experiment *e = from->experiment;
    const db_smv_geometry *g = &from->geometry;
    const db_panel *panel = &e->detector.panels[0];
    const double pixel = panel->pixel_size[0];
    put_number(text, from, "PIXEL_SIZE", pixel);
    put_number(text, from, "DISTANCE", g->beam_hits ? g->distance : g->close_distance);
    put_number(text, from, "WAVELENGTH", e->beam.wavelength);
    /* A plane the direct beam never meets has no beam centre. */
    if (g->beam_hits) put_beam_centres(text, from, pixel, panel->slow_pixels);
    put(text, "DIALS_ORIGIN=%.*g,%.*g,%.*g%s\n", from->digits, tidy(from, g->dials_origin[0]),
        from->digits, tidy(from, g->dials_origin[1]), from->digits, tidy(from, g->dials_origin[2]),
        from->reference ? "" : ";");
    put_pair(text, from, "XDS_ORGX", g->near_point[0] / pixel + 0.5, "XDS_ORGY",
             g->near_point[1] / pixel + 0.5);
    put_number(text, from, "CLOSE_DISTANCE", g->close_distance);
}

/* Keys that the reference does not have: to set up the same experiment, and to read pixels. */
static void put_own_keys(smv_text *text, const source *from) {
    const db_detector *d = &from->experiment->detector;
    if (from->geometry.beam_hits) put(text, "BEAM_CENTER_CONVENTION=denzo;\n");
    if (from->style && from->style->convention)
        put(text, "CONVENTION=%.16s;\nPIVOT=%s;\nDETECTOR_ROTATION=%.*g,%.*g,%.*g;\n",
            from->style->convention, d->pivot == DB_PIVOT_BEAM ? "beam" : "sample", from->digits,
            d->rotation[0], from->digits, d->rotation[1], from->digits, d->rotation[2]);
    put(text, "OSC_STEPS=%d;\n", from->experiment->goniometer.phi_steps);
    if (d->sensor_thickness > 0) {
        put_number(text, from, "SENSOR_THICKNESS", 1e-3 * d->sensor_thickness);
        put_number(text, from, "SENSOR_ATTENUATION_DEPTH", 1e-3 * d->attenuation_depth);
        if (d->sensor_material)
            put(text, "SENSOR_MATERIAL=%s;\n", db_sensor_material_name(d->sensor_material));
    }
    put(text, "DATE=Thu Jan 01 00:00:00 1970;\nTIME=1;\n");
    put(text, "IMAGE_PEDESTAL=%.*g;\nADC_OFFSET=%.*g;\nGAIN=%.*g;\nCCD_IMAGE_SATURATION=%s;\n",
        from->digits, from->pixels->adc, from->digits, from->pixels->adc, from->digits,
        from->pixels->scale, from->pixels->bits == 16 ? "65535" : "2147483647");
}

static void put_keys(smv_text *text, const source *from) {
    const db_panel *panel = &from->experiment->detector.panels[0];
    const db_goniometer *goniometer = &from->experiment->goniometer;
    put(text, "DIM=2;\nBYTE_ORDER=%s;\nTYPE=%s;\nSIZE1=%d;\nSIZE2=%d;\n",
        db_machine_is_big_endian() ? "big_endian" : "little_endian",
        from->pixels->bits == 16 ? "unsigned_short" : "signed_long", panel->fast_pixels,
        panel->slow_pixels);
    put_placement(text, from);
    put_pair(text, from, "PHI", goniometer->phi, "OSC_START", goniometer->phi);
    put_number(text, from, "OSC_RANGE", goniometer->phi_step * goniometer->phi_steps);
    put_number(text, from, "TWOTHETA", from->experiment->detector.twotheta);
    put(text, "DETECTOR_SN=000;\nBEAMLINE=%s;\n", from->reference ? "fake" : "dualbragg");
    if (!from->reference) put_own_keys(text, from);
}

/* Writes the keys of an experiment. path is for messages. */
static db_status build_header(db_context *context, const char *path,
                              const db_experiment *experiment, const smv_pixels *pixels,
                              const db_smv_style *style, smv_text *text) {
    source from = { .experiment = experiment,
                    .style = style,
                    .pixels = pixels,
                    .reference = experiment->reference.on,
                    .digits = experiment->reference.on ? 6 : 12 };
    DB_TRY(db_smv_geometry_get(context, experiment, &from.geometry));
    size_t size = 0;
    const db_c_locale locale = db_c_locale_enter();
    do { /* the text states the number of blocks, which depends on its length */
        size += BLOCK;
        text->length = 0;
        put(text, "{\nHEADER_BYTES=%*zu;\n", from.reference ? 0 : 5, size);
        put_keys(text, &from);
        put(text, from.reference ? "}\f" : "}\n\f");
    } while (text->length > size && size < sizeof text->bytes);
    db_c_locale_leave(locale);
    if (text->length >= sizeof text->bytes)
        return db_fail(context, DB_ERROR_INPUT, "%s: the header values do not fit into %d bytes",
                       path, HEADER_SIZE);
    memset(text->bytes + text->length, ' ', size - text->length);
    text->length = size;
    return DB_OK;
}

static double automatic_scale(const float *pixels, size_t count) {
    float largest = 0;
    for (size_t i = 0; i < count; i++)
        if (pixels[i] > largest && isfinite(pixels[i])) largest = pixels[i];
    return largest > 0 ? 55000 / (double)largest : 1;
}

/* Pixels that are NAN hold no data: 0, below any pedestal. */
static uint16_t pixel_counts(float intensity, double scale, double adc, int truncate) {
    double counts = intensity * scale + adc;
    if (!(counts > 0)) return 0;
    if (counts > 65535) counts = 65535;
    return (uint16_t)floorf((float)(truncate ? counts : counts + 0.5));
}

static db_status check_panel(db_context *context, const char *path, const db_experiment *experiment,
                             const void *pixels) {
    DB_TRY(db_need_list(context, "pixels of an image", pixels, 1));
    if (experiment->detector.panel_count != 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: an SMV image holds one panel, the detector has %zu", path,
                       experiment->detector.panel_count);
    const db_panel *panel = &experiment->detector.panels[0];
    if (panel->pixel_size[0] != panel->pixel_size[1])
        return db_fail(
            context, DB_ERROR_UNSUPPORTED,
            "%s: an SMV image needs square pixels; pixels of the detector are %g x %g mm", path,
            panel->pixel_size[0], panel->pixel_size[1]);
    if (panel->fast_pixels < 1 || panel->slow_pixels < 1)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected at least 1 x 1 pixels, found %d x %d",
                       path, panel->fast_pixels, panel->slow_pixels);
    return DB_OK;
}

db_status db_write_smv(db_context *context, const char *path, const db_experiment *experiment,
                       const float *pixels, double scale, double adc, const db_smv_style *style) {
    DB_TRY(check_panel(context, path, experiment, pixels));
    if (!isfinite(scale) || !isfinite(adc))
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected a finite scale and offset, found %g and %g", path, scale, adc);
    const db_panel *panel = &experiment->detector.panels[0];
    const size_t count = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    if (scale <= 0) scale = automatic_scale(pixels, count);
    smv_text header;
    const smv_pixels meaning = { scale, adc, 16 };
    DB_TRY(build_header(context, path, experiment, &meaning, style, &header));
    uint16_t *counts = malloc(count * sizeof *counts);
    if (!counts) return db_fail_memory(context, "the SMV image");
    for (size_t i = 0; i < count; i++)
        counts[i] = pixel_counts(pixels[i], scale, adc, style && style->truncate);
    const db_file_part parts[] = { { header.bytes, header.length },
                                   { counts, count * sizeof *counts } };
    const db_status status = db_write_atomically(context, path, parts, 2);
    free(counts);
    return status;
}

db_status db_write_smv_numbers(db_context *context, const char *path,
                               const db_experiment *experiment, const int32_t *numbers, int bits,
                               double gain, double adc, const db_smv_style *style) {
    DB_TRY(check_panel(context, path, experiment, numbers));
    if (bits != 16 && bits != 32)
        return db_fail(context, DB_ERROR_USAGE, "%s: expected pixels of 16 or 32 bits, found %d",
                       path, bits);
    const db_panel *panel = &experiment->detector.panels[0];
    const size_t count = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    const smv_pixels meaning = { gain, adc, bits };
    smv_text header;
    DB_TRY(build_header(context, path, experiment, &meaning, style, &header));
    db_file_part parts[] = { { header.bytes, header.length },
                             { numbers, count * sizeof *numbers } };
    if (bits == 32) return db_write_atomically(context, path, parts, 2);
    uint16_t *counts = malloc(count * sizeof *counts);
    if (!counts) return db_fail_memory(context, "the SMV image");
    for (size_t i = 0; i < count; i++)
        counts[i] = (uint16_t)(numbers[i] < 0 ? 0 : numbers[i] > 65535 ? 65535 : numbers[i]);
    parts[1] = (db_file_part){ counts, count * sizeof *counts };
    const db_status status = db_write_atomically(context, path, parts, 2);
    free(counts);
    return status;
}
