/* Formats a value with the decimals that its error allows: 2 to 19 in the last digit. */
#include "fit/report/value_with_error.h"

#include <math.h>
#include <stdio.h>

enum { MOST_DECIMALS = 15 };

const char *db_value_with_error(char text[DB_VALUE_TEXT_SIZE], double value, double error) {
    if (!(error > 0) || !isfinite(error) || !isfinite(value)) {
        snprintf(text, DB_VALUE_TEXT_SIZE, isinf(error) ? "%.7g(?)" : "%.7g", value);
        return text;
    }
    /* decimals for an error of 2 to 19 in the last digit */
    int decimals = (int)ceil(-log10(error / 2));
    double digits = round(error * pow(10, decimals));
    if (digits < 2) digits = round(error * pow(10, ++decimals));
    if (digits > 19) digits = round(error * pow(10, --decimals));
    if (decimals > MOST_DECIMALS) {
        snprintf(text, DB_VALUE_TEXT_SIZE, "%.15g(<1e-15)", value);
        return text;
    }
    if (decimals < 0) { /* an error of tens or more: digits before the point */
        const double rounded = digits * pow(10, -decimals);
        double unit = pow(10, -decimals);
        if (nearbyint(value / unit) == 0) /* it is not 0 because its error is large */
            while (unit > 1 && fabs(value) < unit) unit /= 10;
        snprintf(text, DB_VALUE_TEXT_SIZE, "%.10g(%.10g)", nearbyint(value / unit) * unit, rounded);
        return text;
    }
    snprintf(text, DB_VALUE_TEXT_SIZE, "%.*f(%.0f)", decimals, value, digits);
    return text;
}
