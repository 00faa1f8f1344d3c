/* Background and strong pixels of a measured image, independent of any model. */
#ifndef DB_FIT_PIXELS_STRONG_PIXELS_H
#define DB_FIT_PIXELS_STRONG_PIXELS_H

#include <dualbragg/fit.h>
#include <stdint.h>

enum {
    /* Half width of shoeboxes where spots are far apart, and of the surroundings from which the
     * background of a pixel is taken, at least. */
    DB_SHOEBOX_USUAL = 8,
};

typedef struct db_strong_pixels {
    float *background; /* counts: mean of the surroundings without outliers above, or the smooth
                            surface that settings.background asks for */
    uint8_t *strong; /* 1: exceeds the background, and the mean of the surroundings by strong_sigma,
                            among at least two others */
    size_t count;    /* strong pixels */
    size_t spots;    /* groups of touching strong pixels */
    uint64_t *bits;  /* [slow_pixels][words], from the lowest bit on: 1: was strong when found */
    size_t words;    /* of a row; the last one is empty */
    int holds_light; /* 1: the background holds light of other crystals */
} db_strong_pixels;

/* settings: gain, readout_noise, strong_sigma, shoebox_half_width, background. */
db_status db_strong_pixels_find(db_context *context, const db_measured_image *image,
                                const db_fit_settings *settings, db_strong_pixels *strong);
void db_strong_pixels_clear(db_strong_pixels *strong);

/* Adds light of other crystals (counts, like the image) to the background. Pixels that stand out by
 * less than half of what they did are not strong any more. */
void db_strong_pixels_add_light(const db_measured_image *image, const float *light,
                                db_strong_pixels *strong);

/* `count` pixels of an image's row, or as many of them as a word has bits, from the lowest bit on: 1: was
 * strong when found. */
enum { DB_STRONG_WORD = 64 };
static inline uint64_t db_strong_bits(const db_strong_pixels *strong, int row, int first,
                                      int count) {
    const size_t at = (size_t)first, shift = at % DB_STRONG_WORD;
    const uint64_t *const word = strong->bits + (size_t)row * strong->words + at / DB_STRONG_WORD;
    const uint64_t bits = word[0] >> shift | word[1] << 1 << (DB_STRONG_WORD - 1 - shift);
    return count < DB_STRONG_WORD ? bits & (((uint64_t)1 << count) - 1) : bits;
}

/* An upper bound of the strong pixels in a part of the image: those that were found there, before
 * light was added. They lie in an eighth of the memory that pixels do. Inclusive limits, in pixels
 * of the image. */
size_t db_strong_pixels_at_most(const db_strong_pixels *strong, const int fast[2],
                                const int slow[2]);

/* The group of a pixel: collects into list those that touch it by side or corner, one another's
 * neighbours included, of the pixels that are 1 in an image of so many columns and rows. They
 * become 2. Returns how many they are; the list needs room for all pixels. */
size_t db_collect_touching(uint8_t *pixels, int columns, int rows, size_t seed, size_t *list);

#endif
