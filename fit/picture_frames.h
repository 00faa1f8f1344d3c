/* Whole images reduced to pictures: measured, model, residual. */
#ifndef DB_FIT_PICTURE_FRAMES_H
#define DB_FIT_PICTURE_FRAMES_H

#include <dualbragg/fit.h>

/* Each pixel of a picture stands for a block of block x block pixels of the image. */
typedef struct db_picture_frames {
    int fast, slow, block;
    float *measured,
        *model; /* maximum of the block, so that spots survive; NAN: no trusted pixel, no model */
    float *residual;  /* measured minus model in standard deviations, the farthest from 0; NAN
                         likewise */
    double low, high; /* ends of a grey scale that suits measured and model */
} db_picture_frames;

db_status db_picture_frames_make(db_context *context, const db_fit_config *config,
                                 const db_measured_image *image, const db_fit_result *result,
                                 db_picture_frames *frames);
void db_picture_frames_clear(db_picture_frames *frames);

#endif
