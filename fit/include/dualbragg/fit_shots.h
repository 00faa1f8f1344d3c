/** @file
 * Refinement of many shots that share parameters (libdualbragg_fit).
 *
 * Each shot has local quantities, such as its orientation; all shots have
 * shared ones, such as the detector's distance. Local quantities are
 * eliminated from the normal equations of each shot (Schur complement),
 * and the sum over shots is solved for the shared ones: without this the
 * normal matrix would have the shape of an arrow. Shots are read from
 * disk; only one shot per thread has its pixels in memory. */
#ifndef DUALBRAGG_FIT_SHOTS_H
#define DUALBRAGG_FIT_SHOTS_H

#include <dualbragg/fit.h>
#include <dualbragg/fit_shot_list.h>
#include <dualbragg/fit_shots_outputs.h>

#endif
