/* Lines "# Key value unit" of miniCBF headers, as Pilatus and Eiger detectors write them. Beam_xy counts from the
 * outer corner of the first pixel. Polarization is the fraction p of horizontally polarized light if it is between
 * 0.5 and 1; the Kahn factor is 2 p - 1. Units follow each number, or the last one; 0 means "not known" if a value
 * cannot be 0. */
#include "io/images/cbf.h"

#include "base/context_internal.h"
#include "base/nearest_name.h"
#include "base/text_reader.h"
#include "io/images/placement.h"
#include "io/units.h"

#include <dualbragg/expert/sensor_materials.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct mini_header {
    db_context *context;
    const char *path;
    const char *text; /* up to the pixels, or a zero */
} mini_header;

typedef enum quantity { PLAIN, LENGTH, WAVELENGTH, ANGLE, TIME, COUNTS, PIXELS } quantity;

/* usual: the unit of a value without one; of lengths the likely one (db_unit_guess). */
static const struct {
    const char *name, *usual;
} quantities[] = {
    [PLAIN] = { "a number", "" },
    [LENGTH] = { "a length", "m" },
    [WAVELENGTH] = { "a wavelength or an energy", "A" },
    [ANGLE] = { "an angle", "deg" },
    [TIME] = { "a time", "s" },
    [COUNTS] = { "counts", "counts" },
    [PIXELS] = { "pixels or a length", "pixels" },
};

/* never_zero: 0 is not known. */
typedef struct entry {
    const char *key;
    quantity is;
    int count, never_zero;
    const db_length_range *usual;
} entry;

enum {
    PIXEL_SIZE,
    DISTANCE,
    WAVE,
    ENERGY,
    CENTRE,
    START,
    INCREMENT,
    TWOTHETA,
    EXPOSURE,
    CUTOFF,
    POLARIZATION,
    OFFSET,
    ENTRIES
};

static const entry entries[] = {
    [PIXEL_SIZE] = { "Pixel_size", LENGTH, 2, 1, &db_usual_pixels },
    [DISTANCE] = { "Detector_distance", LENGTH, 1, 1, &db_usual_distances },
    [WAVE] = { "Wavelength", WAVELENGTH, 1, 1, NULL },
    [ENERGY] = { "Photon_energy", WAVELENGTH, 1, 1, NULL },
    [CENTRE] = { "Beam_xy", PIXELS, 2, 1, NULL },
    [START] = { "Start_angle", ANGLE, 1, 0, NULL },
    [INCREMENT] = { "Angle_increment", ANGLE, 1, 0, NULL },
    [TWOTHETA] = { "Detector_2theta", ANGLE, 1, 0, NULL },
    [EXPOSURE] = { "Exposure_time", TIME, 1, 0, NULL },
    [CUTOFF] = { "Count_cutoff", COUNTS, 1, 1, NULL },
    [POLARIZATION] = { "Polarization", PLAIN, 1, 0, NULL },
    [OFFSET] = { "Detector_Voffset", LENGTH, 1, 0, &db_usual_distances },
};

static int is_one_of(db_word word, const char *const *names) {
    for (; *names; names++)
        if (strlen(*names) == word.length && strncasecmp(word.start, *names, word.length) == 0)
            return 1;
    return 0;
}

/* The key of a line "# Key ..."; length 0: it has none. *rest: the text after key, ':' and '='. */
static db_word key_of(const char *line, const char **rest) {
    if (*line != '#') return (db_word){ line, 0 };
    const char *const name = line + 1 + strspn(line + 1, " \t");
    const db_word key = { name, strcspn(name, " \t:=\r\n") };
    *rest = name + key.length + strspn(name + key.length, " \t:=");
    return key;
}

static const char *next_line(const char *line) {
    line += strcspn(line, "\r\n");
    return line + strspn(line, "\r\n");
}

static int is_end(const char *line) { return !*line || strncmp(line, "--CIF-BINARY", 12) == 0; }

