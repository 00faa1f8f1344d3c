/* Pixels of the report of one image: image, model and shoeboxes. */
#ifndef DB_FIT_REPORT_IMAGE_REPORT_H
#define DB_FIT_REPORT_IMAGE_REPORT_H

#include "fit/report/panel_layout.h"
#include "fit/report/pixel_frames.h"
#include "fit/report/report.h"

/* Data of the report, and places of the panels in the picture. */
typedef struct db_image_report {
    const db_fit_config *config;
    const db_measured_image *image;
    const db_fit_result *result;
    db_panel_layout layout;
    db_pixel_frames frames;
    int bin; /* a pixel of the frames is the mean of bin x bin pixels of the picture */
} db_image_report;

/* Borrows config, image and result; clear it. */
db_status db_image_report_make(db_context *context, const db_fit_config *config,
                               const db_measured_image *image, const db_fit_result *result,
                               db_image_report *report);
void db_image_report_clear(db_image_report *report);

/* Prints the elements of a page with its data. */
db_status db_image_report_print(db_context *context, const db_image_report *report, FILE *stream);

#endif
