/* What the scripts of pages have to know of panels and resolution. */
#ifndef DB_FIT_REPORT_PAGE_LAYOUT_H
#define DB_FIT_REPORT_PAGE_LAYOUT_H

#include "fit/report/json_document.h"
#include "fit/report/panel_layout.h"

/* Of each panel: corner, steps of a pixel fast and slow, pixels fast and slow. */
json_t *db_page_panels(db_document *d, const db_panel_layout *layout);

/* Adds 1/d^2 on grids, to be interpolated: over the picture, or a part of it (first pixel, width, height;
 * NULL: all), where all panels lie in one plane; else over each panel. */
db_status db_page_add_resolution(db_context *context, const db_experiment *experiment,
                                 const db_panel_layout *layout, const double part[4],
                                 db_document *d);

#endif
