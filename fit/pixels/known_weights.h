/* Weights of pixels that are compared with known structure factors. */
#ifndef DB_FIT_PIXELS_KNOWN_WEIGHTS_H
#define DB_FIT_PIXELS_KNOWN_WEIGHTS_H

#include "fit/objective/objective.h"

/* Weights of the pixels in use (those with one): the inverse of photon and readout variance at the
 * expected counts, but at least the local background's, plus (model_error x expected excess)^2.
 * Expected are the model's counts; without a model (NULL) the measured ones. weight and
 * shape_variance: those of the blocks. */
void db_known_weights(const db_fit_blocks *blocks, const db_fit_settings *settings,
                      double model_error, const db_objective *model, float *weight,
                      float *shape_variance);

#endif
