/* The report: one page that needs nothing from elsewhere. Its frame, style and script are those of fit/report/page;
 * the script draws what the data in the page say. */
#ifndef DB_FIT_REPORT_REPORT_H
#define DB_FIT_REPORT_REPORT_H

#include "fit/report/json_document.h"

/* What is a page's own; its frame, fit/report/page/report.html, names where it belongs. */
typedef struct db_page {
    const char *title;
    const char *otherwise; /* where to look if no scripts are allowed */
    const char *script;
} db_page;
extern const db_page db_report_page, db_view_page;

/* Writes the page; print_data prints the elements with its data. */
db_status db_page_write(db_context *context, const char *path, const db_page *page,
                        db_status (*print_data)(db_context *context, const void *of, FILE *stream),
                        const void *of);

/* Prints a document as an element with data, and lets go of it. */
db_status db_page_print_document(db_context *context, const char *id, db_document *document,
                                 FILE *stream);

/* How values become whole numbers; the script turns them back. */
typedef struct db_packing {
    double offset, unit; /* value = offset + unit x number */
    int logarithmic;     /* 1: value = 2^(offset + unit x number) */
    int smooth;          /* 1: neighbours differ little, and only their differences are kept */
} db_packing;

/* A packing that keeps whole numbers as they are, and others to a small part of `noise`, a
 * standard deviation typical for the values. */
db_packing db_packing_for(const float *values, size_t count, double noise);

/* Whether this build can print images (with zlib, which comes with PNG). */
int db_page_prints_images(void);

/* Prints an image as an element with data: every pixel's value, compressed; NAN: no value. */
db_status db_page_print_image(db_context *context, const char *id, const float *values, int fast,
                              int slow, const db_packing *packing, FILE *stream);

#endif
