/* Background and strong pixels of a measured image, without a model. */
#ifndef DB_FIT_PIXELS_STRONG_PIXELS_H
#define DB_FIT_PIXELS_STRONG_PIXELS_H

#include <dualbragg/fit.h>
#include <stdint.h>

enum {
    /* Half width of shoeboxes of spots far apart, and least half width of a pixel's surroundings for its
     * background. */
    DB_SHOEBOX_USUAL = 8,
};

/* Spots of strong pixels (fit/pixels/observed_spots.h). */
typedef struct db_observed_spot {
    size_t panel;
    double position[2];   /* centroid of its counts above the background (pixels, fast, slow) */
    double counts;        /* sum of these counts */
    size_t pixels;        /* pixels of its group; 0: unknown, and so is the covariance */
    double covariance[3]; /* of these counts (pixels^2: fast, slow, mixed) */
    int is_cut; /* 1: it touches pixels that were strong by the light of another crystal */
    int hkl[3];
} db_observed_spot;

typedef struct db_observed_spots {
    size_t count;
    db_observed_spot *spot; /* owned */
} db_observed_spots;

typedef struct db_strong_pixels {
    /* counts: mean of the surroundings without high outliers, or the smooth surface of
     * settings.background */
    float *background;
    /* 1: exceeds the background, and the mean of the surroundings by strong_sigma, beside two
     * others or more */
    uint8_t *strong;
    size_t count;    /* strong pixels */
    size_t spots;    /* groups of touching strong pixels */
    uint64_t *bits;  /* [slow_pixels][words], from the lowest bit on: 1: was strong when found */
    size_t words;    /* words of a row; the last one is empty */
    int holds_light; /* 1: the background holds light of other crystals */
    db_observed_spots *seen; /* db_observed_spots_find; without a list: not asked for yet */
} db_strong_pixels;

/* settings: gain, readout_noise, strong_sigma, shoebox_half_width, background. */
db_status db_strong_pixels_find(db_context *context, const db_measured_image *image,
                                const db_fit_settings *settings, db_strong_pixels *strong);
void db_strong_pixels_clear(db_strong_pixels *strong);

/* What a smooth background and the strong pixels beside it are made from again, in a part of the time; and strong pixels that
 * wait for whoever asks for them first. All 0: nothing yet. */
typedef struct db_strong_memory {
    size_t masked; /* pixels of the image that did not count */
    size_t count, spots;
    uint32_t *pixel; /* [count]; owned */
    double *
        coefficient; /* of the surfaces of the panels, one after the other; owned; NULL: there is nothing */
    db_strong_pixels waiting; /* owned; of the following; without a background: there are none */
    const float *value;       /* of the image */
    double gain, readout_noise, strong_sigma;
    int half_width; /* of the surroundings of a pixel */
} db_strong_memory;

/* Lets strong pixels wait in an empty memory, which takes them over; not those beside a smooth background. */
void db_strong_pixels_leave(const db_measured_image *image, const db_fit_settings *settings,
                            db_strong_pixels *strong, db_strong_memory *memory);

/* As db_strong_pixels_find, for an image that is read repeatedly with the same settings; remembers a smooth background. */
db_status db_strong_pixels_recall(db_context *context, const db_measured_image *image,
                                  const db_fit_settings *settings, db_strong_memory *memory,
                                  db_strong_pixels *strong);
void db_strong_memory_clear(db_strong_memory *memory);

/* Adds light of other crystals (counts, like the image) to the background. Pixels whose excess falls below half
 * are not strong any more. */
void db_strong_pixels_add_light(const db_measured_image *image, const float *light,
                                db_strong_pixels *strong);

/* `count` pixels of an image's row, at most the bits of a word, from the lowest bit on: 1: was strong when found. */
enum { DB_STRONG_WORD = 64 };
static inline uint64_t db_strong_bits(const db_strong_pixels *strong, int row, int first,
                                      int count) {
    const size_t at = (size_t)first, shift = at % DB_STRONG_WORD;
    const uint64_t *const word = strong->bits + (size_t)row * strong->words + at / DB_STRONG_WORD;
    const uint64_t bits = word[0] >> shift | word[1] << 1 << (DB_STRONG_WORD - 1 - shift);
    return count < DB_STRONG_WORD ? bits & (((uint64_t)1 << count) - 1) : bits;
}

/* Upper bound of the strong pixels in a part of the image: pixels found there, before light was added. Takes an
 * eighth of the memory of pixels. Limits are inclusive, in pixels of the image. */
size_t db_strong_pixels_at_most(const db_strong_pixels *strong, const int fast[2],
                                const int slow[2]);

/* Group of a pixel: lists pixels with value 1 that touch it, or each other, by side or corner, in an image with
 * these columns and rows. They become 2. Returns their number; the list needs room for all pixels. */
size_t db_collect_touching(uint8_t *pixels, int columns, int rows, size_t seed, size_t *list);

#endif
