/* miniCBF images: one byte-offset compressed array and a header of "# Key value" lines, as Pilatus
 * and Eiger detectors write them.
 *
 * Beam_xy counts pixels from the outer corner of the first pixel. Polarization is the fraction p of
 * horizontally polarized light if it lies between 0.5 and 1; the Kahn factor is 2 p - 1. Pixels of
 * -1 lie between the modules, other negative ones are defective, those at and above Count_cutoff
 * are overloads. In unsigned arrays the largest number marks pixels without data. */
#include "base/context_internal.h"
#include "io/images/cbf.h"
#include "base/text_reader.h"

#include <dualbragg/sensor.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char header_item[] = "_array_data.header_contents";

/* "###CBF" starts every CBF file; text before the binary part is enough to tell a miniCBF. */
int db_is_cbf(const db_file_content *content) {
    return content->size >= 6 && memcmp(content->bytes, "###CBF", 6) == 0;
}

/* The text of the file ends where the binary section starts, at the latest at the first zero byte.
 */
static const char *find_mini_header(const db_file_content *content) {
    return strstr(content->bytes, header_item);
}

typedef struct mini_header {
    db_context *context;
    const char *path;
    const char *text; /* behind header_item; ends with the file */
} mini_header;

/* "# Silicon sensor, thickness 0.000450 m" */
static db_status read_sensor(const mini_header *header, db_measured_image *image) {
    for (const char *line = header->text; *line;) {
        const size_t length = strcspn(line, "\r\n");
        char text[128];
        if (strncmp(line, "--CIF-BINARY", 12) == 0) break;
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1),
                 line);
        char *const word = strstr(text, "sensor");
        const char *cursor = word ? strstr(word, "thickness") : NULL;
        if (*text == '#' && cursor) {
            double metres = NAN;
            cursor += strlen("thickness");
            if (!db_word_number(db_next_word(&cursor, DB_WHITE_SPACE ":=,"), &metres) ||
                !(metres >= 0 && metres < 0.1))
                return db_fail(header->context, DB_ERROR_INPUT,
                               "%s: expected a thickness of the sensor from 0 to 0.1 m, found "
                               "'%.60s'",
                               header->path, text);
            *word = '\0';
            if (metres == 0) break; /* not known to the writer */
            image->sensor_thickness = 1e6 * metres;
            image->sensor_material = db_sensor_material_find(text);
            break;
        }
        line += length;
        line += strspn(line, "\r\n");
    }
    return DB_OK;
}

/* What follows "# Key" on its line, without ':' and '='; 0 if there is no such line before the
 * pixels. */
static int find_entry(const mini_header *header, const char *key, char *value, size_t size) {
    const size_t key_length = strlen(key);
    value[0] = '\0';
    for (const char *line = header->text; *line;) {
        const size_t line_length = strcspn(line, "\r\n");
        if (strncmp(line, "--CIF-BINARY", 12) == 0) return 0;
        if (*line == '#') {
            const char *name = line + 1 + strspn(line + 1, " \t");
            if (strncmp(name, key, key_length) == 0 && strchr(" \t:=", name[key_length])) {
                const char *start = name + key_length;
                start += strspn(start, " \t:=");
                const char *end = line + line_length;
                snprintf(value, size, "%.*s", start < end ? (int)(end - start) : 0, start);
                return value[0] != '\0';
            }
        }
        line += line_length;
        line += strspn(line, "\r\n");
    }
    return 0;
}

/* Up to `count` numbers of an entry, whatever else stands between them; *value stays where the
 * entry is missing. */
static db_status read_numbers(const mini_header *header, const char *key, double *value,
                              int count) {
    char text[128];
    if (!find_entry(header, key, text, sizeof text)) return DB_OK;
    const char *cursor = text;
    int found = 0;
    double numbers[2];
    for (;;) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE "(),");
        if (word.length == 0 || found == count) break;
        found += db_word_number(word, &numbers[found]);
    }
    if (found < count)
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected %d number%s as %s, found '%.60s'", header->path, count,
                       count == 1 ? "" : "s", key, text);
    memcpy(value, numbers, (size_t)count * sizeof *value);
    return DB_OK;
}

/* Lengths: the header says metre, the image millimetre. */
static db_status read_lengths(const mini_header *header, const char *key, double *value,
                              int count) {
    double metres[2] = { NAN, NAN };
    DB_TRY(read_numbers(header, key, metres, count));
    for (int i = 0; i < count; i++) {
        if (metres[i] <= 0)
            return db_fail(header->context, DB_ERROR_INPUT,
                           "%s: expected a length > 0 as %s, found %g", header->path, key,
                           metres[i]);
        value[i] = 1000 * metres[i];
    }
    return DB_OK;
}

static db_status read_polarization(const mini_header *header, double *kahn_factor) {
    double fraction = NAN;
    DB_TRY(read_numbers(header, "Polarization", &fraction, 1));
    if (fraction >= 0.5 && fraction <= 1) *kahn_factor = 2 * fraction - 1;
    return DB_OK;
}

