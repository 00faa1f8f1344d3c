/* Checks of spots in closed form against samples, for all scenes. */
#ifndef DB_TESTS_SPOTS_CONVERGENCE_H
#define DB_TESTS_SPOTS_CONVERGENCE_H

#include "scenes.h"

/* Independent samples: the program's image is their mean within their own statistical error, and
 * comes nearer as one over the root of their number. draws: a multiple of 256. */
void samples_converge(db_context *context, const spot_scene *scene, int draws);

/* What first order leaves out is at most the scene's `bias` (in parts of the peak); lattice points:
 * 8 times 2^log2_points. precise: how well that has to be known, in parts of `bias`. */
void first_order_suffices(db_context *context, const spot_scene *scene, int log2_points,
                          double precise);

#endif
