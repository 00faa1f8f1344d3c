/* Images of MarCCD and Rayonix detectors: TIFF images without compression, in which 3072 bytes of
 * a header of their own follow the first 1024. Places and units of its words: the C declaration
 * that the maker published. Angles are in 1e-3 degree, lengths in um but for pixels (nm), the beam
 * centre in 1e-3 pixels from the outer corner of the first one, the wavelength in 1e-5 angstrom. */
#include "base/context_internal.h"
#include "base/rotation.h"
#include "io/images/counts.h"
#include "io/images/placement.h"
#include "io/images/tiff.h"

#include <math.h>
#include <string.h>

enum {
    PIXELS = 4096, /* place of the first one */
    /* places of words */
    HEADER_SIZE = 1060,
    NFAST = 1104,
    NSLOW = 1108,
    DEPTH = 1112,
    SATURATED_VALUE = 1128,
    DISTANCE = 1664,
    BEAM = 1668, /* x, y */
    EXPOSURE = 1680,
    START_ANGLES = 1692, /* two-theta, omega, chi, kappa, phi, delta, gamma */
    START_DISTANCE = 1720,
    END_ANGLES = 1724,
    ROTATION_AXIS = 1756, /* which of them */
    ROTATION_RANGE = 1760,
    DETECTOR_ROTATION = 1764, /* about x, y, z */
    PIXEL_SIZE = 1796,        /* x, y */
    MEAN_BIAS = 1804,         /* 1e-3 */
    PHOTONS_PER_100 = 1808,
    WAVELENGTH = 1932
};

/* The tags read from the TIFF directory. */
typedef struct tags {
    int big_endian;
    uint32_t width, height, bits, compression, format;
} tags;

static uint32_t half_word(const char *bytes, size_t at, int big_endian) {
    const unsigned char *const b = (const unsigned char *)bytes + at;
    return big_endian ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
}

/* The first directory; 0: none of a classic TIFF file. */
static int read_tags(const db_file_content *c, tags *t) {
    const int big = c->size > 8 && memcmp(c->bytes, "MM\0*", 4) == 0;
    *t = (tags){ .big_endian = big, .compression = 1, .format = 1 };
    if (c->size < PIXELS || (!big && memcmp(c->bytes, "II*\0", 4) != 0)) return 0;
    const size_t at = db_word_at(c->bytes, 4, big);
    if (at > PIXELS - 2) return 0;
    const size_t count = half_word(c->bytes, at, big);
    for (size_t i = 0; i < count && at + 2 + 12 * (i + 1) <= PIXELS; i++) {
        const size_t entry = at + 2 + 12 * i;
        const int is_long = half_word(c->bytes, entry + 2, big) == 4;
        const uint32_t value =
            is_long ? db_word_at(c->bytes, entry + 8, big) : half_word(c->bytes, entry + 8, big);
        switch (half_word(c->bytes, entry, big)) {
        case 256: t->width = value; break;
        case 257: t->height = value; break;
        case 258: t->bits = value; break;
        case 259: t->compression = value; break;
        case 339: t->format = value; break;
        default: break;
        }
    }
    return 1;
}

/* Both headers agree on the shape. */
int db_is_mar_ccd(const db_file_content *start) {
    tags t;
    return read_tags(start, &t) && t.width > 0 && t.height > 0 &&
           db_word_at(start->bytes, HEADER_SIZE, t.big_endian) == PIXELS - 1024 &&
           db_word_at(start->bytes, NFAST, t.big_endian) == t.width &&
           db_word_at(start->bytes, NSLOW, t.big_endian) == t.height &&
           8 * (uint64_t)db_word_at(start->bytes, DEPTH, t.big_endian) == t.bits;
}

typedef struct header {
    db_context *context;
    const char *path;
    const char *bytes;
    int big_endian;
} header;

static double header_number(const header *h, size_t at, double unit) {
    return unit * (double)(int32_t)db_word_at(h->bytes, at, h->big_endian);
}

/* *value stays if the header has 0. */
static db_status positive(const header *h, const char *name, size_t at, double unit,
                          double *value) {
    const double stated = header_number(h, at, unit);
    if (stated < 0)
        return db_fail(h->context, DB_ERROR_INPUT,
                       "%s: header of MarCCD, byte %zu: expected a %s > 0, found %g", h->path, at,
                       name, stated);
    if (stated > 0) *value = stated;
    return DB_OK;
}

/* 1 if the detector has a rotation of its own, which only an experiment list can hold. */
static int is_turned(const header *h) {
    for (size_t i = 0; i < 3; i++)
        if (header_number(h, DETECTOR_ROTATION + 4 * i, 1) != 0) return 1;
    return 0;
}

static db_status read_placement(const header *h, db_measured_image *image) {
    double distance = NAN, centre[2];
    DB_TRY(positive(h, "distance", START_DISTANCE, 1e-3, &distance));
    DB_TRY(positive(h, "distance", DISTANCE, 1e-3, &distance));
    for (size_t i = 0; i < 2; i++) centre[i] = header_number(h, BEAM + 4 * i, 1e-3);
    if (is_turned(h)) return DB_OK;
    image->distance = distance;
    if (centre[0] != 0 || centre[1] != 0) /* else not known to the writer */
        memcpy(image->beam_centre, centre, sizeof centre);
    db_image_swing(h->context, h->path, header_number(h, START_ANGLES, 1e-3), 1, image);
    return DB_OK;
}

