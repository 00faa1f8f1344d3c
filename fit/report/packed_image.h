/* Images in a page's text: packed, compressed, as base64. */
#ifndef DB_FIT_REPORT_PACKED_IMAGE_H
#define DB_FIT_REPORT_PACKED_IMAGE_H

#include <dualbragg/context.h>

#include <stddef.h>
#include <stdio.h>

/* Conversion of values to whole numbers, which the script reverses. */
typedef struct db_packing {
    double offset, unit; /* value = offset + unit x number */
    int logarithmic;     /* 1: value = 2^(offset + unit x number) */
    int smooth;          /* 1: neighbours differ little, and their differences are stored */
} db_packing;

/* A packing that keeps whole numbers exactly, and others to a small part of `noise`, a typical standard deviation
 * of the values. */
db_packing db_packing_for(const float *values, size_t count, double noise);

/* Can this build print images? (Needs zlib, which comes with PNG.) */
int db_page_prints_images(void);

typedef struct db_page_image {
    const char *id;
    const float *values; /* every pixel's; NAN: no value */
    int fast, slow;
    db_packing packing;
} db_page_image;

enum { DB_PAGE_IMAGES = 3 }; /* at most, in one call */

/* Prints images as elements with data, one after the other. They are compressed side by side. */
db_status db_page_print_images(db_context *context, const db_page_image *images, int count,
                               FILE *stream);

#endif
