/* Pieces of the HTML report. Each prints its part of the page to a stream in the C locale. */
#ifndef DB_FIT_REPORT_REPORT_HTML_H
#define DB_FIT_REPORT_REPORT_HTML_H

#include "fit/pixels/panel_layout.h"
#include <stdio.h>

typedef struct db_html_report {
    db_context *context;
    FILE *stream;
    const db_fit_config *config;
    const db_measured_image *image;
    const db_fit_result *result;
    const db_panel_layout *layout; /* of the pictures */
} db_html_report;

/* Text with the characters that HTML reserves replaced. */
void db_html_text(FILE *stream, const char *text);

/* A picture as an <image> (inside an svg) or <img>, its PNG inline. Builds without PNG print a note
 * instead. */
db_status db_html_picture(const db_html_report *report, const char *before_data,
                          const float *pixels, int fast_pixels, int slow_pixels, db_colour_map map,
                          double low, double high, const char *after_data);

/* Name of a stage by its number in the history (from 0). */
const char *db_html_stage_name(const db_html_report *report, int stage);

/* Bytes as text, four characters for three of them. */
void db_html_base64(FILE *stream, const unsigned char *bytes, size_t count);

extern const char db_html_style[], db_html_script[]; /* report.css, report.js */

/* How a shoebox is marked. */
typedef enum db_box_kind { DB_BOX_FOUND, DB_BOX_MISSED, DB_BOX_WEAK } db_box_kind;
db_box_kind db_html_box_kind(const db_fit_shoebox *box);
extern const char *const db_html_box_class[];

void db_html_warnings(const db_html_report *report);
void db_html_summary(const db_html_report *report);
void db_html_verdict(const db_html_report *report);
void db_html_parameters(const db_html_report *report);
/* The same for what many shots share. */
void db_html_shared_parameters(const db_html_report *report);
void db_html_statistics(const db_html_report *report);
void db_html_stages(const db_html_report *report);
void db_html_starts(const db_html_report *report);
void db_html_convergence(const db_html_report *report);
void db_html_parameter_curves(const db_html_report *report);
void db_html_correlation(const db_html_report *report);
void db_html_directions(const db_html_report *report);
void db_html_resolution(const db_html_report *report);
void db_html_detector(const db_html_report *report);
void db_html_deviations(const db_html_report *report);
/* Pictures of the whole image, for those who read without scripts, and the data of the viewer that
 * takes their place. */
db_status db_html_viewer(const db_html_report *report);
db_status db_html_gallery(const db_html_report *report);
void db_html_outliers(const db_html_report *report);
void db_html_distrusted(const db_html_report *report);
db_status db_html_provenance(const db_html_report *report);

#endif