/* Copies the text after a key on its line; 0 if no such line comes before the pixels, or no text follows. */
static int find_entry(const mini_header *header, const char *key, char *value, size_t size) {
    value[0] = '\0';
    for (const char *line = header->text; !is_end(line); line = next_line(line)) {
        const char *rest = line;
        const db_word found = key_of(line, &rest);
        if (found.length != strlen(key) || strncmp(found.start, key, found.length) != 0) continue;
        const int length = (int)strcspn(rest, "\r\n");
        snprintf(value, size, "%.*s", length, rest);
        return value[0] != '\0';
    }
    return 0;
}

/* Splits a word such as 172um into a number and its unit. */
static int split_number(db_word word, double *number, db_word *unit) {
    for (size_t length = word.length; length > 0; length--)
        if (db_word_number((db_word){ word.start, length }, number)) {
            *unit = (db_word){ word.start + length, word.length - length };
            return 1;
        }
    return 0;
}

/* Reads up to `count` numbers and the unit of each: the word after it, else the next number's. Returns how many
 * were found. */
static int split_header(const char *text, int count, double *number, db_word *unit) {
    static const char *const separators[] = { "x", NULL };
    const char *cursor = text;
    int found = 0;
    for (;;) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE "(),");
        db_word own = { word.start, 0 };
        if (word.length == 0) break;
        if (is_one_of(word, separators)) continue;
        if (found < count && split_number(word, &number[found], &own))
            unit[found++] = own;
        else if (found > 0 && unit[found - 1].length == 0)
            unit[found - 1] = word;
    }
    for (int i = found - 1; i > 0; i--)
        if (unit[i - 1].length == 0) unit[i - 1] = unit[i];
    return found;
}

/* The number in the image's own unit; NAN: the unit is none of the quantity. */
static double convert(quantity is, double number, db_word unit, double pixel_size) {
    static const char *const counts[] = {
        "counts", "count", "cts", "photons", "photon", "adu", NULL
    };
    static const char *const pixels[] = { "pixels", "pixel", "px", "pix", NULL };
    double factor = NAN;
    if (unit.length == 0) unit = (db_word){ quantities[is].usual, strlen(quantities[is].usual) };
    switch (is) {
    case PLAIN: factor = unit.length == 0 ? 1 : NAN; break;
    case LENGTH: factor = db_unit_in(DB_UNIT_LENGTH, unit.start, unit.length); break;
    case WAVELENGTH: return db_wavelength_in(number, unit.start, unit.length);
    case ANGLE: factor = db_unit_in(DB_UNIT_ANGLE, unit.start, unit.length); break;
    case TIME: factor = db_unit_in(DB_UNIT_TIME, unit.start, unit.length); break;
    case COUNTS: factor = is_one_of(unit, counts) ? 1 : NAN; break;
    case PIXELS:
        if (is_one_of(unit, pixels)) return number;
        factor = db_unit_in(DB_UNIT_LENGTH, unit.start, unit.length) / pixel_size;
        break;
    }
    return factor > 0 ? factor * number : NAN;
}

static db_status fail_unit(const mini_header *header, const entry *e, const char *text) {
    return db_fail(header->context, DB_ERROR_INPUT,
                   "%s: expected %s with a known unit as %s, found '%.60s'", header->path,
                   quantities[e->is].name, e->key, text);
}

/* Gives a length without a unit the likely one. */
static void name_unit(double number, db_length_range usual, db_word *unit) {
    if (unit->length) return;
    unit->start = db_unit_guess(number, usual);
    unit->length = strlen(unit->start);
}

static int are_zero(const double *number, int count) {
    int zero = 1;
    for (int i = 0; i < count; i++) zero = zero && fabs(number[i]) <= 0;
    return zero;
}

/* Reads an entry in the image's own units (mm, A, degree, s, counts, pixels); *value stays if the entry is missing
 * or unknown. */
