/* What an expected image must not hold. */
#ifndef DB_NOISE_EXPECTED_CHECK_H
#define DB_NOISE_EXPECTED_CHECK_H

#include "base/context_internal.h"

/* DB_ERROR_INPUT where the brightest pixel times the scale is beyond NOISE_MOST_PHOTONS. */
db_status noise_check_brightest(db_context *context, double scale, double brightest);

/* DB_ERROR_INPUT: a pixel that is no finite number. */
db_status noise_refuse_pixel(db_context *context, int fast, int slow, float value);

#endif
