/* Parts of a picture of a detector on which resolution changes smoothly. */
#ifndef DB_FIT_REPORT_RESOLUTION_PARTS_H
#define DB_FIT_REPORT_RESOLUTION_PARTS_H

#include "fit/pixels/geometry.h"
#include "fit/report/panel_layout.h"

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

/* The whole of a rectangle of the picture (first pixel, width, height) where all panels lie in one plane,
 * else each of the panels. */
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

#endif
