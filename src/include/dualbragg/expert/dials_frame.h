/** @file
 * Conventions of DIALS: its laboratory frame, places on a
 * panel in millimetres, numbers of images. */
#ifndef DUALBRAGG_EXPERT_DIALS_FRAME_H
#define DUALBRAGG_EXPERT_DIALS_FRAME_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The number by which experiment lists call an image that turns, as dxtbx finds it: of
 * image_0017.cbf and of image.h5#17 it is 17, of names without a number 1.
 *
 * @param context receives the message of a failure
 * @param image its name
 * @param number receives it
 * @return DB_OK or DB_ERROR_MEMORY */
DB_API db_status db_dials_image_number(db_context *context, const char *image, int *number);

/** A place on a panel in millimetres along its axes, as DIALS defines it: the place
 * where the ray meets the panel's front, by the parallax correction of dxtbx.
 *
 * @param experiment detector and sensor
 * @param panel from 0
 * @param pixels fast, slow, from the outer corner of the first pixel
 * @param millimetres receives fast, slow */
DB_API void db_dials_millimetres(const db_experiment *experiment, size_t panel,
                                 const double pixels[2], double millimetres[2]);

/** The laboratory frame that dxtbx gives simulated images, in which lists are written: x along the
 * spindle (or along the electric field where the spindle is along the
 * beam), z against the beam. An experiment whose beam is within 10 degrees
 * of -z is already in the frame of a list, and keeps it.
 *
 * @param experiment laboratory
 * @param frame rows: unit vectors x, y = z x x, and z in the laboratory */
DB_API void db_dials_frame(const db_experiment *experiment, double frame[3][3]);

#ifdef __cplusplus
}
#endif
#endif
