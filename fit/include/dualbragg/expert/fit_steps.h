/** @file
 * Single steps of configurations and db_fit_run. */
#ifndef DUALBRAGG_EXPERT_FIT_STEPS_H
#define DUALBRAGG_EXPERT_FIT_STEPS_H

#include <dualbragg/fit_config.h>
#include <dualbragg/fit_run.h>
#include <dualbragg/fit_shot_list.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Takes wavelength, distance, pixel size and count, beam centre, polarization, two-theta, sensor
 * and oscillation range from an image's header into a setup, wherever the setup has NAN (counts:
 * 0). The beam centre is converted to the meaning that the setup's convention gives it; what
 * neither knows stays open.
 *
 * @param context receives the message of a failure
 * @param image with the values of its header
 * @param setup completed
 * @return DB_OK or an error */
DB_API db_status db_setup_from_image(db_context *context, const db_measured_image *image,
                                     db_setup *setup);

/** Reads lines "h k l", or "fast slow" or "fast slow panel" (panels from 0), or "panel fast_min
 * fast_max slow_min slow_max", perhaps followed by "h k l" (boxes, inclusive). Further columns of
 * the first two, blank lines and comments after '#' are ignored. Or reads a reflection table of DIALS
 * (.refl): miller_index of indexed reflections, or xyzobs.px.value and panel, or bbox, panel and the
 * miller_index of indexed reflections; if the table has several experiments, of number `experiment`
 * (from 0). Clear it with db_fit_spots_clear.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param listing content of the lines
 * @param experiment number in a table of several experiments, from 0; -1: there is one
 * @param spots overwritten; owns the list
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; *spots then owns nothing */
DB_API db_status db_fit_spots_read(db_context *context, const char *path, db_fit_listing listing,
                                   int experiment, db_fit_spots *spots);

/** The configuration of one shot by itself.
 *
 * @param context receives the message of a failure
 * @param list the shots
 * @param shot its number, from 0
 * @param config initialized or all zeros before; replaced; to be cleared by the caller
 * @return DB_OK or an error */
DB_API db_status db_fit_shot_list_config(db_context *context, const db_fit_shot_list *list,
                                         size_t shot, db_fit_config *config);

#ifdef __cplusplus
}
#endif
#endif
