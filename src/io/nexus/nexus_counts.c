/* Counts of a detector as pixels of an image. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_counts.h"

#include <math.h>
#include <string.h>

void db_nexus_take_pixels(void *user, const db_hdf5_format *format, const unsigned char *elements,
                          size_t n, size_t to) {
    const db_nexus_sink *const s = user;
    db_counts_take(&s->counts, format->kind, format->width, elements, n, s->value + to,
                   s->mask + to);
}

#define TAKE_MASK(type)                                                                            \
    do {                                                                                           \
        const type *const bits = (const void *)elements;                                           \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint8_t own = bits[i] & 1 ? DB_MASK_GAP : DB_MASK_BAD;                           \
            mask[i] = bits[i] ? own : mask[i];                                                     \
        }                                                                                          \
    } while (0)

/* Masks pixels: bit 0 of a mask means no sensor; any other bit a pixel that must not be used. */
void db_nexus_take_mask(void *user, const db_hdf5_format *format, const unsigned char *elements,
                        size_t n, size_t to) {
    const db_nexus_sink *const s = user;
    uint8_t *const mask = s->mask + to;
    switch (format->width) {
    case 1: TAKE_MASK(uint8_t); break;
    case 2: TAKE_MASK(uint16_t); break;
    case 4: TAKE_MASK(uint32_t); break;
    default: TAKE_MASK(uint64_t); break;
    }
}

/* Limits for floats. Those made from integers mark "no count" by -2^31, -2^15, 2^31-1 or 2^32-1. */
static void float_limits(const db_nexus_limits *limits, db_measured_image *image, db_counts *c) {
    static const double LOWEST_MARK = -32768, HIGHEST_COUNT = 2147483520; /* floats below 2^31 */
    const double least = limits->own ? -INFINITY : nextafter(LOWEST_MARK, 0),
                 most = limits->own ? INFINITY : HIGHEST_COUNT;
    c->least = isnan(limits->underload) ? least : limits->underload;
    c->most = isnan(limits->saturation) ? most : limits->saturation;
    image->overload =
        isfinite(limits->saturation) ? nextafter(limits->saturation, INFINITY) : INFINITY;
}

static void integer_limits(const db_nexus_limits *limits, const db_hdf5_format *format,
                           db_measured_image *image, db_counts *c) {
    const int is_signed = format->kind == DB_PIXELS_SIGNED;
    const int width = (int)(8 * format->width) - is_signed,
              bits = !is_signed && limits->bits < width ? (int)limits->bits : width;
    const double largest = ldexp(1, bits) - 1, lowest = is_signed ? -ldexp(1, width) + 1 : 0;
    const int second = !limits->own && !(limits->saturation >= largest - 1); /* is a mark, too */
    const double highest = largest - 1 - (is_signed ? 0 : second);
    c->gap = (bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX) - (uint64_t)second;
    c->lowest = (int64_t)fmax(isnan(limits->underload) ? lowest : ceil(limits->underload), -9e18);
    c->highest =
        (int64_t)fmin(floor(fmin(limits->saturation, highest)), 9e18); /* of NAN the other */
    image->overload = isfinite(limits->saturation) ? floor(limits->saturation) + 1 : INFINITY;
}

void db_nexus_sink_init(const db_nexus_limits *limits, const db_hdf5_format *format,
                        db_measured_image *image, db_nexus_sink *s) {
    *s =
        (db_nexus_sink){ .value = image->value, .mask = image->mask, .counts.gap_is = DB_MASK_BAD };
    s->settles = isnan(limits->underload) && !limits->own && format->kind != DB_PIXELS_UNSIGNED;
    if (format->kind == DB_PIXELS_FLOAT)
        float_limits(limits, image, &s->counts);
    else
        integer_limits(limits, format, image, &s->counts);
}

void db_nexus_mark_gaps(const db_hdf5_pieces *pieces, db_measured_image *image) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    if (pieces->covered >= count) return;
    memset(image->mask, DB_MASK_GAP, count);
    memset(image->value, 0, count * sizeof *image->value);
    for (size_t i = 0; i < pieces->count; i++) {
        const db_hdf5_piece *const p = &pieces->piece[i];
        for (size_t row = 0; row < p->rows; row++)
            memset(image->mask + p->to + row * p->to_row, 0, p->columns);
    }
}
#else
typedef int db_without_nexus_counts;
#endif
