/* Clocks. */
#ifndef DB_CLI_STOPWATCH_H
#define DB_CLI_STOPWATCH_H

#include <time.h>

/* Wall-clock time: seconds since some fixed moment. */
static inline double db_stopwatch(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of processor time of the process; at the start of the program, the time to load it, without waiting. */
static inline double db_processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }

#endif
