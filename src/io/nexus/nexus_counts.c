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

/* Bit 0 of a mask says that there is no sensor; any other, that a pixel is not to be used. */
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

void db_nexus_sink_init(const db_nexus_limits *limits, const db_hdf5_format *format,
                        db_measured_image *image, db_nexus_sink *s) {
    *s =
        (db_nexus_sink){ .value = image->value, .mask = image->mask, .counts.gap_is = DB_MASK_BAD };
    const double saturation = isnan(limits->saturation) ? INFINITY : limits->saturation;
    const unsigned bits = (unsigned)(8 * format->width);
    const double own = limits->bits > 0 && limits->bits < bits ? limits->bits : bits;
    s->counts.least = isnan(limits->underload) ? -INFINITY : limits->underload;
    s->counts.most = saturation;
    if (format->kind == DB_PIXELS_FLOAT) {
        image->overload = isfinite(saturation) ? nextafter(saturation, INFINITY) : INFINITY;
        return;
    }
    const int is_signed = format->kind == DB_PIXELS_SIGNED;
    const double largest = ldexp(1, (int)own - is_signed) - 1;
    s->counts.gap = own < 64 ? ((uint64_t)1 << (int)own) - 1 : UINT64_MAX;
    s->counts.lowest = isnan(limits->underload) ? 0 : (int64_t)fmax(ceil(limits->underload), -9e18);
    s->counts.highest = (int64_t)fmin(floor(fmin(saturation, largest - 1)), 9e18);
    image->overload = isfinite(saturation) ? floor(saturation) + 1 : INFINITY;
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
