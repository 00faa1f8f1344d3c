/* How the program ends when a signal ends it: its unfinished files are removed, and its parent sees
 * the signal. */
#ifndef DB_CLI_SIGNALS_H
#define DB_CLI_SIGNALS_H

/* Installs a handler for each signal that would end the program, unless the parent had it ignored
 * (as nohup does). Writing beyond the limit of file sizes (ulimit -f) fails first, as on a full
 * disk, so that it is reported like that. */
void db_signals_install(void);

/* From now on the first such signal is noted only, with a line on standard error that lives as long
 * as the program; the next one ends it. */
void db_interrupt_install(int number, const char *note);

/* The signal that was noted; 0: none. */
int db_interrupt_asked(void);

/* That handler, for handlers of others that have done what they wanted. Async-signal-safe. */
void db_end_by_signal(int number);

/* At the end of main: ends the program by the signal of a file that became too large, if one has.
 */
void db_signals_finish(void);

#endif
