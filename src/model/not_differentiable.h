/* Quantities without a derivative: images do not depend on them smoothly, they are known from how the experiment
 * was made, or another parameter of the table covers them. */
#ifndef DB_MODEL_NOT_DIFFERENTIABLE_H
#define DB_MODEL_NOT_DIFFERENTIABLE_H

#include <dualbragg/status.h>

/* The reason why there is no derivative by the quantity of this name (as flags call it); NULL: it is not such a
 * quantity. Static storage. */
const char *db_not_differentiable(const char *name);

#endif
