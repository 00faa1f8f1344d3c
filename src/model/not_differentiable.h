/* Quantities of an experiment that images do not depend on smoothly, that are known from how it was
 * made, or that a parameter of the table stands for. */
#ifndef DB_MODEL_NOT_DIFFERENTIABLE_H
#define DB_MODEL_NOT_DIFFERENTIABLE_H

#include <dualbragg/status.h>

/* Why there is no derivative by the quantity of this name (as flags call it); NULL if it is not one
 * of these. Static storage. */
const char *db_not_differentiable(const char *name);

#endif