/* The panels of a PILATUS 12M stand on a cylinder about the sample. Its headers have one distance and
 * one centre all the same, which are those of no panel. */
static void leave_out_flat_geometry(db_measured_image *image) {
    if (!strstr(image->detector, "PILATUS 12M")) return;
    image->distance = image->beam_centre[0] = image->beam_centre[1] = NAN;
}

static db_status read_metadata(const mini_header *header, db_measured_image *image) {
    double wavelength = NAN;
    DB_TRY(read_numbers(header, "Wavelength", &wavelength, 1));
    if (wavelength <= 0)
        return db_fail(header->context, DB_ERROR_INPUT, "%s: expected a Wavelength > 0, found %g",
                       header->path, wavelength);
    image->wavelength = wavelength;
    DB_TRY(read_lengths(header, "Pixel_size", image->pixel_size, 2));
    DB_TRY(read_lengths(header, "Detector_distance", &image->distance, 1));
    DB_TRY(read_numbers(header, "Beam_xy", image->beam_centre, 2));
    DB_TRY(read_numbers(header, "Start_angle", &image->phi, 1));
    DB_TRY(read_numbers(header, "Angle_increment", &image->osc_range, 1));
    DB_TRY(read_numbers(header, "Detector_2theta", &image->twotheta, 1));
    DB_TRY(read_numbers(header, "Exposure_time", &image->exposure, 1));
    DB_TRY(read_numbers(header, "Count_cutoff", &image->overload, 1));
    if (image->overload <= 0) image->overload = INFINITY; /* not known to the writer */
    DB_TRY(read_polarization(header, &image->polarization));
    DB_TRY(read_sensor(header, image));
    find_entry(header, "Detector", image->detector, sizeof image->detector);
    leave_out_flat_geometry(image);
    return DB_OK;
}

static db_status element_error(db_context *context, const char *path, size_t i,
                               long long fast_pixels, const char *found) {
    return db_fail(context, DB_ERROR_INPUT, "%s: damaged pixels: at pixel %lld %lld found %s", path,
                   (long long)i % fast_pixels, (long long)i / fast_pixels, found);
}

static db_status decode_pixels(db_context *context, const char *path, const db_cbf_binary *binary,
                               db_measured_image *image) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    const int value_bits = binary->bits - binary->is_signed;
    const int64_t highest =
        value_bits >= 63 ? INT64_MAX : (int64_t)(((uint64_t)1 << value_bits) - 1);
    const int64_t lowest = binary->is_signed ? -highest - 1 : 0;
    db_byte_offset stream = { .next = (const unsigned char *)binary->bytes,
                              .end = (const unsigned char *)binary->bytes + binary->size };
    for (size_t i = 0; i < count; i++) {
        if (!db_byte_offset_next(&stream))
            return element_error(context, path, i, binary->fast_pixels, "the end of the data");
        if (stream.value < lowest || stream.value > highest)
            return element_error(context, path, i, binary->fast_pixels,
                                 "a value beyond the range of the element type");
        const double counts = (double)stream.value;
        image->value[i] = (float)counts;
        if (stream.value == -1)
            image->mask[i] = DB_MASK_GAP;
        else if (stream.value < 0 || (!binary->is_signed && stream.value == highest))
            image->mask[i] = DB_MASK_BAD;
        else if (counts >= image->overload)
            image->mask[i] = DB_MASK_OVERLOAD;
    }
    if (stream.next != stream.end)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: damaged pixels: %lld bytes are left after the last one", path,
                       (long long)(stream.end - stream.next));
    return DB_OK;
}

db_status db_cbf_mini_header_read(db_context *context, const char *path, const char *text,
                                  db_measured_image *image) {
    const mini_header header = { context, path, text };
    return read_metadata(&header, image);
}

db_status db_cbf_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image) {
    const char *start = find_mini_header(content);
    if (!start) return db_cbf_full_decode(context, path, content, image);
    snprintf(image->format, sizeof image->format, "miniCBF");
    db_cbf_binary binary;
    DB_TRY(db_cbf_binary_next(context, path, content, content->bytes, &binary));
    if (!binary.bytes)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a binary section with the pixels, found none (truncated?)",
                       path);
    if (binary.compression != DB_CBF_BYTE_OFFSET || binary.sections != 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected one section of pixels compressed as x-CBF_BYTE_OFFSET in a "
                       "miniCBF, found %lld%s",
                       path, binary.sections,
                       binary.compression == DB_CBF_PACKED ? " of x-CBF_PACKED" : "");
    DB_TRY(db_cbf_mini_header_read(context, path, start + sizeof header_item - 1, image));
    DB_TRY(db_image_allocate(context, path, binary.fast_pixels, binary.slow_pixels, image));
    return decode_pixels(context, path, &binary, image);
}
