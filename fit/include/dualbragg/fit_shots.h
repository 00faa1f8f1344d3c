/** @file
 * Refinement of many shots that share parameters (libdualbragg_fit).
 *
 * Each shot has local quantities, such as its orientation, and all have shared ones, such as the
 * detector's place. A shot's local quantities are fitted at given shared ones; its normal matrix
 * without them (the Schur complement) is what it says about the shared ones, and the sum over shots
 * is minimized. Normal equations of all quantities would be shaped like an arrow: shots meet only
 * through what they share. Shots are read from disk; what is in memory of pixels is one shot per
 * thread. */
#ifndef DUALBRAGG_FIT_SHOTS_H
#define DUALBRAGG_FIT_SHOTS_H

#include <dualbragg/fit.h>
#include <dualbragg/fit_shot_list.h>
#include <dualbragg/fit_shots_outputs.h>

#endif
