/* SMV images (ADSC, Rigaku d*TREK, simulators of the nanoBragg family, and our own).
 *
 * The direct beam, in order of preference: DENZO_X_BEAM/DENZO_Y_BEAM (X along slow, Y along fast,
 * mm from the outer corner of the first pixel), MOSFLM_CENTER_X/Y (the same minus half a pixel),
 * XDS_ORGX/XDS_ORGY (pixels, the middle of the first one is 1; it is the point closest to the
 * sample, so only without TWOTHETA), and BEAM_CENTER_X/Y in the sense of ADSC headers (as DENZO).
 * BEAM_CENTER_X/Y of other writers may mean anything; check it.
 *
 * The pedestal: IMAGE_PEDESTAL, else ADC_OFFSET, else 40 for BEAMLINE=fake (what the simulators of
 * that family add without saying so), else 0. Where there is a pedestal, a stored 0 is a pixel
 * without data; where there is none, -1 and -2 may be marks (db_decide_marks). */
#include "base/context_internal.h"
#include "base/text_reader.h"
#include "io/images/counts.h"
#include "io/images/placement.h"
#include "io/images/smv.h"

#include <dualbragg/expert/sensor_materials.h>
#include <dualbragg/expert/image_arrays.h>
#include <math.h>
#include <string.h>

enum {
    SIMULATOR_PEDESTAL = 40,
    FIRST_DIVIDED = 32768 /* with RAXIS_COMPRESSION_RATIO: the highest bit says so */
};

int db_is_smv(const db_file_content *content) {
    static const char key[] = "HEADER_BYTES";
    if (content->size < 1 || content->bytes[0] != '{') return 0;
    const char *p = content->bytes + 1; /* the content ends with a zero */
    p += strspn(p, " \t\r\n");
    return strncmp(p, key, sizeof key - 1) == 0;
}

static int is_near(double a, double b, double tolerance) { return fabs(a - b) < tolerance; }

/* Corrects a DENZO centre whose numbers are swapped, and names one that BEAM_CENTER contradicts. Writers of electron
 * diffraction give BEAM_CENTER in pixels, X along fast, and some give DENZO in mm in the same order, which is not
 * DENZO's. ADSC detectors give the same pair twice. Simulators (with MOSFLM_CENTER) are taken at their word. */
static db_status resolve_swapped(const db_smv_header *header, const double denzo[2],
                                 db_image_geometry *g) {
    double stated[2], mosflm[2];
    int found, simulated;
    const double pixel = g->pixel_size;
    DB_TRY(db_smv_header_pair(header, "BEAM_CENTER_X", "BEAM_CENTER_Y", stated, &found));
    DB_TRY(db_smv_header_pair(header, "MOSFLM_CENTER_X", "MOSFLM_CENTER_Y", mosflm, &simulated));
    if (!found || simulated || !(pixel > 0)) return DB_OK;
    if (is_near(stated[0], denzo[0], pixel) && is_near(stated[1], denzo[1], pixel)) return DB_OK;
    const int in_pixels = is_near(stated[0] * pixel, denzo[0], pixel) &&
                          is_near(stated[1] * pixel, denzo[1], pixel),
              in_mm = is_near(stated[0], denzo[1], pixel) && is_near(stated[1], denzo[0], pixel);
    if (!in_pixels && !in_mm)
        db_notice(
            header->context,
            "%s: DENZO_X_BEAM and DENZO_Y_BEAM, %g and %g, are the beam centre; BEAM_CENTER_X "
            "and BEAM_CENTER_Y, %g and %g, differ from them",
            header->path, denzo[0], denzo[1], stated[0], stated[1]);
    if ((!in_pixels && !in_mm) || is_near(denzo[0], denzo[1], pixel)) return DB_OK;
    g->beam_centre[0] = in_pixels ? stated[0] * pixel : stated[1];
    g->beam_centre[1] = in_pixels ? stated[1] * pixel : stated[0];
    db_notice(header->context,
              "%s: DENZO_X_BEAM and DENZO_Y_BEAM are BEAM_CENTER_X and BEAM_CENTER_Y swapped: "
              "BEAM_CENTER_X and BEAM_CENTER_Y are used",
              header->path);
    return DB_OK;
}

static int is_no_centre(const db_smv_header *header, const char *key, const double pair[2]) {
    if (fabs(pair[0]) > 0 || fabs(pair[1]) > 0) return 0;
    db_notice(header->context, "%s: %s and its Y are 0, which means that they are not known",
              header->path, key);
    return 1;
}

/* BEAM_CENTER of detectors is in mm; some writers of electron diffraction mean pixels, X along fast. */
static void doubt_pixels(const db_smv_header *header, const double pair[2],
                         const db_image_geometry *g) {
    const double size[2] = { g->fast_pixels, g->slow_pixels };
    const int in_mm = pair[1] <= size[0] * g->pixel_size && pair[0] <= size[1] * g->pixel_size;
    if (!(g->pixel_size > 0) || in_mm || pair[0] > size[0] || pair[1] > size[1]) return;
    db_notice(
        header->context,
        "%s: BEAM_CENTER_X and BEAM_CENTER_Y, %g and %g, are taken as mm, which is outside of the "
        "panel; as pixels they would be inside",
        header->path, pair[0], pair[1]);
}

