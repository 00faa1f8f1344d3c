/* A refinement of a single image whose strong pixels may be known. */
#ifndef DB_FIT_RUN_H
#define DB_FIT_RUN_H

#include "fit/pixels/strong_pixels.h"

#include <dualbragg/fit_shots.h>

/* As db_fit_run. strong: memory of the image of a single shot, which the refinement takes over; NULL: none. */
db_status db_fit_run_with(db_context *context, const db_fit_shot_source *source,
                          const db_fit_settings *settings, const db_fit_shots_options *options,
                          db_strong_memory *strong, db_fit_shots_result **result);

#endif
