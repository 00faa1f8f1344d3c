/* Parts of a picture of a detector on which resolution changes smoothly. */
#ifndef DB_FIT_REPORT_RESOLUTION_PARTS_H
#define DB_FIT_REPORT_RESOLUTION_PARTS_H

#include "fit/pixels/geometry.h"
#include "fit/report/panel_layout.h"
#include "fit/report/json_document.h"

/* A parallelogram of the picture: its corner and two sides (pixels of the picture), on the plane of a
 * panel. */
typedef struct db_resolution_part {
    size_t panel;
    double corner[2], side[2][2];
} db_resolution_part;

typedef struct db_resolution_parts {
    size_t count;
    db_resolution_part *part; /* owned */
} db_resolution_parts;

/* Makes parts: a rectangle of the picture (first pixel, width, height), if all panels are in one plane, else each
 * panel. */
db_status db_resolution_parts_make(db_context *context, const db_fit_geometry *geometry,
                                   const db_panel_layout *layout, const double rectangle[4],
                                   db_resolution_parts *parts);
void db_resolution_parts_clear(db_resolution_parts *parts);

/* A point of the picture in units of the sides: 0 to 1 within the part. */
void db_resolution_part_within(const db_resolution_part *part, const double point[2],
                               double within[2]);

/* 1/d^2 (1/A^2) at such a point. */
double db_resolution_part_square(const db_fit_geometry *geometry, const db_panel_layout *layout,
                                 const db_resolution_part *part, const double within[2]);

/* Facts about panels and resolution for the scripts of pages. */

/* For each panel: corner, steps of a pixel fast and slow, pixels fast and slow. */
json_t *db_page_panels(db_document *d, const db_panel_layout *layout);

/* Adds 1/d^2 on grids for interpolation: over the picture, or a part of it (first pixel, width, height; NULL:
 * all), if all panels are in one plane; else over each panel. */
db_status db_page_add_resolution(db_context *context, const db_experiment *experiment,
                                 const db_panel_layout *layout, const double part[4],
                                 db_document *d);

#endif