static db_status beam_centre(const db_smv_header *header, db_image_geometry *g) {
    static const struct {
        const char *x;
        const char *y;
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
        if (!found || isnan(shift) || is_no_centre(header, keys[i].x, pair)) continue;
        g->beam_centre[0] = pair[1] + shift;
        g->beam_centre[1] = pair[0] + shift;
        if (i == 2) doubt_pixels(header, pair, g);
        return i == 0 ? resolve_swapped(header, pair, g) : DB_OK;
    }
    return DB_OK;
}

static db_status near_point(const db_smv_header *header, db_image_geometry *g) {
    double pair[2];
    int found;
    DB_TRY(db_smv_header_pair(header, "XDS_ORGX", "XDS_ORGY", pair, &found));
    if (found && is_no_centre(header, "XDS_ORGX", pair)) return DB_OK;
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

/* "fake": a simulator of the reference's family; "dualbragg": this program. */
static int is_from(const db_smv_header *header, const char *beamline) {
    char text[40];
    db_smv_header_text(header, "BEAMLINE", text, sizeof text);
    return strcmp(text, beamline) == 0;
}

/* Two-theta of headers of others than this program, whose headers describe the last place of all. Simulators
 * leave two-theta out of distance and direct beam; detectors state them at two-theta 0, as MOSFLM takes them. The
 * point closest to the sample stays where it is. */
static void resolve_twotheta(const db_smv_header *header, db_image_geometry *g) {
    const int has_near = !isnan(g->near_point[0]), has_close = !isnan(g->close_distance);
    const double *const centre = has_near ? g->near_point : g->beam_centre;
    if (*g->convention || is_from(header, "dualbragg") || !(fabs(g->twotheta) > 0)) return;
    if (is_from(header, "fake")) {
        if (has_near && has_close) g->distance = g->beam_centre[0] = g->beam_centre[1] = NAN;
        return;
    }
    db_measured_image arm = { .distance = has_close ? g->close_distance : g->distance,
                              .pixel_size = { 1, 1 }, /* the centre is in mm */
                              .beam_centre = { centre[0], centre[1] } };
    db_image_swing(header->context, header->path, g->twotheta, 0, &arm);
    g->twotheta = arm.twotheta;
    g->distance = arm.distance;
    memcpy(g->beam_centre, arm.beam_centre, sizeof g->beam_centre);
    g->close_distance = g->near_point[0] = g->near_point[1] = NAN;
}

db_status db_smv_geometry_read(const db_smv_header *header, db_image_geometry *g) {
    long long fast_pixels = 0, slow_pixels = 0;
    *g = db_image_geometry_unknown;
    DB_TRY(db_smv_shape(header, &fast_pixels, &slow_pixels));
    g->fast_pixels = (int)fast_pixels;
    g->slow_pixels = (int)slow_pixels;
    DB_TRY(read_numbers(header, g));
    DB_TRY(read_sensor(header, g));
    DB_TRY(near_point(header, g));
    DB_TRY(beam_centre(header, g));
    db_smv_header_text(header, "CONVENTION", g->convention, sizeof g->convention);
    db_smv_header_text(header, "PIVOT", g->pivot, sizeof g->pivot);
    resolve_twotheta(header, g);
    return DB_OK;
}

/* Distance and beam centre (pixels). Without two-theta the near point is the direct beam; from there simulators
 * swing the panel the other way. */
static db_status read_placement(const db_smv_header *header, const db_image_geometry *geometry,
                                db_measured_image *image) {
    double *centre = image->beam_centre, pair[2];
    const int has_beam = !isnan(geometry->beam_centre[0]);
    int found;
    image->distance = geometry->distance;
    image->twotheta = geometry->twotheta;
    for (int i = 0; i < 2; i++)
        centre[i] =
            (has_beam ? geometry->beam_centre[i] : geometry->near_point[i]) / image->pixel_size[i];
    if (has_beam || !(fabs(image->twotheta) > 0)) return DB_OK;
    if (isnan(image->distance) && is_from(header, "fake")) {
        image->distance = geometry->close_distance;
        db_image_swing(header->context, header->path, -geometry->twotheta, 1, image);
        return DB_OK;
    }
    centre[0] = centre[1] = NAN;
    if (isnan(geometry->near_point[0])) return DB_OK;
    DB_TRY(db_smv_header_pair(header, "BEAM_CENTER_X", "BEAM_CENTER_Y", pair, &found));
    if (found && is_no_centre(header, "BEAM_CENTER_X", pair)) return DB_OK;
    for (int i = 0; i < 2 && found; i++) centre[i] = pair[1 - i] / image->pixel_size[i];
    return DB_OK;
}

static db_status read_pedestal(const db_smv_header *header, double *pedestal) {
    if (is_from(header, "fake")) *pedestal = SIMULATOR_PEDESTAL;
    DB_TRY(db_smv_header_number(header, "ADC_OFFSET", pedestal));
    return db_smv_header_number(header, "IMAGE_PEDESTAL", pedestal);
}

static db_status read_saturation(const db_smv_header *header, db_smv_type type,
                                 double *saturation) {
    double stated = INFINITY, ratio = 1;
    DB_TRY(db_smv_header_positive(header, "SATURATED_VALUE", &stated)); /* d*TREK */
    DB_TRY(db_smv_header_positive(header, "CCD_IMAGE_SATURATION", &stated));
    *saturation = fmin(stated, db_smv_type_largest(type));
    DB_TRY(db_smv_header_positive(header, "RAXIS_COMPRESSION_RATIO", &ratio));
    if (type != DB_SMV_UINT16 || !(ratio > 1)) return DB_OK;
    *saturation = fmin(*saturation, FIRST_DIVIDED);
    db_notice(header->context,
              "%s: RAXIS_COMPRESSION_RATIO is %g: pixels from %d on may be stored as parts, and "
              "count as overloads",
              header->path, ratio, (int)FIRST_DIVIDED);
    return DB_OK;
}

static db_status read_metadata(const db_smv_header *header, db_measured_image *image) {
    db_image_geometry geometry;
    DB_TRY(db_smv_geometry_read(header, &geometry));
    image->pixel_size[0] = image->pixel_size[1] = geometry.pixel_size;
    image->wavelength = geometry.wavelength;
    image->phi = geometry.phi;
    image->osc_range = geometry.osc_range;
    image->sensor_thickness = geometry.sensor_thickness;
    image->attenuation_depth = geometry.attenuation_depth;
    image->sensor_material = geometry.sensor_material;
    DB_TRY(db_smv_header_number(header, "TIME", &image->exposure));
    DB_TRY(db_smv_header_positive(header, "GAIN", &image->stated_gain));
    if (image->stated_gain > 0) image->gain = image->stated_gain;
    DB_TRY(read_placement(header, &geometry, image));
    DB_TRY(read_pedestal(header, &image->pedestal));
    db_smv_header_text(header, "DETECTOR_SN", image->detector, sizeof image->detector);
    return DB_OK;
}

static void decode_pixels(const db_smv_layout *layout, double saturation,
                          db_measured_image *image) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    for (size_t i = 0; i < count; i++) {
        const double stored = db_smv_pixel(layout, i);
        if (!isfinite(stored)) {
            image->value[i] = 0;
            image->mask[i] = DB_MASK_BAD;
            continue;
        }
        image->value[i] = (float)(stored - image->pedestal);
        if (stored >= saturation)
            image->mask[i] = DB_MASK_OVERLOAD;
        else if (stored == 0 && image->pedestal > 0)
            image->mask[i] = DB_MASK_GAP;
    }
    image->overload = saturation - image->pedestal;
}

