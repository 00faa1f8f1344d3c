#include "noise/expected_check.h"

#include "noise/noise_work.h"

db_status noise_refuse_pixel(db_context *context, int fast, int slow, float value) {
    return db_fail(context, DB_ERROR_INPUT,
                   "pixel (fast %d, slow %d): expected a finite number, found %g", fast, slow,
                   (double)value);
}

db_status noise_check_brightest(db_context *context, double scale, double brightest) {
    if (brightest * scale < NOISE_MOST_PHOTONS) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "scale of the expected image: %g makes the brightest pixel, %g, too large",
                   scale, brightest);
}
