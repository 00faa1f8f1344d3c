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
 * without data. */
#include "base/context_internal.h"
#include "io/image_formats.h"
#include "io/image_geometry.h"
#include "io/smv_layout.h"

#include <math.h>
#include <string.h>

enum { SIMULATOR_PEDESTAL = 40 };

int db_is_smv(const db_file_content *content) {
    static const char key[] = "HEADER_BYTES";
    if (content->size < 1 || content->bytes[0] != '{') return 0;
    const char *p = content->bytes + 1; /* the content ends with a zero */
    p += strspn(p, " \t\r\n");
    return strncmp(p, key, sizeof key - 1) == 0;
}

/* In pixels. Without two-theta the near point is the direct beam. */
static db_status read_beam_centre(const db_smv_header *header, const db_image_geometry *geometry,
                                  db_measured_image *image) {
    double *centre = image->beam_centre, pair[2];
    const int near_is_beam = !(fabs(image->twotheta) > 0);
    int found;
    for (int i = 0; i < 2; i++)
        centre[i] = (isnan(geometry->beam_centre[i]) && near_is_beam ? geometry->near_point[i]
                                                                     : geometry->beam_centre[i]) /
                    image->pixel_size[i];
    if (!isnan(centre[0])) return DB_OK;
    DB_TRY(db_smv_header_pair(header, "BEAM_CENTER_X", "BEAM_CENTER_Y", pair, &found));
    for (int i = 0; i < 2 && found; i++) centre[i] = pair[1 - i] / image->pixel_size[i];
    return DB_OK;
}

static db_status read_pedestal(const db_smv_header *header, double *pedestal) {
    char beamline[40];
    db_smv_header_text(header, "BEAMLINE", beamline, sizeof beamline);
    if (strcmp(beamline, "fake") == 0) *pedestal = SIMULATOR_PEDESTAL;
    DB_TRY(db_smv_header_number(header, "ADC_OFFSET", pedestal));
    return db_smv_header_number(header, "IMAGE_PEDESTAL", pedestal);
}

static db_status read_saturation(const db_smv_header *header, db_smv_type type,
                                 double *saturation) {
    double stated = INFINITY;
    DB_TRY(db_smv_header_positive(header, "SATURATED_VALUE", &stated)); /* d*TREK */
    DB_TRY(db_smv_header_positive(header, "CCD_IMAGE_SATURATION", &stated));
    *saturation = fmin(stated, db_smv_type_largest(type));
    return DB_OK;
}

static db_status read_metadata(const db_smv_header *header, db_measured_image *image) {
    db_image_geometry geometry;
    DB_TRY(db_smv_geometry_read(header, &geometry));
    image->pixel_size[0] = image->pixel_size[1] = geometry.pixel_size;
    image->wavelength = geometry.wavelength;
    image->phi = geometry.phi;
    image->osc_range = geometry.osc_range;
    image->twotheta = geometry.twotheta;
    image->sensor_thickness = geometry.sensor_thickness;
    image->attenuation_depth = geometry.attenuation_depth;
    image->sensor_material = geometry.sensor_material;
    DB_TRY(db_smv_header_positive(header, "DISTANCE", &image->distance));
    DB_TRY(db_smv_header_number(header, "TIME", &image->exposure));
    DB_TRY(db_smv_header_positive(header, "GAIN", &image->gain));
    DB_TRY(read_beam_centre(header, &geometry, image));
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
    return DB_OK;
}
