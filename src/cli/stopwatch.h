/* Wall-clock time. */
#ifndef DB_CLI_STOPWATCH_H
#define DB_CLI_STOPWATCH_H

/* Seconds since some fixed moment. */
double db_stopwatch(void);

#endif
