/* The report: one page that needs no other files. Frame, style and script are in fit/report/page; the script draws
 * the data in the page. */
#ifndef DB_FIT_REPORT_REPORT_H
#define DB_FIT_REPORT_REPORT_H

#include "fit/report/json_document.h"
#include "fit/report/packed_image.h"

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

#endif
