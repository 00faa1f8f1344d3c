/* The starting model of a configuration, oriented or not. */
#ifndef DB_FIT_SEARCH_STARTING_MODEL_H
#define DB_FIT_SEARCH_STARTING_MODEL_H

#include "fit/pixels/strong_pixels.h"

/* As db_fit_config_start. open: unless NULL, no search for the orientation; *open says whether there would be one. strong:
 * unless NULL, an empty memory in which strong pixels of the image may wait for the refinement. */
db_status db_start_make(db_context *context, db_fit_config *config, const db_measured_image *image,
                        db_experiment *start, int *open, db_strong_memory *strong,
                        db_notice_function notices, void *user);

#endif
