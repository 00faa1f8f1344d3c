/** @file
 * An independent, slow calculation of a plan's images, for tests. */
#ifndef DUALBRAGG_EXPERT_ORACLE_H
#define DUALBRAGG_EXPERT_ORACLE_H

#include <dualbragg/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The oracle: image and derivatives by wide dual numbers in double precision, with
 * the physics of the kernels; slow. Buffers are of doubles for any pixel type.
 *
 * @param plan to execute
 * @param image receives db_plan_pixels values
 * @param derivatives parameter_count buffers
 * @return DB_OK; DB_ERROR_MEMORY or DB_ERROR_CANCELLED */
DB_API db_status db_plan_oracle(db_plan *plan, double *image, double *const *derivatives);

#ifdef __cplusplus
}
#endif
#endif
