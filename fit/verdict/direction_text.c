#include "fit/verdict/direction_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMED = 4 };
static const double LEAST_NAMED = 0.2;

const char *db_direction_text(char text[DB_DIRECTION_TEXT_SIZE], const db_fit_result *result,
                              const db_fit_direction *direction) {
    unsigned char named[DB_FIT_MOST_PARAMETERS] = { 0 };
    size_t length = 0;
    text[0] = '\0';
    for (int n = 0; n < MOST_NAMED; n++) {
        size_t next = result->parameter_count;
        for (size_t i = 0; i < result->parameter_count; i++)
            if (!named[i] && fabs(direction->component[i]) >= LEAST_NAMED &&
                (next == result->parameter_count ||
                 fabs(direction->component[i]) > fabs(direction->component[next])))
                next = i;
        if (next == result->parameter_count) break;
        named[next] = 1;
        const int printed =
            snprintf(text + length, DB_DIRECTION_TEXT_SIZE - length, "%s%s %+.2f",
                     n == 0 ? "" : " with ", result->name[next], direction->component[next]);
        if (printed < 0 || (size_t)printed >= DB_DIRECTION_TEXT_SIZE - length) break;
        length += (size_t)printed;
    }
    return text;
}
