/* Detectors with one panel whose modules are refined. */
#ifndef DB_FIT_CONFIG_DETECTOR_MODULES_H
#define DB_FIT_CONFIG_DETECTOR_MODULES_H

#include <dualbragg/fit.h>
#include <dualbragg/expert/modules.h>

/* Modules of an experiment's only panel, from data.modules or from its size. *found 0: it has several panels, or
 * its size is not known. Modules that do not fill the panel are an error. */
db_status db_fit_find_modules(db_context *context, const db_fit_config *config,
                              const db_experiment *experiment, db_module_grid *grid, int *found);

/* Cuts the only panel of a detector if groups of panels name others. It then fills *grid (may be NULL); *cut 0:
 * the panel stays. */
db_status db_fit_cut_detector(db_context *context, const db_fit_config *config,
                              db_experiment *experiment, db_module_grid *grid, int *cut);

#endif
