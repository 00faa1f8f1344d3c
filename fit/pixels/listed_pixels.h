/* Facts of an experiment list about the pixels of a measured image. */
#ifndef DB_FIT_PIXELS_LISTED_PIXELS_H
#define DB_FIT_PIXELS_LISTED_PIXELS_H

#include <dualbragg/fit.h>
#include <dualbragg/expert/experiment_list_content.h>

typedef struct db_listed_pixels {
    db_context *context;
    const db_fit_config *config;
    const db_expt_content *content;
    db_measured_image *image; /* with the panels of the list */
    db_notice_function line;  /* for notices; NULL: none */
    void *user;
} db_listed_pixels;

/* Masks pixels beyond the list's trusted range, in its rectangles and masks; subtracts its pedestals, and brings
 * all panels and pixels to one gain, which the image then has. Values of the configuration take precedence.
 * Notices name facts of the list that are not used. */
db_status db_listed_pixels_apply(const db_listed_pixels *listed);

/* Masks pixels of some rows whose value, with the subtracted pedestal, is outside a range. */
void db_trust_range(const double range[2], double subtracted, int first_row, int rows,
                    db_measured_image *image);

#endif
