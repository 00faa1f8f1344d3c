/* Checks of an expected image. */
#ifndef DB_NOISE_EXPECTED_CHECK_H
#define DB_NOISE_EXPECTED_CHECK_H

#include "base/context_internal.h"

/* DB_ERROR_INPUT if the brightest pixel times the scale exceeds NOISE_MOST_PHOTONS. */
db_status noise_check_brightest(db_context *context, double scale, double brightest);

/* DB_ERROR_INPUT: a pixel is not finite. */
db_status noise_refuse_pixel(db_context *context, int fast, int slow, float value);

#endif
