/* The model with slopes by the parameters asked for. */
#include "model/model.h"

#define REAL double
#define DIRS many
#include "model/model_body.h"

void db_model_dual(const db_experiment *experiment, const db_mosaic_direction *directions,
                   const db_parameter_slots *slots, db_dual_interface *out) {
    model_interface(experiment, directions, slots, out);
}
