/* Experiments for the renderings of a refinement, and regions of an image rendered once. */
#ifndef DB_FIT_PIXELS_RENDERING_H
#define DB_FIT_PIXELS_RENDERING_H

#include <dualbragg/fit.h>

/* Borrows structure factors, which are large and do not change in a refinement; curves of f' and f'' are the
 * copy's own: free(copy->sites). The lender must outlive the copy. */
db_status db_structure_factors_borrow(db_context *context, const db_structure_factors *lent,
                                      db_structure_factors *copy);

/* A copy of an experiment with borrowed structure factors. */
db_status db_experiment_borrow(db_context *context, const db_experiment *experiment,
                               db_experiment *copy);
void db_experiment_give_back(db_experiment *copy);

/* A copy with all amplitudes 1, for free intensities. */
db_status db_experiment_unit_amplitudes(db_context *context, const db_experiment *experiment,
                                        db_experiment *copy);

/* Widens spots: divides the cell counts of `sharp` by `blur` in a copy, down to one cell. */
void db_experiment_blur(const db_experiment *sharp, double blur, db_experiment *blurred);

/* Renders some regions into image, by their offsets and strides. reflections: for each region the only reflection
 * that it shows; NULL: all. tolerance: photons that a pixel may lack. */
db_status db_render_regions(db_context *context, const db_experiment *experiment,
                            const db_fit_settings *settings, const db_region *regions, size_t count,
                            const int (*reflections)[3], double tolerance, float *image);

#endif
