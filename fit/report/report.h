/* The report: one page that needs no other files. Frame, style and script are in fit/report/page; the script draws
 * the data in the page. */
#ifndef DB_FIT_REPORT_REPORT_H
#define DB_FIT_REPORT_REPORT_H

#include "fit/report/json_document.h"

/* Parts of one page; its frame, fit/report/page/report.html, has places for them. */
typedef struct db_page {
    const char *title;
    const char *otherwise; /* text for browsers without scripts */
    const char *script;
} db_page;
extern const db_page db_report_page, db_view_page;

/* Writes the page; print_data prints the elements with its data. */
db_status db_page_write(db_context *context, const char *path, const db_page *page,
                        db_status (*print_data)(db_context *context, const void *of, FILE *stream),
                        const void *of);

/* Prints a document as an element with data, and frees it. */
db_status db_page_print_document(db_context *context, const char *id, db_document *document,
                                 FILE *stream);

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

/* Prints an image as an element with data: every pixel's value, compressed; NAN: no value. */
db_status db_page_print_image(db_context *context, const char *id, const float *values, int fast,
                              int slow, const db_packing *packing, FILE *stream);

#endif
