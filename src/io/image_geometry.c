#include "io/image_geometry.h"

#include "base/context_internal.h"
#include "io/image_formats.h"
#include "io/smv_layout.h"
#include "base/text_reader.h"

#include <dualbragg/sensor.h>
#include <math.h>
#include <string.h>

static const db_image_geometry nothing = { .pixel_size = NAN,
                                           .wavelength = NAN,
                                           .distance = NAN,
                                           .close_distance = NAN,
                                           .beam_centre = { NAN, NAN },
                                           .near_point = { NAN, NAN },
                                           .phi = NAN,
                                           .osc_range = NAN,
                                           .twotheta = NAN,
                                           .rotation = { NAN, NAN, NAN },
                                           .sensor_thickness = NAN,
                                           .attenuation_depth = NAN };

static db_status beam_centre(const db_smv_header *header, db_image_geometry *g) {
    static const struct {
        const char *x, *y;
        double shift; /* pixels to be added */
    } keys[] = { { "DENZO_X_BEAM", "DENZO_Y_BEAM", 0 },
                 { "MOSFLM_CENTER_X", "MOSFLM_CENTER_Y", 0.5 },
                 { "BEAM_CENTER_X", "BEAM_CENTER_Y", 0 } };
    const size_t count = isnan(g->near_point[0]) ? 3 : 2;
    for (size_t i = 0; i < count; i++) {
        double pair[2];
        int found;
        DB_TRY(db_smv_header_pair(header, keys[i].x, keys[i].y, pair, &found));
        const double shift = keys[i].shift == 0 ? 0 : keys[i].shift * g->pixel_size;
        if (!found || isnan(shift)) continue;
        g->beam_centre[0] = pair[1] + shift;
        g->beam_centre[1] = pair[0] + shift;
        break;
    }
    return DB_OK;
}

static db_status near_point(const db_smv_header *header, db_image_geometry *g) {
    double pair[2];
    int found;
    DB_TRY(db_smv_header_pair(header, "XDS_ORGX", "XDS_ORGY", pair, &found));
    for (int i = 0; i < 2 && found; i++) g->near_point[i] = (pair[i] - 0.5) * g->pixel_size;
    return DB_OK;
}

/* Three numbers of one key; untouched if there is no such key. */
static db_status read_triple(const db_smv_header *header, const char *key, double triple[3]) {
    char text[128];
    if (!db_smv_header_text(header, key, text, sizeof text)) return DB_OK;
    const char *cursor = text;
    for (int i = 0; i < 3; i++)
        if (!db_word_number(db_next_word(&cursor, DB_WHITE_SPACE ","), &triple[i]))
            return db_fail(header->context, DB_ERROR_INPUT,
                           "%s: expected three numbers as %s, found '%.40s'", header->path, key,
                           text);
    return DB_OK;
}

/* Keys of db_write_smv, lengths in mm. */
static db_status read_sensor(const db_smv_header *header, db_image_geometry *g) {
    char material[20];
    DB_TRY(db_smv_header_positive(header, "SENSOR_THICKNESS", &g->sensor_thickness));
    DB_TRY(db_smv_header_positive(header, "SENSOR_ATTENUATION_DEPTH", &g->attenuation_depth));
    g->sensor_thickness *= 1e3;
    g->attenuation_depth *= 1e3;
    db_smv_header_text(header, "SENSOR_MATERIAL", material, sizeof material);
    g->sensor_material = db_sensor_material_find(material);
    return DB_OK;
}

static db_status read_numbers(const db_smv_header *header, db_image_geometry *g) {
    double steps = 0;
    DB_TRY(db_smv_header_positive(header, "PIXEL_SIZE", &g->pixel_size));
    DB_TRY(db_smv_header_positive(header, "DISTANCE", &g->distance));
    DB_TRY(db_smv_header_positive(header, "CLOSE_DISTANCE", &g->close_distance));
    DB_TRY(db_smv_header_positive(header, "WAVELENGTH", &g->wavelength));
    DB_TRY(db_smv_header_number(header, "PHI", &g->phi));
    DB_TRY(db_smv_header_number(header, "OSC_START", &g->phi));
    DB_TRY(db_smv_header_number(header, "OSC_RANGE", &g->osc_range));
    DB_TRY(db_smv_header_number(header, "TWOTHETA", &g->twotheta));
    DB_TRY(read_triple(header, "DETECTOR_ROTATION", g->rotation));
    DB_TRY(db_smv_header_number(header, "OSC_STEPS", &steps));
    if (!(steps >= 0 && steps <= 1e6 && steps == rint(steps)))
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected a whole number of phi steps as OSC_STEPS, found %g",
                       header->path, steps);
    g->osc_steps = (int)steps;
    return DB_OK;
}

