/* Settings of goniometer and detector on the frames of a series, as files and configurations say. */
#ifndef DB_FIT_LISTS_GONIOMETER_SETTINGS_H
#define DB_FIT_LISTS_GONIOMETER_SETTINGS_H

#include "fit/lists/shot_entries.h"

/* Numbers the settings of the entries. If the orientation is to be found, and files place the circles of a goniometer, which or
 * the detector stand otherwise on some frames: gives each frame its setting relative to the first, and all frames the
 * laboratory of their files (model.expt), since image headers have no room for detectors and spindles in any direction.
 * Nothing changes if all stand alike. */
db_status db_goniometer_settings_take(db_context *context, db_fit_shot_list *list);

/* Replaces an orientation by another one of the same lattice, if this, indexed in one of the ways that keep the metric of the
 * cell, differs by less than circles are wrong; else does nothing, and returns 0. */
int db_goniometer_settings_near(db_context *context, const double cell[6], const double found[9],
                                double orientation[9]);

#endif
