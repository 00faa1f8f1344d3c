/** @file
 * Defaults of a set-up: beam centre and number of sub-pixels. */
#ifndef DUALBRAGG_EXPERT_SETUP_DEFAULTS_H
#define DUALBRAGG_EXPERT_SETUP_DEFAULTS_H

#include <dualbragg/setup.h>

#ifdef __cplusplus
extern "C" {
#endif

/** X, Y of the direct beam in the meaning of the setup's convention (mm), defaults filled in, as
 * the user gave them: for the reference's image headers (db_smv_style).
 *
 * @param context receives the message of a failure
 * @param setup to ask
 * @param centre receives X, Y (mm)
 * @return DB_OK; DB_ERROR_INPUT where it cannot be told */
DB_API db_status db_setup_beam_centre(db_context *context, const db_setup *setup, double centre[2]);

/** The recommended number of sub-pixels: three per fringe, where pixels look widest from the sample;
 * see docs/theory/pixel.md, Number of sub-pixels.
 *
 * @param experiment to render
 * @return sub-pixels along an edge, 1 or more */
DB_API int db_recommended_oversample(const db_experiment *experiment);

/** Name as on the command line ("mosflm" ...); NULL if out of range.
 *
 * @param convention which
 * @return static storage */
DB_API const char *db_convention_name(db_convention convention);

#ifdef __cplusplus
}
#endif
#endif
