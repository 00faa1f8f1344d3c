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
#include "core/context_internal.h"
#include "io/image_formats.h"
#include "io/smv_header.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SIMULATOR_PEDESTAL = 40 };

typedef enum pixel_type { UINT16, INT16, UINT32, INT32, FLOAT32, PIXEL_TYPES } pixel_type;
static const size_t pixel_bytes[PIXEL_TYPES] = { 2, 2, 4, 4, 4 };

int db_is_smv(const db_file_content *content) {
    static const char key[] = "HEADER_BYTES";
    if (content->size < 1 || content->bytes[0] != '{') return 0;
    const char *p = content->bytes + 1; /* the content ends with a zero */
    p += strspn(p, " \t\r\n");
    return strncmp(p, key, sizeof key - 1) == 0;
}

static db_status read_pixel_type(const db_smv_header *header, pixel_type *type) {
    static const struct {
        const char *name;
        pixel_type type;
    } names[] = {
        { "unsigned_short", UINT16 },
        { "unsigned short", UINT16 },
        { "unsigned short int", UINT16 },
        { "signed_short", INT16 },
        { "signed short", INT16 },
        { "short", INT16 },
        { "short int", INT16 },
        { "signed short int", INT16 },
        { "unsigned_long", UINT32 },
        { "unsigned long", UINT32 },
        { "unsigned int", UINT32 },
        { "unsigned long int", UINT32 },
        { "signed_long", INT32 },
        { "signed long", INT32 },
        { "int", INT32 },
        { "long", INT32 },
        { "long int", INT32 },
        { "signed long int", INT32 },
        { "float", FLOAT32 },
        { "float IEEE", FLOAT32 },
    };
    char text[40];
    if (!db_smv_header_text(header, "TYPE", text, sizeof text))
        db_smv_header_text(header, "Data_type", text, sizeof text); /* d*TREK */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0) {
            *type = names[i].type;
            return DB_OK;
        }
    return db_fail(header->context, DB_ERROR_INPUT,
                   "%s: expected unsigned_short, signed_short, unsigned_long, signed_long or float "
                   "as TYPE, found '%s'",
                   header->path, text);
}

static db_status read_byte_order(const db_smv_header *header, int *swapped) {
    char text[40];
    db_smv_header_text(header, "BYTE_ORDER", text, sizeof text);
    const int big = strcmp(text, "big_endian") == 0;
    if (!big && strcmp(text, "little_endian") != 0)
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected little_endian or big_endian as BYTE_ORDER, found '%s'",
                       header->path, text);
    *swapped = big != db_machine_is_big_endian();
    return DB_OK;
}

static db_status read_size(const db_smv_header *header, const char *key, long long *size) {
    double value = 0;
    DB_TRY(db_smv_header_number(header, key, &value));
    if (!(value >= 1 && value <= INT32_MAX && value == rint(value)))
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected a whole number from 1 to %d as %s, found %g", header->path,
                       INT32_MAX, key, value);
    *size = (long long)value;
    return DB_OK;
}

/* What this reader would misread. */
static db_status check_layout(const db_smv_header *header) {
    double dimensions = 2;
    DB_TRY(db_smv_header_number(header, "DIM", &dimensions));
    if (dimensions != 2)
        return db_fail(header->context, DB_ERROR_UNSUPPORTED, "%s: expected DIM=2, found %g",
                       header->path, dimensions);
    char text[40];
    if (db_smv_header_text(header, "COMPRESSION", text, sizeof text) && strcmp(text, "None") != 0 &&
        strcmp(text, "NONE") != 0 && strcmp(text, "none") != 0)
        return db_fail(header->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected uncompressed pixels, found COMPRESSION=%s", header->path,
                       text);
    return DB_OK;
}

static db_status read_positive(const db_smv_header *header, const char *key, double *value) {
    double number = NAN;
    DB_TRY(db_smv_header_number(header, key, &number));
    if (isnan(number)) return DB_OK;
    if (!(number > 0))
        return db_fail(header->context, DB_ERROR_INPUT, "%s: expected a number > 0 as %s, found %g",
                       header->path, key, number);
    *value = number;
    return DB_OK;
}

static db_status read_beam_centre(const db_smv_header *header, db_measured_image *image) {
    double pair[2] = { NAN, NAN };
    int found = 0;
    double *centre = image->beam_centre;
    const double pixel = image->pixel_size[0];
    static const struct {
        const char *x, *y;
        double shift; /* pixels to be added */
    } slow_fast_keys[] = { { "DENZO_X_BEAM", "DENZO_Y_BEAM", 0 },
                           { "MOSFLM_CENTER_X", "MOSFLM_CENTER_Y", 0.5 } };
    for (int i = 0; i < 2; i++) {
        DB_TRY(db_smv_header_pair(header, slow_fast_keys[i].x, slow_fast_keys[i].y, pair, &found));
        if (found) {
            centre[0] = pair[1] / pixel + slow_fast_keys[i].shift;
            centre[1] = pair[0] / pixel + slow_fast_keys[i].shift;
            return DB_OK;
        }
    }
    DB_TRY(db_smv_header_pair(header, "XDS_ORGX", "XDS_ORGY", pair, &found));
    if (found && !(fabs(image->twotheta) > 0)) {
        centre[0] = pair[0] - 0.5;
        centre[1] = pair[1] - 0.5;
        return DB_OK;
    }
    DB_TRY(db_smv_header_pair(header, "BEAM_CENTER_X", "BEAM_CENTER_Y", pair, &found));
    if (found) {
        centre[0] = pair[1] / pixel;
        centre[1] = pair[0] / pixel;
    }
    return DB_OK;
}

