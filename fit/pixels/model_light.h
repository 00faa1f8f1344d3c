/* How much light a model puts where it predicts reflections: which of known structure factors are
 * worth a shoebox, whatever was measured there. */
#ifndef DB_FIT_PIXELS_MODEL_LIGHT_H
#define DB_FIT_PIXELS_MODEL_LIGHT_H

#include "fit/pixels/shoeboxes.h"

/* light: [prediction->count], photons in 5 x 5 pixels at each predicted position; 0 where these
 * reach over an edge of the panel. */
db_status db_model_light(db_context *context, const db_experiment *experiment,
                         const db_fit_data *data, const db_prediction *prediction, double *light);

#endif
