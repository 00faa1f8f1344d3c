/* Open choices of a configuration: refined parameters, if it has no section refine: all that images can determine;
 * and sizes and spreads of the crystal, which start at the widths of the spots. */
#ifndef DB_FIT_SEARCH_AUTOMATIC_H
#define DB_FIT_SEARCH_AUTOMATIC_H

#include "fit/pixels/observed_spots.h"

/* Adds the parameters to the settings. */
db_status db_fit_choose_parameters(db_context *context, db_fit_config *config,
                                   const db_experiment *start);

/* Is the parameter a turn of the detector about the axis nearest to the beam? */
int db_turns_about_beam(const db_experiment *start, db_parameter parameter);

/* Is the part of the Ewald sphere that the detector sees so flat that places of spots do not tell the distance from the
 * size of the cell, and hardly tilts from the orientation? */
db_status db_fit_sphere_is_flat(db_context *context, const db_experiment *start, int *is_flat);

/* Sets open sizes and spreads of the start. */
db_status db_fit_start_widths(db_context *context, const db_fit_config *config,
                              db_image_spots *spots, db_experiment *start);

#endif
