/* Detectors of one panel whose modules are refined. */
#ifndef DB_FIT_CONFIG_DETECTOR_MODULES_H
#define DB_FIT_CONFIG_DETECTOR_MODULES_H

#include <dualbragg/fit.h>
#include <dualbragg/expert/modules.h>

/* The modules of an experiment's only panel, as data.modules or else its size says. *found 0: it has
 * several panels, or is none that is known. Modules that do not fill the panel are an error. */
db_status db_fit_find_modules(db_context *context, const db_fit_config *config,
                              const db_experiment *experiment, db_module_grid *grid, int *found);

/* Cuts the only panel of a detector where groups of panels name others. *grid (may be NULL) is
 * filled then; *cut 0: it stays. */
db_status db_fit_cut_detector(db_context *context, const db_fit_config *config,
                              db_experiment *experiment, db_module_grid *grid, int *cut);

#endif
