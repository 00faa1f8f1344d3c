/* Images as data inside the page: every pixel's value, compressed, for the page's script. */
#ifndef DB_FIT_REPORT_REPORT_PACKED_H
#define DB_FIT_REPORT_REPORT_PACKED_H

#include "fit/report/report.h"

/* How values become whole numbers; the script turns them back. */
typedef struct db_packing {
    double offset, unit; /* value = offset + unit x number */
    int logarithmic;     /* 1: value = 2^(offset + unit x number) */
    int smooth;          /* 1: neighbours differ little, and only their differences are kept */
} db_packing;

/* A packing that keeps whole numbers as they are, and others to a small part of `noise`, a
 * standard deviation typical for the values. */
db_packing db_packing_for(const float *values, size_t count, double noise);

/* Prints an element with an image of the given shape; NAN: no value. Without zlib (which comes with
 * PNG) it prints nothing. */
db_status db_html_packed(const db_html_report *report, const char *id, const float *values,
                         int fast_pixels, int slow_pixels, const db_packing *packing);

#endif
