/* Ends by signals: unfinished files are removed, and the parent sees the signal. */
#ifndef DB_CLI_SIGNALS_H
#define DB_CLI_SIGNALS_H

/* Installs a handler for each signal that ends programs, unless the parent had it ignored (as nohup does). Writing
 * beyond the limit of file sizes (ulimit -f) fails, as on a full disk, and is reported like that. */
void db_signals_install(void);

/* From now on the first such signal is only noted, with a line on standard error, which lives as long as the
 * program; the next one ends it. */
void db_interrupt_install(int number, const char *note);

/* The noted signal; 0: none. */
int db_interrupt_asked(void);

/* The ending handler, for other handlers that have done their work. Async-signal-safe. */
void db_end_by_signal(int number);

/* At the end of main: ends the program by the signal of a file that became too large, if there was one. */
void db_signals_finish(void);

#endif
