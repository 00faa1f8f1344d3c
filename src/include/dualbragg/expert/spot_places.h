/** @file
 * Places of spots, and the number of sub-pixels that they need. */
#ifndef DUALBRAGG_EXPERT_SPOT_PLACES_H
#define DUALBRAGG_EXPERT_SPOT_PLACES_H

#include <dualbragg/spots.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Default error of a pixel relative to its spot's peak along each
 * axis: the error for spots that are 1.25 sub-pixels wide (rms). */
#define DB_SPOT_SHAPE_ERROR (1 / (960 * 1.25 * 1.25 * 1.25 * 1.25))

/** Sub-pixels along each edge of a pixel (db_experiment.oversample)
 * for spots in closed form: the fewest, at most 4, with an error
 * below `error` for nine of ten spots (docs/theory/spots.md, Limits).
 *
 * @param context receives the message of a failure
 * @param spots predicted ones
 * @param error in parts of a spot's peak, above 0: DB_SPOT_SHAPE_ERROR, or as much as the data allow
 * @param oversample receives the number; 1 without spots
 * @param width receives the standard deviation along the short axis that nine of ten spots have at
 *     least (pixels); INFINITY without spots
 * @return DB_OK; DB_ERROR_USAGE; DB_ERROR_MEMORY */
DB_API db_status db_spots_oversample(db_context *context, const db_predicted_spots *spots,
                                     double error, int *oversample, double *width);

/** Sub-pixels along each edge of a pixel for the photons of spots in closed form: the fewest, at most
 * `most`, whose sum over each of nine of ten spots is wrong by at most `error`
 * (docs/theory/spots.md, Limits).
 *
 * @param context receives the message of a failure
 * @param spots predicted ones
 * @param error in parts of a spot's photons
 * @param most the largest number
 * @param oversample receives the number; 1 without spots
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_spots_oversample_for_sums(db_context *context, const db_predicted_spots *spots,
                                              double error, int most, int *oversample);

/** Completes spots with given hkl and panel, at any distance
 * of their nodes from the Ewald sphere, also beside the panel.
 *
 * @param context receives the message of a failure
 * @param experiment with spots in closed form
 * @param photons 0: photons are not needed, and set to NAN; that is cheaper. Of a still of one source recorded parts and
 *     wavelengths are NAN, too.
 * @param spot `count` spots; photons and position of one that cannot be seen are 0 and NAN
 * @param count their number
 * @return DB_OK; DB_ERROR_UNSUPPORTED where spots are sampled; DB_ERROR_INPUT; DB_ERROR_MEMORY */
DB_API db_status db_spots_place(db_context *context, const db_experiment *experiment, int photons,
                                db_spot *spot, size_t count);

/** Writes a list of spots as text, a line of columns for each after a header whose lines begin with
 * #, or as JSON where the file's name ends in .json.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param list to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_write_spots(db_context *context, const char *path,
                                const db_predicted_spots *list);

#ifdef __cplusplus
}
#endif
#endif
