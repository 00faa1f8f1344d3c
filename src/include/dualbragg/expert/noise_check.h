/** @file
 * Options of noise, checked. */
#ifndef DUALBRAGG_EXPERT_NOISE_CHECK_H
#define DUALBRAGG_EXPERT_NOISE_CHECK_H

#include <dualbragg/noise.h>

#ifdef __cplusplus
extern "C" {
#endif

/** DB_OK, or DB_ERROR_USAGE or DB_ERROR_INPUT with a message naming the first option out of range.
 *
 * @param context receives the message of a failure
 * @param options to check
 * @return DB_OK, DB_ERROR_USAGE or DB_ERROR_INPUT */
DB_API db_status db_noise_check(db_context *context, const db_noise_options *options);

#ifdef __cplusplus
}
#endif
#endif
