/* SMV images: a text header in multiples of 512 bytes, then unsigned 16-bit pixels.
 *
 * The keys are those of model.md section 14, with values of the final detector placement. Where it
 * leaves a choice:
 *  - BEAM_CENTER_X/Y follow the habit of ADSC headers and MOSFLM: X along slow, Y along fast, mm
 * from the outer corner of the first pixel. With DATE, TIME and a numeric DETECTOR_SN, and without
 * BEAMLINE=fake, dxtbx then takes the file for an ADSC image and reads an untilted detector
 * exactly. Tilts do not fit into an SMV header.
 *  - DATE is the start of the Unix epoch and TIME 1 s: a simulation has neither, and files should
 * be reproducible.
 *  - IMAGE_PEDESTAL (ADSC) and ADC_OFFSET (simulators) both hold the pedestal, GAIN the counts per
 * photon. */
#include <dualbragg/io.h>

#include "core/context_internal.h"
#include "io/atomic_file.h"
#include "io/c_locale.h"
#include "io/file_content.h"
#include "io/smv_geometry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_UNIT = 512, HEADER_CAPACITY = 8 * HEADER_UNIT };

typedef struct header {
    char text[HEADER_CAPACITY];
    size_t length; /* HEADER_CAPACITY once something did not fit */
} header;

__attribute__((format(printf, 2, 3))) static void put(header *h, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof h->text - h->length;
    const int length = vsnprintf(h->text + h->length, room, format, arguments);
    va_end(arguments);
    h->length = length < 0 || (size_t)length >= room ? sizeof h->text : h->length + (size_t)length;
}

/* A length or angle. Nine digits are finer than a nanometre; rounding noise around 0 is dropped. */
static double without_noise(double value) { return fabs(value) < 1e-9 ? 0 : value; }

static void put_number(header *h, const char *key, double value) {
    put(h, "%s=%.9g;\n", key, without_noise(value));
}

static void put_pair(header *h, const char *x_key, double x, const char *y_key, double y) {
    put_number(h, x_key, x);
    put_number(h, y_key, y);
}

static void put_beam_centres(header *h, const db_smv_geometry *geometry, double pixel,
                             int slow_pixels) {
    const double f = geometry->beam_centre[0], s = geometry->beam_centre[1];
    put_pair(h, "BEAM_CENTER_X", s, "BEAM_CENTER_Y", f);
    put_pair(h, "ADXV_CENTER_X", f, "ADXV_CENTER_Y", pixel * slow_pixels - s);
    put_pair(h, "MOSFLM_CENTER_X", s - pixel / 2, "MOSFLM_CENTER_Y", f - pixel / 2);
    put_pair(h, "DENZO_X_BEAM", s, "DENZO_Y_BEAM", f);
}

static void put_keys(header *h, const db_experiment *experiment, const db_smv_geometry *geometry,
                     double scale, double adc) {
    const db_panel *panel = &experiment->detector.panels[0];
    const double pixel = panel->pixel_size[0];
    const db_goniometer *goniometer = &experiment->goniometer;
    put(h, "DIM=2;\nBYTE_ORDER=%s;\nTYPE=unsigned_short;\nSIZE1=%d;\nSIZE2=%d;\n",
        db_machine_is_big_endian() ? "big_endian" : "little_endian", panel->fast_pixels,
        panel->slow_pixels);
    put_number(h, "PIXEL_SIZE", pixel);
    put_number(h, "DISTANCE", geometry->beam_hits ? geometry->distance : geometry->close_distance);
    put_number(h, "WAVELENGTH", experiment->beam.wavelength);
    /* A plane the direct beam never meets has no beam centre. */
    if (geometry->beam_hits) put_beam_centres(h, geometry, pixel, panel->slow_pixels);
    put(h, "DIALS_ORIGIN=%.9g,%.9g,%.9g;\n", without_noise(geometry->dials_origin[0]),
        without_noise(geometry->dials_origin[1]), without_noise(geometry->dials_origin[2]));
    put_pair(h, "XDS_ORGX", geometry->near_point[0] / pixel + 0.5, "XDS_ORGY",
             geometry->near_point[1] / pixel + 0.5);
    put_number(h, "CLOSE_DISTANCE", geometry->close_distance);
    put_pair(h, "PHI", goniometer->phi, "OSC_START", goniometer->phi);
    put_number(h, "OSC_RANGE", goniometer->phi_step * goniometer->phi_steps);
    put_number(h, "TWOTHETA", experiment->detector.twotheta);
    put(h, "DETECTOR_SN=000;\nBEAMLINE=dualbragg;\nDATE=Thu Jan 01 00:00:00 1970;\nTIME=1;\n");
    put(h, "IMAGE_PEDESTAL=%.9g;\nADC_OFFSET=%.9g;\nGAIN=%.9g;\nCCD_IMAGE_SATURATION=65535;\n", adc,
        adc, scale);
}

