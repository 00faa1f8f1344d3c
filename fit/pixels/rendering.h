/* Experiments as a refinement renders them, and the regions of an image that it renders once. */
#ifndef DB_FIT_PIXELS_RENDERING_H
#define DB_FIT_PIXELS_RENDERING_H

#include <dualbragg/fit.h>

/* Structure factors that are large and do not change while parameters are refined are borrowed; curves of f' and f'' are
 * the copy's own: free(copy->sites). The lender must outlive the copy. */
db_status db_structure_factors_borrow(db_context *context, const db_structure_factors *lent,
                                      db_structure_factors *copy);

/* A copy that borrows the structure factors so. */
db_status db_experiment_borrow(db_context *context, const db_experiment *experiment,
                               db_experiment *copy);
void db_experiment_give_back(db_experiment *copy);

/* A copy in which every amplitude is 1: what is rendered while intensities are free. */
db_status db_experiment_unit_amplitudes(db_context *context, const db_experiment *experiment,
                                        db_experiment *copy);

/* Smaller crystals have wider spots: divides the cell counts of `sharp` by `blur` for a copy of it.
 * None becomes smaller than one cell. */
void db_experiment_blur(const db_experiment *sharp, double blur, db_experiment *blurred);

/* Renders some regions; image: where their offsets and strides say. reflections: of each region the
 * only one that it shows; NULL: all. tolerance: photons that a pixel may lack. */
db_status db_render_regions(db_context *context, const db_experiment *experiment,
                            const db_fit_settings *settings, const db_region *regions, size_t count,
                            const int (*reflections)[3], double tolerance, float *image);

#endif