static db_status read_entry(const mini_header *header, const entry *e, const double *pixel_size,
                            double *value) {
    char text[128];
    double number[2] = { NAN, NAN };
    db_word unit[2] = { { "", 0 }, { "", 0 } };
    if (!find_entry(header, e->key, text, sizeof text)) return DB_OK;
    if (strncmp(text, "(nil)", 5) == 0) {
        db_notice(header->context, "%s: %s is (nil), which means that it is not known",
                  header->path, e->key);
        return DB_OK;
    }
    if (split_header(text, e->count, number, unit) < e->count)
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected %d number%s as %s, found '%.60s'", header->path, e->count,
                       e->count == 1 ? "" : "s", e->key, text);
    if (e->never_zero && are_zero(number, e->count)) {
        if (e->is != COUNTS) /* usual: there is none */
            db_notice(header->context, "%s: %s is 0, which means that it is not known",
                      header->path, e->key);
        return DB_OK;
    }
    const int bare = e->is == LENGTH && unit[0].length == 0;
    for (int i = 0; i < e->count; i++) {
        if (e->is == LENGTH) name_unit(number[i], *e->usual, &unit[i]);
        if (e->never_zero && e->is != PIXELS && !(number[i] > 0))
            return db_fail(header->context, DB_ERROR_INPUT, "%s: expected %s > 0 as %s, found %g",
                           header->path, quantities[e->is].name, e->key, number[i]);
        number[i] = convert(e->is, number[i], unit[i], pixel_size ? pixel_size[i] : NAN);
        if (isnan(number[i])) return fail_unit(header, e, text);
    }
    if (bare)
        db_notice(header->context, "%s: %s is '%.60s' without a unit, taken as %s", header->path,
                  e->key, text, unit[0].start);
    memcpy(value, number, (size_t)e->count * sizeof *value);
    return DB_OK;
}

/* Copies a line; 1 if it gives a sensor's thickness. */
static int is_sensor(const char *line, char text[128]) {
    const size_t length = strcspn(line, "\r\n");
    snprintf(text, 128, "%.*s", (int)(length < 127 ? length : 127), line);
    const char *const word = strstr(text, "sensor");
    return *line == '#' && word && strstr(word, "thickness");
}

/* "# Silicon sensor, thickness 0.000450 m" */
static db_status read_sensor(const mini_header *header, db_measured_image *image) {
    char text[128];
    double number = NAN;
    db_word unit = { "", 0 };
    const char *line = header->text;
    while (!is_end(line) && !is_sensor(line, text)) line = next_line(line);
    if (is_end(line)) return DB_OK;
    char *const word = strstr(text, "sensor");
    const char *const thickness = strstr(word, "thickness") + strlen("thickness");
    const int is_number =
        split_header(thickness + strspn(thickness, " \t:=,"), 1, &number, &unit) == 1;
    const int bare = unit.length == 0;
    if (is_number) name_unit(number, db_usual_sensors, &unit);
    const double mm = is_number ? convert(LENGTH, number, unit, NAN) : NAN;
    if (isnan(mm))
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected a thickness of the sensor with a known unit, found '%.60s'",
                       header->path, text);
    if (!(mm >= 0 && mm < DB_THICKEST_SENSOR)) {
        db_notice(header->context, "%s: a sensor of %g mm makes no sense and is not used",
                  header->path, mm);
        return DB_OK;
    }
    *word = '\0';
    if (!(mm > 0)) return DB_OK; /* not known to the writer */
    if (bare)
        db_notice(header->context, "%s: the sensor's thickness is %g without a unit, taken as %s",
                  header->path, number, unit.start);
    image->sensor_thickness = 1e3 * mm;
    image->sensor_material = db_sensor_material_find(text);
    return DB_OK;
}

static db_status read_wavelength(const mini_header *header, double *wavelength) {
    double of_energy = NAN;
    DB_TRY(read_entry(header, &entries[WAVE], NULL, wavelength));
    char text[128];
    if (!find_entry(header, entries[ENERGY].key, text, sizeof text)) return DB_OK;
    double number;
    db_word unit;
    if (split_header(text, 1, &number, &unit) != 1 || !(number > 0)) return DB_OK;
    of_energy = unit.length ? db_wavelength_in(number, unit.start, unit.length)
                            : db_wavelength_in(number, "eV", 2);
    if (isnan(of_energy)) return fail_unit(header, &entries[ENERGY], text);
    if (isnan(*wavelength)) *wavelength = of_energy;
    if (fabs(of_energy - *wavelength) > 1e-3 * *wavelength)
        db_notice(header->context,
                  "%s: Photon_energy means %.6g A, Wavelength is %.6g A: the wavelength is used",
                  header->path, of_energy, *wavelength);
    return DB_OK;
}

