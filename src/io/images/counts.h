/* Numbers of a detector as pixels of an image: values, and which of them do not count. */
#ifndef DB_IO_COUNTS_H
#define DB_IO_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include <dualbragg/measured_image.h>

typedef enum db_pixel_kind { DB_PIXELS_UNSIGNED, DB_PIXELS_SIGNED, DB_PIXELS_FLOAT } db_pixel_kind;

/* The range of valid numbers. */
typedef struct db_counts {
    int64_t lowest, highest; /* valid integers */
    uint64_t gap;            /* of unsigned ones: from here on no counts, but marks */
    uint8_t gap_is;          /* how those are masked: DB_MASK_* */
    double least, most;      /* valid floats */
} db_counts;

/* Converts n numbers of `width` bytes in this machine's byte order (integers of 1, 2, 4 or 8, floats of 4 or 8).
 * Masks those that are not valid, unless they are masked already. */
void db_counts_take(const db_counts *counts, db_pixel_kind kind, size_t width, const void *elements,
                    size_t n, float *value, uint8_t *mask);

/* Are negative numbers counts? Not where -1 and -2 are the only ones and solid areas, lines and single pixels
 * have them: those are marks of gaps (-1) and of pixels that do not work (-2), and are masked. Numbers below, and most of
 * -1 among others, mean that noise was measured, or something subtracted. */
void db_decide_marks(db_measured_image *image);

#endif