static void read_rotation(const header *h, db_measured_image *image) {
    enum { PHI = 4, ANGLES = 7 };
    uint32_t axis = db_word_at(h->bytes, ROTATION_AXIS, h->big_endian);
    if (axis >= ANGLES) axis = PHI;
    image->phi = header_number(h, START_ANGLES + 4 * axis, 1e-3);
    image->osc_range = header_number(h, ROTATION_RANGE, 1e-3);
    if (image->osc_range == 0)
        image->osc_range =
            db_turn_of_ends(header_number(h, END_ANGLES + 4 * axis, 1e-3) - image->phi);
}

static db_status read_header(const header *h, db_measured_image *image) {
    double photons = NAN;
    DB_TRY(positive(h, "wavelength", WAVELENGTH, 1e-5, &image->wavelength));
    DB_TRY(positive(h, "pixel size", PIXEL_SIZE, 1e-6, &image->pixel_size[0]));
    DB_TRY(positive(h, "pixel size", PIXEL_SIZE + 4, 1e-6, &image->pixel_size[1]));
    DB_TRY(positive(h, "exposure", EXPOSURE, 1e-3, &image->exposure));
    DB_TRY(positive(h, "number of photons per 100 counts", PHOTONS_PER_100, 1, &photons));
    if (photons > 0) image->gain = image->stated_gain = 100 / photons;
    DB_TRY(positive(h, "bias", MEAN_BIAS, 1e-3, &image->pedestal));
    DB_TRY(read_placement(h, image));
    read_rotation(h, image);
    return DB_OK;
}

/* Reads the stored numbers; outside the sensitive area they are 0, below the pedestal. */
static void take_pixels(const char *bytes, size_t width, const tags *t, const db_counts *counts,
                        db_measured_image *image) {
    enum { RUN = 1024 };
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    const db_pixel_kind kind = t->format == 2 ? DB_PIXELS_SIGNED : DB_PIXELS_UNSIGNED;
    const int swapped = t->big_endian != db_machine_is_big_endian();
    union {
        unsigned char byte[4 * RUN];
        uint32_t aligned[RUN];
    } run;
    for (size_t from = 0; from < count; from += RUN) {
        const size_t n = count - from < RUN ? count - from : RUN;
        memcpy(run.byte, bytes + from * width, n * width);
        for (size_t i = 0; swapped && i < n; i++)
            for (size_t a = i * width, b = a + width - 1; a < b; a++, b--) {
                const unsigned char byte = run.byte[a];
                run.byte[a] = run.byte[b];
                run.byte[b] = byte;
            }
        db_counts_take(counts, kind, width, run.byte, n, image->value + from, image->mask + from);
    }
    if (image->pedestal == 0) return;
    for (size_t i = 0; i < count; i++) {
        if (image->value[i] == 0 && !image->mask[i]) image->mask[i] = DB_MASK_GAP;
        image->value[i] = (float)((double)image->value[i] - image->pedestal);
    }
}

db_status db_mar_ccd_decode(db_context *context, const char *path, const db_file_content *content,
                            db_measured_image *image) {
    tags t;
    read_tags(content, &t);
    const header h = { context, path, content->bytes, t.big_endian };
    const size_t width = t.bits / 8, room = content->size - PIXELS;
    if (t.compression != 1 || (width != 2 && width != 4) || t.format > 2)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected integers of 16 or 32 bits without compression in a MarCCD "
                       "image, found %u bits, compression %u, sample format %u",
                       path, (unsigned)t.bits, (unsigned)t.compression, (unsigned)t.format);
    if ((uint64_t)t.width * t.height > room / width)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected %u x %u pixels of %zu bytes behind byte %d, found %zu bytes "
                       "(cut?)",
                       path, (unsigned)t.width, (unsigned)t.height, width, (int)PIXELS, room);
    DB_TRY(read_header(&h, image));
    DB_TRY(db_image_allocate(context, path, t.width, t.height, image));
    const uint32_t stated = db_word_at(content->bytes, SATURATED_VALUE, t.big_endian);
    const int64_t largest =
                      t.format == 2 ? (INT64_C(1) << (t.bits - 1)) - 1 : (INT64_C(1) << t.bits) - 1,
                  saturation = stated > 0 && stated < largest ? stated : largest;
    const db_counts counts = { .lowest = INT64_MIN,
                               .highest = saturation - 1,
                               .gap = (uint64_t)largest,
                               .gap_is = DB_MASK_OVERLOAD };
    take_pixels(content->bytes + PIXELS, width, &t, &counts, image);
    image->overload = (double)saturation - image->pedestal;
    if (image->pedestal > 0 && t.format != 2) image->underload = 1 - image->pedestal;
    return DB_OK;
}