/* The goniometer's circles. The header does not contain the directions of their axes. */
static const char *const circles[] = { "Omega", "Phi", "Chi", "Kappa", "Alpha" };
enum { OMEGA, PHI, TILTS, CIRCLES = sizeof circles / sizeof *circles };

static int names(const char *text, const char *name) {
    while (*text && strncasecmp(text, name, strlen(name)) != 0) text++;
    return *text != '\0';
}

/* The circle that turns: the one in Oscillation_axis, else the one with an increment, else omega. *sense: -1 if it
 * turns the other way. *known: 0 if the direction of the axis is unknown. */
static int turning_circle(const char *axis, const double increment[CIRCLES], int *sense,
                          int *known) {
    int turning = OMEGA;
    *sense = names(axis, "CCW") || *axis == '-' ? -1 : 1;
    *known = 1;
    for (int c = 0; c < CIRCLES; c++)
        if (names(axis, circles[c])) return c;
    for (int c = 0; c < CIRCLES && !*axis; c++)
        if (fabs(increment[c]) > 0) turning = c;
    const char *const name = axis + strspn(axis, "+-");
    *known = !*axis || strncasecmp(name, "X", 1) == 0 || strncasecmp(name, "FAST", 4) == 0;
    return turning;
}

/* A notice of the other circles that are not at 0. */
static void name_circles(const mini_header *header, const double angle[CIRCLES], int turning) {
    char standing[120] = "";
    for (int c = 0; c < CIRCLES; c++) {
        const size_t length = strlen(standing);
        if (c != turning && fabs(angle[c]) > 1e-4)
            snprintf(standing + length, sizeof standing - length, "%s%s %g", length ? ", " : "",
                     circles[c], angle[c]);
    }
    if (*standing)
        db_notice(header->context,
                  "%s: the circles %s degree are not used, because the header does not contain "
                  "directions of their axes; orientations hold for images with these angles only",
                  header->path, standing);
}

/* The angle of a circle; NAN for texts such as (nil). */
static double read_circle(const mini_header *header, const char *key) {
    char text[128];
    double number = NAN;
    db_word unit;
    if (!find_entry(header, key, text, sizeof text) || split_header(text, 1, &number, &unit) < 1)
        return NAN;
    return convert(ANGLE, number, unit, NAN);
}

static void read_circles(const mini_header *header, double angle[CIRCLES],
                         double increment[CIRCLES]) {
    for (int c = 0; c < CIRCLES; c++) {
        char name[32];
        snprintf(name, sizeof name, "%s_increment", circles[c]);
        angle[c] = read_circle(header, circles[c]);
        increment[c] = read_circle(header, name);
    }
}

static void compare_angle(const mini_header *header, const char *key, double stated,
                          const char *circle, double own) {
    if (fabs(stated - own) > 1e-3)
        db_notice(header->context, "%s: %s is %g degree, %s %g: the first is used", header->path,
                  key, stated, circle, own);
}

/* Reads the scan; it stays unknown if the spindle is not along the fast axis. */
static db_status read_rotation(const mini_header *header, db_measured_image *image) {
    char axis[40];
    double angle[CIRCLES], increment[CIRCLES];
    int sense, known;
    DB_TRY(read_entry(header, &entries[START], NULL, &image->phi));
    DB_TRY(read_entry(header, &entries[INCREMENT], NULL, &image->osc_range));
    read_circles(header, angle, increment);
    find_entry(header, "Oscillation_axis", axis, sizeof axis);
    const int turning = turning_circle(axis, increment, &sense, &known);
    compare_angle(header, entries[START].key, image->phi, circles[turning], angle[turning]);
    if (isnan(image->phi)) image->phi = angle[turning];
    if (isnan(image->osc_range)) image->osc_range = increment[turning];
    image->phi *= sense;
    image->osc_range *= sense;
    name_circles(header, angle, turning);
    int tilted = turning >= TILTS || !known;
    for (int c = TILTS; c < CIRCLES && turning != OMEGA; c++) tilted |= fabs(angle[c]) > 1e-4;
    if (!tilted) return DB_OK;
    db_notice(header->context,
              "%s: Oscillation_axis is %.40s, whose direction the header does not contain: the "
              "scan is not used",
              header->path, axis);
    image->phi = image->osc_range = NAN;
    return DB_OK;
}