db_status db_smv_geometry_read(const db_smv_header *header, db_image_geometry *g) {
    long long fast_pixels = 0, slow_pixels = 0;
    *g = nothing;
    DB_TRY(db_smv_shape(header, &fast_pixels, &slow_pixels));
    g->fast_pixels = (int)fast_pixels;
    g->slow_pixels = (int)slow_pixels;
    DB_TRY(read_numbers(header, g));
    DB_TRY(read_sensor(header, g));
    DB_TRY(near_point(header, g));
    DB_TRY(beam_centre(header, g));
    db_smv_header_text(header, "CONVENTION", g->convention, sizeof g->convention);
    db_smv_header_text(header, "PIVOT", g->pivot, sizeof g->pivot);
    return DB_OK;
}

/* Simulators of the reference's family leave two-theta out of distance and direct beam. */
static void distrust_simulator(const db_smv_header *header, db_image_geometry *g) {
    char beamline[20];
    db_smv_header_text(header, "BEAMLINE", beamline, sizeof beamline);
    if (strcmp(beamline, "fake") == 0 && fabs(g->twotheta) > 0 && !isnan(g->near_point[0]) &&
        !isnan(g->close_distance))
        g->distance = g->beam_centre[0] = g->beam_centre[1] = NAN;
}

static db_status from_measured_image(db_context *context, const char *path, db_image_geometry *g) {
    db_measured_image image;
    DB_TRY(db_read_image(context, path, &image));
    *g = nothing;
    g->fast_pixels = image.fast_pixels;
    g->slow_pixels = image.slow_pixels;
    g->pixel_size = image.pixel_size[0];
    g->wavelength = image.wavelength;
    g->distance = image.distance;
    for (int i = 0; i < 2; i++) g->beam_centre[i] = image.beam_centre[i] * image.pixel_size[i];
    g->phi = image.phi;
    g->osc_range = image.osc_range;
    g->twotheta = image.twotheta;
    g->sensor_thickness = image.sensor_thickness;
    g->attenuation_depth = image.attenuation_depth;
    g->sensor_material = image.sensor_material;
    const double ratio = image.pixel_size[1] / image.pixel_size[0];
    db_measured_image_clear(&image);
    if (ratio != 1 && !isnan(ratio))
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected square pixels, found a ratio of %g", path, ratio);
    return DB_OK;
}

/* Opens an SMV file's header; *is_smv 0: it is something else, and nothing is open. */
static db_status open_smv(db_context *context, const char *path, db_file_content *content,
                          db_smv_header *header, int *is_smv) {
    DB_TRY(db_file_content_read(context, path, content));
    *is_smv = db_is_smv(content);
    const db_status status = *is_smv ? db_smv_header_open(context, path, content, header) : DB_OK;
    if (status != DB_OK || !*is_smv) db_file_content_clear(content);
    return status;
}

db_status db_image_geometry_read(db_context *context, const char *path,
                                 db_image_geometry *geometry) {
    db_file_content content;
    db_smv_header header;
    int is_smv;
    DB_TRY(open_smv(context, path, &content, &header, &is_smv));
    if (!is_smv) return from_measured_image(context, path, geometry);
    const db_status status = db_smv_geometry_read(&header, geometry);
    if (status == DB_OK) distrust_simulator(&header, geometry);
    db_file_content_clear(&content);
    return status;
}

static db_status read_reference_header(const db_smv_header *header, db_reference_header *n) {
    *n = (db_reference_header){ { NAN, NAN }, NAN,          NAN, NAN, NAN,
                                { NAN, NAN }, { NAN, NAN }, NAN, NAN };
    const struct {
        const char *key;
        double *numbers;
        int count;
    } rows[] = {
        { "DETECTOR_DIMENSIONS", n->size, 2 },
        { "SIZE1", &n->size[0], 1 },
        { "SIZE2", &n->size[1], 1 },
        { "PIXEL_SIZE", &n->pixel_size, 1 },
        { "DISTANCE", &n->distance, 1 },
        { "CLOSE_DISTANCE", &n->close_distance, 1 },
        { "WAVELENGTH", &n->wavelength, 1 },
        { "BEAM_CENTER_X", &n->beam_center[0], 1 },
        { "BEAM_CENTER_Y", &n->beam_center[1], 1 },
        { "ORGX", &n->org[0], 1 },
        { "ORGY", &n->org[1], 1 },
        { "PHI", &n->phi, 1 },
        { "OSC_RANGE", &n->osc_range, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        DB_TRY(db_smv_header_last_numbers(header, rows[i].key, rows[i].numbers, rows[i].count));
    return DB_OK;
}

db_status db_reference_header_read(db_context *context, const char *path,
                                   db_reference_header *numbers) {
    db_file_content content;
    db_smv_header header;
    int is_smv;
    DB_TRY(open_smv(context, path, &content, &header, &is_smv));
    if (!is_smv)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected an SMV image, found something else",
                       path);
    const db_status status = read_reference_header(&header, numbers);
    db_file_content_clear(&content);
    return status;
}