db_status db_smv_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image) {
    db_smv_header header;
    db_smv_layout layout;
    double saturation = INFINITY;
    DB_TRY(db_smv_header_open(context, path, content, &header));
    DB_TRY(db_smv_layout_read(&header, content, &layout));
    DB_TRY(read_metadata(&header, image));
    DB_TRY(read_saturation(&header, layout.type, &saturation));
    DB_TRY(db_image_allocate(context, path, layout.fast_pixels, layout.slow_pixels, image));
    decode_pixels(&layout, saturation, image);
    const int is_unsigned = layout.type == DB_SMV_UINT16 || layout.type == DB_SMV_UINT32;
    if (image->pedestal > 0 && is_unsigned) image->underload = 1 - image->pedestal;
    /* of an image with a pedestal, or with our own noise, negative numbers are counts */
    if (image->pedestal == 0 && !is_from(&header, "dualbragg")) db_decide_marks(image);
    return DB_OK;
}

/* Reads a mask: an image whose zeros mark pixels to leave out. */
static db_status decode_mask(db_context *context, const char *path, const db_file_content *content,
                             int fast_pixels, int slow_pixels, uint8_t *mask) {
    db_smv_header header;
    db_smv_layout layout;
    if (!db_is_smv(content))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a mask as an SMV image, found "
                       "something else",
                       path);
    DB_TRY(db_smv_header_open(context, path, content, &header));
    DB_TRY(db_smv_layout_read(&header, content, &layout));
    if (layout.fast_pixels != fast_pixels || layout.slow_pixels != slow_pixels)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a mask of the detector's %d x %d pixels, found %lld x %lld",
                       path, fast_pixels, slow_pixels, layout.fast_pixels, layout.slow_pixels);
    const size_t count = (size_t)fast_pixels * (size_t)slow_pixels;
    for (size_t i = 0; i < count; i++) mask[i] = db_smv_pixel(&layout, i) != 0;
    return DB_OK;
}

db_status db_read_mask(db_context *context, const char *path, int fast_pixels, int slow_pixels,
                       uint8_t *mask) {
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = decode_mask(context, path, &content, fast_pixels, slow_pixels, mask);
    db_file_content_clear(&content);
    return status;
}
