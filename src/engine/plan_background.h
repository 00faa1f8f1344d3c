/* Background of a plan: an image that is added to the model's. Also lists the elements (pixels) that a plan renders. */
#ifndef DB_ENGINE_PLAN_BACKGROUND_H
#define DB_ENGINE_PLAN_BACKGROUND_H

#include "engine/plan_state.h"

/* A plan's background; NULL until one is needed. */
typedef struct db_plan_background db_plan_background;
void db_plan_background_destroy(db_plan_background *own);

/* The background in the plan's pixel type; NULL: none. */
const void *db_plan_background_pixels(const db_plan *plan);

/* Adds the background, if there is one, to a rendered image; image may be NULL. */
db_status db_plan_add_background(db_plan *plan, void *image);

/* Lists the elements of the plan's regions, for the functions below. */
db_status db_plan_list_elements(db_plan *plan);

/* DB_ERROR_INPUT if a pixel is not finite; the message begins with `what`. Call db_plan_list_elements
 * first. */
db_status db_plan_check_background(const db_plan *plan, const char *what, const void *pixels);

/* Adds (copy 0) or copies (copy 1) an image to another one, both of the plan's pixel type, for the elements
 * of the plan's regions, each once. Either image may be in the memory of the plan's device. */
db_status db_plan_add_image(db_plan *plan, int copy, const void *from, void *to);

#endif