static db_status read_polarization(const mini_header *header, double *kahn_factor) {
    double fraction = NAN;
    DB_TRY(read_entry(header, &entries[POLARIZATION], NULL, &fraction));
    if (fraction >= 0.5 && fraction <= 1)
        *kahn_factor = 2 * fraction - 1;
    else if (!isnan(fraction))
        db_notice(header->context,
                  "%s: Polarization is %g, which is no fraction from 0.5 to 1: not used",
                  header->path, fraction);
    return DB_OK;
}

/* Removes distance and centre of a PILATUS 12M: its panels form a cylinder about the sample, and the header's
 * values fit none of them. */
static void leave_out_flat_geometry(db_measured_image *image) {
    if (!strstr(image->detector, "PILATUS 12M")) return;
    image->distance = image->beam_centre[0] = image->beam_centre[1] = NAN;
}

/* A beam centre in mm is one in pixels where their size is known. */
static db_status read_placement(const mini_header *header, db_measured_image *image) {
    double offset = NAN, twotheta = NAN;
    DB_TRY(read_entry(header, &entries[PIXEL_SIZE], NULL, image->pixel_size));
    DB_TRY(read_entry(header, &entries[DISTANCE], NULL, &image->distance));
    DB_TRY(read_entry(header, &entries[CENTRE], image->pixel_size, image->beam_centre));
    DB_TRY(read_entry(header, &entries[TWOTHETA], NULL, &twotheta));
    db_image_swing(header->context, header->path, twotheta, 0, image);
    DB_TRY(read_entry(header, &entries[OFFSET], NULL, &offset));
    if (fabs(offset) > 0)
        db_notice(header->context, "%s: Detector_Voffset, %g mm, is not used", header->path,
                  offset);
    return DB_OK;
}

/* Notices of unknown keys that resemble a known one. */
static void name_misspelt(const mini_header *header) {
    static const char *const others[] = { "Exposure_period",
                                          "Omega_increment",
                                          "Phi_increment",
                                          "Chi_increment",
                                          "Kappa_increment",
                                          "Alpha_increment",
                                          NULL };
    const char *names[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) names[i] = entries[i].key;
    for (const char *line = header->text; !is_end(line); line = next_line(line)) {
        const char *rest = line;
        char name[40];
        const db_word key = key_of(line, &rest);
        if (key.length < 5 || key.length >= sizeof name || is_one_of(key, others)) continue;
        snprintf(name, sizeof name, "%.*s", (int)key.length, key.start);
        const char *const near = db_nearest_name(name, names, ENTRIES);
        if (near && strcmp(near, name) != 0)
            db_notice(header->context, "%s: %s is not known, and not used; %s would be",
                      header->path, name, near);
    }
}

const char *db_cbf_mini_header_find(const char *text) {
    static const char item[] = "_array_data.header_contents";
    const char *const contents = strstr(text, item);
    if (contents) return contents + sizeof item - 1;
    for (const char *line = text; !is_end(line); line = next_line(line)) {
        const char *rest = line;
        const db_word key = key_of(line, &rest);
        for (int i = 0; i < ENTRIES && key.length; i++)
            if (strlen(entries[i].key) == key.length &&
                strncmp(entries[i].key, key.start, key.length) == 0)
                return line;
    }
    return NULL;
}

db_status db_cbf_mini_header_read(db_context *context, const char *path, const char *text,
                                  int placed, db_measured_image *image) {
    const mini_header header = { context, path, text };
    DB_TRY(read_wavelength(&header, &image->wavelength));
    DB_TRY(read_entry(&header, &entries[EXPOSURE], NULL, &image->exposure));
    DB_TRY(read_entry(&header, &entries[CUTOFF], NULL, &image->overload));
    DB_TRY(read_polarization(&header, &image->polarization));
    DB_TRY(read_sensor(&header, image));
    find_entry(&header, "Detector", image->detector, sizeof image->detector);
    name_misspelt(&header);
    if (placed) return DB_OK;
    DB_TRY(read_placement(&header, image));
    DB_TRY(read_rotation(&header, image));
    leave_out_flat_geometry(image);
    return DB_OK;
}
