/* Clocks. */
#ifndef DB_CLI_STOPWATCH_H
#define DB_CLI_STOPWATCH_H

/* Wall-clock time: seconds since some fixed moment. */
double db_stopwatch(void);

/* Seconds of processor time that the process has taken. At the start of the program: what it took
 * to load it, but for waiting. */
double db_processor_time(void);

#endif
