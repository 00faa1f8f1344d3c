/* Numbers of a detector as pixels of an image. */
#include "io/images/counts.h"

#include <dualbragg/io.h>
#include <math.h>

#define TAKE_UNSIGNED(type)                                                                        \
    do {                                                                                           \
        const type *const count = (const void *)elements;                                          \
        const uint64_t highest = s->highest > 0 ? (uint64_t)s->highest : 0;                        \
        const type most = highest > (type)-1 ? (type)-1 : (type)highest;                           \
        const type gap = (type)s->gap;                                                             \
        const uint8_t gap_is = s->gap_is;                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint8_t own = (uint8_t)(count[i] >= gap   ? gap_is                               \
                                          : count[i] > most ? DB_MASK_OVERLOAD                     \
                                                            : DB_MASK_TRUSTED);                    \
            value[i] = (float)count[i];                                                            \
            mask[i] = mask[i] ? mask[i] : own;                                                     \
        }                                                                                          \
    } while (0)

#define TAKE_SIGNED(type)                                                                          \
    do {                                                                                           \
        const type *const count = (const void *)elements;                                          \
        const int64_t lowest = s->lowest, highest = s->highest;                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint8_t own =                                                                    \
                (uint8_t)(count[i] < lowest    ? (count[i] == -1 ? DB_MASK_GAP : DB_MASK_BAD)      \
                          : count[i] > highest ? DB_MASK_OVERLOAD                                  \
                                               : DB_MASK_TRUSTED);                                 \
            value[i] = (float)count[i];                                                            \
            mask[i] = mask[i] ? mask[i] : own;                                                     \
        }                                                                                          \
    } while (0)

#define TAKE_FLOAT(type)                                                                           \
    do {                                                                                           \
        const type *const count = (const void *)elements;                                          \
        const double least = s->least, most = s->most;                                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            const double stored = (double)count[i];                                                \
            const int bad = !isfinite(stored) || stored < least;                                   \
            const uint8_t own = (uint8_t)(bad             ? DB_MASK_BAD                            \
                                          : stored > most ? DB_MASK_OVERLOAD                       \
                                                          : DB_MASK_TRUSTED);                      \
            value[i] = isfinite(stored) ? (float)stored : 0;                                       \
            mask[i] = mask[i] ? mask[i] : own;                                                     \
        }                                                                                          \
    } while (0)

void db_counts_take(const db_counts *s, db_pixel_kind kind, size_t width, const void *elements,
                    size_t n, float *value, uint8_t *mask) {
    switch ((int)kind * 16 + (int)width) {
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

static int is_mark(float value, double mark) { return fabs((double)value - mark) <= 0; }

/* 1 if one of the four neighbours is -1, too. */
static int has_company(const db_measured_image *image, int fast, int slow) {
    const float *const v = image->value + (size_t)slow * (size_t)image->fast_pixels + fast;
    return (fast > 0 && is_mark(v[-1], -1)) ||
           (fast + 1 < image->fast_pixels && is_mark(v[1], -1)) ||
           (slow > 0 && is_mark(v[-image->fast_pixels], -1)) ||
           (slow + 1 < image->slow_pixels && is_mark(v[image->fast_pixels], -1));
}

/* 1 for a negative number that is no mark: below -2 and above -32768, or not whole. */
static int is_negative_count(float value) {
    static const double LOWEST_MARK = -32768;
    const double number = (double)value;
    return number < 0 && number > LOWEST_MARK && !is_mark(value, -1) && !is_mark(value, -2);
}

/* A number that the type itself has for nothing, so that no other is needed. */
static int is_lowest(float value) { return (double)value <= -32768; }

static int are_counts(const db_measured_image *image) {
    size_t marks = 0, alone = 0;
    for (int s = 0; s < image->slow_pixels; s++)
        for (int f = 0; f < image->fast_pixels; f++) {
            const float value = image->value[(size_t)s * (size_t)image->fast_pixels + (size_t)f];
            if (is_negative_count(value) || is_lowest(value)) return 1;
            if (!is_mark(value, -1)) continue;
            marks++;
            alone += !has_company(image, f, s);
        }
    return alone > marks / 2 && marks > 10;
}

void db_decide_marks(db_measured_image *image) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    if (are_counts(image)) return;
    for (size_t i = 0; i < count; i++)
        if (!image->mask[i] && image->value[i] < 0)
            image->mask[i] = is_mark(image->value[i], -1) ? DB_MASK_GAP : DB_MASK_BAD;
}