/* Fills the header up to a multiple of HEADER_UNIT, form feed and blanks behind the brace. */
static db_status build_header(db_context *context, const char *path,
                              const db_experiment *experiment, double scale, double adc,
                              header *h) {
    db_smv_geometry geometry;
    DB_TRY(db_smv_geometry_get(context, experiment, &geometry));
    const db_c_locale locale = db_c_locale_enter();
    put(h, "{\nHEADER_BYTES=%5d;\n", 0);
    const size_t bytes_end = h->length - 2;
    put_keys(h, experiment, &geometry, scale, adc);
    put(h, "}\n\f");
    db_c_locale_leave(locale);
    if (h->length == sizeof h->text)
        return db_fail(context, DB_ERROR_INPUT, "%s: the header values do not fit into %d bytes",
                       path, HEADER_CAPACITY);
    const size_t size = (h->length + HEADER_UNIT - 1) / HEADER_UNIT * HEADER_UNIT;
    memset(h->text + h->length, ' ', size - h->length);
    h->length = size;
    char digits[6];
    snprintf(digits, sizeof digits, "%5u", (unsigned)size % 100000u);
    memcpy(h->text + bytes_end - 5, digits, 5);
    return DB_OK;
}

static double automatic_scale(const float *pixels, size_t count) {
    float largest = 0;
    for (size_t i = 0; i < count; i++)
        if (pixels[i] > largest && isfinite(pixels[i])) largest = pixels[i];
    return largest > 0 ? 55000 / (double)largest : 1;
}

/* Pixels that are NAN hold no data: 0, below any pedestal. */
static uint16_t pixel_counts(float intensity, double scale, double adc) {
    double counts = intensity * scale + adc;
    if (!(counts > 0)) return 0;
    if (counts > 65535) counts = 65535;
    return (uint16_t)floorf((float)(counts + 0.5));
}

static db_status check_panel(db_context *context, const char *path,
                             const db_experiment *experiment) {
    if (experiment->detector.panel_count != 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: an SMV image holds one panel, the detector has %zu", path,
                       experiment->detector.panel_count);
    const db_panel *panel = &experiment->detector.panels[0];
    if (panel->pixel_size[0] != panel->pixel_size[1])
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: an SMV image has square pixels, those of the detector are %g x %g mm",
                       path, panel->pixel_size[0], panel->pixel_size[1]);
    if (panel->fast_pixels < 1 || panel->slow_pixels < 1)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected at least 1 x 1 pixels, found %d x %d",
                       path, panel->fast_pixels, panel->slow_pixels);
    return DB_OK;
}

db_status db_write_smv(db_context *context, const char *path, const db_experiment *experiment,
                       const float *pixels, double scale, double adc) {
    DB_TRY(check_panel(context, path, experiment));
    if (!isfinite(scale) || !isfinite(adc))
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected a finite scale and offset, found %g and %g", path, scale, adc);
    const db_panel *panel = &experiment->detector.panels[0];
    const size_t count = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    if (scale <= 0) scale = automatic_scale(pixels, count);
    header h = { .length = 0 };
    DB_TRY(build_header(context, path, experiment, scale, adc, &h));
    uint16_t *counts = malloc(count * sizeof *counts);
    if (!counts) return db_fail_memory(context, "the SMV image");
    for (size_t i = 0; i < count; i++) counts[i] = pixel_counts(pixels[i], scale, adc);
    const db_file_part parts[] = { { h.text, h.length }, { counts, count * sizeof *counts } };
    const db_status status = db_write_atomically(context, path, parts, 2);
    free(counts);
    return status;
}
