/* Numbers of a detector as pixels of an image: values, and which of them do not count. */
#ifndef DB_IO_COUNTS_H
#define DB_IO_COUNTS_H

#include <stddef.h>
#include <stdint.h>

typedef enum db_pixel_kind { DB_PIXELS_UNSIGNED, DB_PIXELS_SIGNED, DB_PIXELS_FLOAT } db_pixel_kind;

/* What counts. */
typedef struct db_counts {
    int64_t lowest, highest; /* valid integers */
    uint64_t gap;            /* of unsigned ones: no count, but a mark */
    uint8_t gap_is;          /* how that is masked: DB_MASK_* */
    double least, most;      /* valid floats */
} db_counts;

/* n numbers of `width` bytes in this machine's byte order (integers of 1, 2, 4 or 8, floats of 4 or
 * 8) become values. Those that do not count are masked, where they are not masked already. */
void db_counts_take(const db_counts *counts, db_pixel_kind kind, size_t width, const void *elements,
                    size_t n, float *value, uint8_t *mask);

#endif
