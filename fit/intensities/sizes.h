/* Sizes of blocks among the unknowns of joint intensities.
 *
 * The light of spots grows with the number of cells, and the widths of nodes, by which shots share the light of a reflection,
 * fall with it: neither is straight in N over a step that halves or doubles it. Steps between two passes over the shots take
 * quantities that are: in place of N the variance 1/N^2 of nodes, in units in which it has the value and the slope of N at
 * the last pass; in place of intensities the light that they make, in units in which it is the intensity at the last
 * pass. */
#ifndef DB_FIT_INTENSITIES_SIZES_H
#define DB_FIT_INTENSITIES_SIZES_H

#include "fit/linear/linearization.h"
#include "fit/linear/schur.h"

/* Changes slopes of a linearization by sizes: intensities fall as they grow, so that the light stays. shared: values of shared
 * quantities, in the order of a stage. */
void db_sizes_linearize(const db_fit_settings *settings, const db_schur_order *order,
                        const double *shared, const db_linearization *linearization);

/* Shared quantities in units of steps; last: [shared] values of the last pass. */
void db_sizes_unknown(const db_fit_settings *settings, const db_schur_order *order,
                      const double *last, const double *value, double *unknown);

/* Values of shared quantities after a step; value and to may be the same. */
void db_sizes_step(const db_fit_settings *settings, const db_schur_order *order, const double *last,
                   const double *value, const double *step, double *to);

/* Factor by which intensities fall, if sizes change from `last` to `value` and the light stays. */
double db_sizes_factor(const db_fit_settings *settings, const db_schur_order *order,
                       const double *last, const double *value);

#endif
