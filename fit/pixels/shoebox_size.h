/* How large shoeboxes are where that is left open. */
#ifndef DB_FIT_PIXELS_SHOEBOX_SIZE_H
#define DB_FIT_PIXELS_SHOEBOX_SIZE_H

#include <dualbragg/fit.h>

/* Half width of shoeboxes where spots are far apart, and of the surroundings from which the
 * background of a pixel is taken, at least. */
enum { DB_SHOEBOX_USUAL = 8 };

/* Settles settings->shoebox_half_width: where boxes are given, so that the largest fits; else, if
 * it is 0: the largest, up to the usual one, with which nine of ten boxes around the reflections
 * that the experiment predicts keep as many pixels from their neighbours as they need (see
 * db_shoeboxes_place). */
db_status db_shoebox_size_settle(db_context *context, const db_experiment *experiment,
                                 db_fit_settings *settings);

#endif
