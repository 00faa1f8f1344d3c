#include "cli/stopwatch.h"

#include <time.h>

double db_stopwatch(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double db_processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }
