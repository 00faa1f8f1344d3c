/* Pieces of the HTML report. Each prints its part of the page to a stream in the C locale. */
#ifndef DB_FIT_REPORT_HTML_H
#define DB_FIT_REPORT_HTML_H

#include <dualbragg/fit.h>
#include <stdio.h>

typedef struct db_report {
    db_context *context;
    FILE *stream;
    const db_fit_config *config;
    const db_measured_image *image;
    const db_fit_result *result;
} db_report;

/* Text with the characters that HTML reserves replaced. */
void db_html_text(FILE *stream, const char *text);

/* A picture as an <image> (inside an svg) or <img>, its PNG inline. Builds without PNG print a note
 * instead. */
db_status db_html_picture(const db_report *report, const char *before_data, const float *pixels,
                          int fast_pixels, int slow_pixels, db_colour_map map, double low,
                          double high, const char *after_data);

/* Name of a stage by its number in the history (from 0). */
const char *db_report_stage_name(const db_report *report, int stage);

extern const char db_report_style[]; /* the page's style sheet */

void db_report_summary(const db_report *report);
void db_report_parameters(const db_report *report);
void db_report_statistics(const db_report *report);
void db_report_convergence(const db_report *report);
void db_report_parameter_curves(const db_report *report);
void db_report_correlation(const db_report *report);
db_status db_report_whole_images(const db_report *report);
db_status db_report_gallery(const db_report *report);

#endif
