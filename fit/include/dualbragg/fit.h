/** @file
 * Refinement of parameters against a measured image (libdualbragg_fit).
 *
 * Two kinds of model intensity:
 *  - known structure factors: model = scale x simulated image + a background in each tile of the
 *    image; scale (unless it is a parameter) and background are linear;
 *  - free: shoeboxes around predicted reflections; in each, model = J * shape + background.
 * Linear coefficients are eliminated at every evaluation (variable projection, Golub & Pereyra
 * 1973), so that only positions and shapes of the spots drive the parameters. */
#ifndef DUALBRAGG_FIT_H
#define DUALBRAGG_FIT_H

#include <dualbragg/dualbragg.h>
#include <dualbragg/fit_config.h>
#include <dualbragg/fit_orientation.h>
#include <dualbragg/fit_panel_groups.h>
#include <dualbragg/fit_parameter.h>
#include <dualbragg/fit_result.h>
#include <dualbragg/fit_run.h>
#include <dualbragg/fit_settings.h>
#include <dualbragg/fit_spots.h>
#include <dualbragg/fit_verdict.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** db_struct_size of the structs of the refinement's headers, dualbragg/fit*.h.
 *
 * @param name of the struct
 * @return bytes; 0: there is none of that name */
DB_API size_t db_fit_struct_size(const char *name);

#ifdef __cplusplus
}
#endif
#endif
