/* An image that is added to the model's, and the elements of images that a plan renders. */
#ifndef DB_ENGINE_PLAN_BACKGROUND_H
#define DB_ENGINE_PLAN_BACKGROUND_H

#include "engine/plan_state.h"

/* A plan's background; NULL until one is needed. */
typedef struct db_plan_background db_plan_background;
void db_plan_background_destroy(db_plan_background *own);

/* The background in the plan's pixel type; NULL: none. */
const void *db_plan_background_pixels(const db_plan *plan);

/* Adds it, if there is one, to an image that has been rendered; NULL is ignored. */
db_status db_plan_add_background(db_plan *plan, void *image);

/* Lists the elements, for the functions below. */
db_status db_plan_list_elements(db_plan *plan);

/* DB_ERROR_INPUT, with `what` first in the message, for pixels that are not finite; the elements have
 * been listed. */
db_status db_plan_check_background(const db_plan *plan, const char *what, const void *pixels);

/* to[i] += from[i], or = where `copy`, of images of the plan's pixel type: for all elements of the plan's
 * regions, for each once. Either may be in the memory of the plan's device. */
db_status db_plan_add_image(db_plan *plan, int copy, const void *from, void *to);

#endif
