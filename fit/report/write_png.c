#include <dualbragg/fit.h>

#include "base/context_internal.h"
#include "fit/report/pixel_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_SIDE = 860, SEAM = 8 }; /* pixels: of a picture, between the two */

db_status db_fit_write_png(db_context *context, const char *path, const db_fit_config *config,
                           const db_measured_image *image, const db_fit_result *result) {
    db_pixel_frames pixels;
    db_picture_frames frames;
    db_panel_layout layout;
    DB_TRY(db_panel_layout_make(context, &result->experiment, image, &layout));
    const db_status made = db_pixel_frames_make(context, config, image, result, &layout, &pixels);
    db_panel_layout_clear(&layout);
    DB_TRY(made);
    db_status status = db_picture_frames_make(context, &pixels, LONGEST_SIDE, &frames);
    db_pixel_frames_clear(&pixels);
    DB_TRY(status);
    const size_t row = (size_t)frames.fast, width = 2 * row + SEAM;
    float *const both = malloc(width * (size_t)frames.slow * sizeof *both);
    status = both ? DB_OK : db_fail_memory(context, path);
    for (size_t s = 0; both && s < (size_t)frames.slow; s++) {
        memcpy(both + s * width, frames.measured + s * row, row * sizeof *both);
        for (size_t f = 0; f < SEAM; f++) both[s * width + row + f] = NAN;
        memcpy(both + s * width + row + SEAM, frames.model + s * row, row * sizeof *both);
    }
    if (status == DB_OK)
        status = db_write_png(context, path, both, (int)width, frames.slow, DB_COLOUR_GREY,
                              frames.low, frames.high);
    free(both);
    db_picture_frames_clear(&frames);
    return status;
}