static db_status read_pedestal(const db_smv_header *header, double *pedestal) {
    char beamline[40];
    db_smv_header_text(header, "BEAMLINE", beamline, sizeof beamline);
    if (strcmp(beamline, "fake") == 0) *pedestal = SIMULATOR_PEDESTAL;
    DB_TRY(db_smv_header_number(header, "ADC_OFFSET", pedestal));
    return db_smv_header_number(header, "IMAGE_PEDESTAL", pedestal);
}

static db_status read_saturation(const db_smv_header *header, pixel_type type, double *saturation) {
    static const double largest[PIXEL_TYPES] = { UINT16_MAX, INT16_MAX, UINT32_MAX, INT32_MAX,
                                                 INFINITY };
    double stated = INFINITY;
    DB_TRY(read_positive(header, "SATURATED_VALUE", &stated)); /* d*TREK */
    DB_TRY(read_positive(header, "CCD_IMAGE_SATURATION", &stated));
    *saturation = fmin(stated, largest[type]);
    return DB_OK;
}

static db_status read_metadata(const db_smv_header *header, db_measured_image *image) {
    DB_TRY(read_positive(header, "PIXEL_SIZE", &image->pixel_size[0]));
    image->pixel_size[1] = image->pixel_size[0];
    DB_TRY(read_positive(header, "DISTANCE", &image->distance));
    DB_TRY(read_positive(header, "WAVELENGTH", &image->wavelength));
    DB_TRY(db_smv_header_number(header, "PHI", &image->phi));
    DB_TRY(db_smv_header_number(header, "OSC_START", &image->phi));
    DB_TRY(db_smv_header_number(header, "OSC_RANGE", &image->osc_range));
    DB_TRY(db_smv_header_number(header, "TWOTHETA", &image->twotheta));
    DB_TRY(db_smv_header_number(header, "TIME", &image->exposure));
    DB_TRY(read_positive(header, "GAIN", &image->gain));
    DB_TRY(read_beam_centre(header, image));
    DB_TRY(read_pedestal(header, &image->pedestal));
    db_smv_header_text(header, "DETECTOR_SN", image->detector, sizeof image->detector);
    return DB_OK;
}

static uint16_t load_16(const char *p, int swapped) {
    uint16_t word;
    memcpy(&word, p, sizeof word);
    return swapped ? __builtin_bswap16(word) : word;
}

static uint32_t load_32(const char *p, int swapped) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return swapped ? __builtin_bswap32(word) : word;
}

static double load_pixel(const char *p, pixel_type type, int swapped) {
    switch (type) {
    case UINT16: return load_16(p, swapped);
    case INT16: return (int16_t)load_16(p, swapped);
    case UINT32: return load_32(p, swapped);
    case INT32: return (int32_t)load_32(p, swapped);
    default: {
        const uint32_t word = load_32(p, swapped);
        float number;
        memcpy(&number, &word, sizeof number);
        return number;
    }
    }
}

static void decode_pixels(const char *bytes, pixel_type type, int swapped, double saturation,
                          db_measured_image *image) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    for (size_t i = 0; i < count; i++) {
        const double stored = load_pixel(bytes + i * pixel_bytes[type], type, swapped);
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

/* The file must hold the pixels and, behind them, at most padding. */
static db_status check_length(const db_smv_header *header, const db_file_content *content,
                              long long fast_pixels, long long slow_pixels,
                              size_t bytes_per_pixel) {
    const uint64_t expected = (uint64_t)fast_pixels * (uint64_t)slow_pixels * bytes_per_pixel;
    const uint64_t found = content->size - header->bytes;
    if (found < expected)
        return db_fail(
            header->context, DB_ERROR_INPUT,
            "%s: truncated: expected %llu bytes of pixels (%lld x %lld) after the header, "
            "found %llu",
            header->path, (unsigned long long)expected, fast_pixels, slow_pixels,
            (unsigned long long)found);
    const char *end = content->bytes + content->size;
    for (const char *p = content->bytes + header->bytes + expected; p < end; p++)
        if (*p != '\0' && *p != ' ')
            return db_fail(
                header->context, DB_ERROR_INPUT,
                "%s: expected %llu bytes of pixels (%lld x %lld) after the header, found "
                "%llu: the place of the pixels is not certain",
                header->path, (unsigned long long)expected, fast_pixels, slow_pixels,
                (unsigned long long)found);
    return DB_OK;
}

db_status db_smv_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image) {
    db_smv_header header;
    pixel_type type = UINT16;
    int swapped = 0;
    long long fast_pixels = 0, slow_pixels = 0;
    double saturation = INFINITY;
    DB_TRY(db_smv_header_open(context, path, content, &header));
    DB_TRY(check_layout(&header));
    DB_TRY(read_size(&header, "SIZE1", &fast_pixels));
    DB_TRY(read_size(&header, "SIZE2", &slow_pixels));
    DB_TRY(read_pixel_type(&header, &type));
    DB_TRY(read_byte_order(&header, &swapped));
    DB_TRY(check_length(&header, content, fast_pixels, slow_pixels, pixel_bytes[type]));
    DB_TRY(read_metadata(&header, image));
    DB_TRY(read_saturation(&header, type, &saturation));
    DB_TRY(db_image_allocate(context, path, fast_pixels, slow_pixels, image));
    decode_pixels(content->bytes + header.bytes, type, swapped, saturation, image);
    return DB_OK;
}
