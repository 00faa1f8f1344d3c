/* Counts of a detector as pixels of an image. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus_counts.h"

#include <math.h>
#include <string.h>

#define TAKE_UNSIGNED(type)                                                                        \
    do {                                                                                           \
        const type *const count = (const void *)elements;                                          \
        const uint64_t highest = s->highest > 0 ? (uint64_t)s->highest : 0;                        \
        const type most = highest > (type)-1 ? (type)-1 : (type)highest;                           \
        const type gap = (type)s->gap;                                                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint8_t own = (uint8_t)(count[i] == gap   ? DB_MASK_BAD                          \
                                          : count[i] > most ? DB_MASK_OVERLOAD                     \
                                                            : DB_MASK_TRUSTED);                    \
            value[i] = (float)count[i];                                                            \
            mask[i] = mask[i] ? mask[i] : own;                                                     \
        }                                                                                          \
    } while (0)

#define TAKE_SIGNED(type)                                                                          \
    do {                                                                                           \
        const type *const count = (const void *)elements;                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint8_t own =                                                                    \
                (uint8_t)(count[i] < s->lowest    ? (count[i] == -1 ? DB_MASK_GAP : DB_MASK_BAD)   \
                          : count[i] > s->highest ? DB_MASK_OVERLOAD                               \
                                                  : DB_MASK_TRUSTED);                              \
            value[i] = (float)count[i];                                                            \
            mask[i] = mask[i] ? mask[i] : own;                                                     \
        }                                                                                          \
    } while (0)

#define TAKE_FLOAT(type)                                                                           \
    do {                                                                                           \
        const type *const count = (const void *)elements;                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            const double stored = (double)count[i];                                                \
            const int bad = !isfinite(stored) || stored < s->least;                                \
            const uint8_t own = (uint8_t)(bad                ? DB_MASK_BAD                         \
                                          : stored > s->most ? DB_MASK_OVERLOAD                    \
                                                             : DB_MASK_TRUSTED);                   \
            value[i] = isfinite(stored) ? (float)stored : 0;                                       \
            mask[i] = mask[i] ? mask[i] : own;                                                     \
        }                                                                                          \
    } while (0)

void db_nexus_take_pixels(void *user, const db_hdf5_format *format, const unsigned char *elements,
                          size_t n, size_t to) {
    const db_nexus_sink *const s = user;
    float *const value = s->value + to;
    uint8_t *const mask = s->mask + to;
    const int kind = (int)format->kind * 16 + (int)format->width;
    switch (kind) {
    case DB_PIXELS_UNSIGNED * 16 + 1: TAKE_UNSIGNED(uint8_t); break;
    case DB_PIXELS_UNSIGNED * 16 + 2: TAKE_UNSIGNED(uint16_t); break;
    case DB_PIXELS_UNSIGNED * 16 + 4: TAKE_UNSIGNED(uint32_t); break;
    case DB_PIXELS_UNSIGNED * 16 + 8: TAKE_UNSIGNED(uint64_t); break;
    case DB_PIXELS_SIGNED * 16 + 1: TAKE_SIGNED(int8_t); break;
    case DB_PIXELS_SIGNED * 16 + 2: TAKE_SIGNED(int16_t); break;
    case DB_PIXELS_SIGNED * 16 + 4: TAKE_SIGNED(int32_t); break;
    case DB_PIXELS_SIGNED * 16 + 8: TAKE_SIGNED(int64_t); break;
    case DB_PIXELS_FLOAT * 16 + 4: TAKE_FLOAT(float); break;
    default: TAKE_FLOAT(double); break;
    }
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
    *s = (db_nexus_sink){ .value = image->value, .mask = image->mask };
    const double saturation = isnan(limits->saturation) ? INFINITY : limits->saturation;
    const unsigned bits = (unsigned)(8 * format->width);
    const double own = limits->bits > 0 && limits->bits < bits ? limits->bits : bits;
    s->least = isnan(limits->underload) ? -INFINITY : limits->underload;
    s->most = saturation;
    if (format->kind == DB_PIXELS_FLOAT) {
        image->overload = isfinite(saturation) ? nextafter(saturation, INFINITY) : INFINITY;
        return;
    }
    const int is_signed = format->kind == DB_PIXELS_SIGNED;
    const double largest = ldexp(1, (int)own - is_signed) - 1;
    s->gap = own < 64 ? ((uint64_t)1 << (int)own) - 1 : UINT64_MAX;
    s->lowest = isnan(limits->underload) ? 0 : (int64_t)fmax(ceil(limits->underload), -9e18);
    s->highest = (int64_t)fmin(floor(fmin(saturation, largest - 1)), 9e18);
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
