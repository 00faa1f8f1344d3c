/* Measured image, model and standard deviations of a result, pixel by pixel. */
#ifndef DB_FIT_REPORT_PIXEL_FRAMES_H
#define DB_FIT_REPORT_PIXEL_FRAMES_H

#include "fit/report/panel_layout.h"

/* Frames in the layout of the panels; NAN: no panel, no trusted pixel, no model. In pixels of shoeboxes, model and
 * deviations are the target's; elsewhere the deviations are those of photons and readout noise. */
typedef struct db_pixel_frames {
    int fast, slow;
    float *measured;
    float *model;
    float *sigma; /* NULL: not wanted */
} db_pixel_frames;

/* Frames without content. */
db_status db_pixel_frames_allocate(db_context *context, int fast, int slow,
                                   db_pixel_frames *frames);
/* config: NULL: deviations are not wanted. */
db_status db_pixel_frames_make(db_context *context, const db_fit_config *config,
                               const db_measured_image *image, const db_fit_result *result,
                               const db_panel_layout *layout, db_pixel_frames *frames);
/* Averages over blocks of bin x bin pixels, the smallest with which no more than `most` pixels remain, and gives the
 * deviations of these means. A block with a NAN is NAN; blocks that reach beyond the end are left out. */
db_status db_pixel_frames_reduce(db_context *context, int most, db_pixel_frames *frames, int *bin);
void db_pixel_frames_clear(db_pixel_frames *frames);

#endif
