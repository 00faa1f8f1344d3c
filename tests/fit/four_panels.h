/* An image on four panels, two by two, with a known answer. */
#ifndef TESTS_FIT_FOUR_PANELS_H
#define TESTS_FIT_FOUR_PANELS_H

#include <dualbragg/fit.h>

enum { FOUR_PANELS_PIXELS = 500 }; /* of the detector, along fast and slow */

/* The crystal of rendered_experiment on a detector cut into four. Clear it with
 * db_experiment_clear. */
db_status four_panels_experiment(db_context *context, double peak, db_experiment *e);

/* Its image on a background of 5 photons, panels one below the other; seed 0: without noise. Clear
 * it with db_measured_image_clear. */
db_status four_panels_image(db_context *context, const db_experiment *e, unsigned long seed,
                            db_measured_image *image);

/* Every panel is a group: panel_0, panel_1 ... */
void four_panels_groups(db_fit_settings *settings);

/* Refines a motion of a group of panels, without bounds. */
void refine_motion(db_fit_settings *settings, db_parameter motion, int group);

#endif
