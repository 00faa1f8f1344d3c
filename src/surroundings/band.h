/* One pass over a band of rows of a panel: means of surroundings, and pixels that exceed them. Compiled once for
 * each instruction set (band_instance.c), with the same bits. */
#ifndef DB_SURROUNDINGS_BAND_H
#define DB_SURROUNDINGS_BAND_H

#include "base/context_internal.h"

#include <stdint.h>

typedef struct db_background_pass {
    const float *value; /* counts of the panel's pixels; the same shape, as all that follow */
    int fast_pixels, slow_pixels;
    int half_width; /* of the surroundings, pixels; at most DB_SURROUNDINGS_WIDEST */
    float gain, readout_variance;
    int is_whole;           /* 1: sums of columns are exact in floats */
    const uint8_t *trusted; /* 1: the pixel counts in the first pass */
    uint8_t *kept;          /* 1: the pixel counts in this pass */
    uint8_t *next;          /* to be filled: pixels that count in the next pass; NULL: none */
    uint8_t *lit;           /* to be filled: trusted pixels with light of spots; NULL: not yet */
    float *mean;            /* to be filled; on entry, of the last pass */
    int is_first;           /* 1: there is no last pass */
} db_background_pass;

/* Room for a band. Sums of columns, over the window's rows, have half_width zeros before and after. */
typedef struct db_background_window {
    uint8_t *none; /* [fast_pixels]: a row without any pixel that counts */
    uint8_t *lit;  /* [fast_pixels + 2]: light in a row or the two beside it; zero at both ends */
    double *sum;   /* [fast_pixels]: sums of columns, if floats would round them */
    /* [4][fast_pixels + 2 half_width]: of the columns, two rooms, of the surroundings. Floats are exact for counts
     * below the thousands, and have the digits of the mean above. */
    float *sums[4];
    uint16_t *counts[4]; /* numbers of the pixels in these sums */
} db_background_window;

typedef struct db_background_rows {
    /* Marks trusted pixels among `count`. Returns whether all their counts are whole numbers of at most `most`. */
    int (*trust)(const float *value, const uint8_t *mask, size_t count, float most,
                 uint8_t *trusted);
    /* Keeps trusted pixels of rows first to end - 1 that are not lit, nor is any of the eight around them. */
    void (*keep_dark)(const db_background_pass *pass, const db_background_window *window, int first,
                      int end);
    /* Rows first to end - 1. The window holds zeros on first entry. */
    void (*average)(const db_background_pass *pass, db_background_window *window, int first,
                    int end);
    /* Marks pixels that significantly exceed the background, in a row or more. limit: variances. */
    void (*mark)(const float *value, const uint8_t *mask, const float *background, size_t count,
                 double gain, double readout_noise, double limit, uint8_t *strong);
} db_background_rows;

/* Of the context's instruction set. */
const db_background_rows *db_background_rows_of(const db_context *context);

#endif
