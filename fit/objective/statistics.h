/* How well a model describes the data. */
#ifndef DB_FIT_OBJECTIVE_STATISTICS_H
#define DB_FIT_OBJECTIVE_STATISTICS_H

#include "fit/objective/stage_data.h"

/* Fills pixels, chi2, chi2_reduced, rms_residual, correlation from a shot as last evaluated.
 * Outliers of robust targets enter chi2 with their weight. */
void db_statistics_residuals(const db_objective *shot, db_fit_statistics *statistics);

/* centroid_rms over the boxes in which both spots can be located; NAN if there are none. The
 * shot's blocks are the boxes. */
void db_statistics_centroids(const db_objective *shot, const db_shoeboxes *boxes,
                             db_fit_statistics *statistics);

/* Observed minus model centroid of a box (pixels, fast, slow); 0 if one of them cannot be located.
 */
int db_statistics_centroid_offset(const db_objective *shot, const db_shoeboxes *boxes, size_t b,
                                  double offset[2]);

/* Does the model explain a strong pixel: is its Bragg part between half and twice the excess over
 * the background? Too bright is as wrong as too faint. */
static inline int db_pixel_explained(double bragg, double value, double background) {
    const double excess = value - background;
    return bragg > 0.5 * excess && bragg < 2 * excess;
}

/* Strong pixels explained by the model of a shot whose blocks are all boxes predicted by the
 * model. */
size_t db_statistics_explained_in_boxes(const db_objective *shot, const db_shoeboxes *boxes);

/* The same for a shot whose blocks are tiles of the image. */
size_t db_statistics_explained_in_tiles(const db_objective *shot, const db_fit_data *data);

/* Strong pixels of the image, or of the region of interest, in the resolution range of the
 * settings. */
db_status db_statistics_strong_pixels(db_context *context, const db_experiment *experiment,
                                      const db_fit_data *data, size_t *count);

#endif
