/* Whole images reduced to pictures: measured, model, residual. */
#ifndef DB_FIT_REPORT_PICTURE_FRAMES_H
#define DB_FIT_REPORT_PICTURE_FRAMES_H

#include "fit/pixels/panel_layout.h"

/* Measured image, model and standard deviations, pixel by pixel, in the layout of the panels; NAN:
 * no panel, no trusted pixel, no model.
 * In the pixels of shoeboxes model and deviations are those that the target saw; elsewhere the
 * deviations are those of photons and readout noise. */
typedef struct db_pixel_frames {
    int fast, slow;
    float *measured, *model, *sigma;
} db_pixel_frames;

db_status db_pixel_frames_make(db_context *context, const db_fit_config *config,
                               const db_measured_image *image, const db_fit_result *result,
                               const db_panel_layout *layout, db_pixel_frames *frames);
void db_pixel_frames_clear(db_pixel_frames *frames);

/* Each pixel of a picture stands for a block of block x block pixels of the image. */
typedef struct db_picture_frames {
    int fast, slow, block;
    float *measured,
        *model;       /* maximum of the block, so that spots survive; NAN: none has a value */
    float *residual;  /* sum of measured minus model over the root of the sum of variances;
                         NAN likewise */
    double low, high; /* ends of a grey scale that suits measured and model */
} db_picture_frames;

/* longest: most pixels that a side of the picture may have. */
db_status db_picture_frames_make(db_context *context, const db_pixel_frames *pixels, int longest,
                                 db_picture_frames *frames);
void db_picture_frames_clear(db_picture_frames *frames);

#endif
