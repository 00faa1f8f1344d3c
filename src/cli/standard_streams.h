/* Standard input, output and error: there from the beginning, and known to have been written at the
 * end. */
#ifndef DB_CLI_STANDARD_STREAMS_H
#define DB_CLI_STANDARD_STREAMS_H

/* Where the parent closed one of them (>&-), no file opened later must get its number, and what is
 * written to it. */
void db_streams_open(void);

/* What was printed has arrived, or a message says that it has not; then success becomes failure.
 * Takes and returns the process's exit status. */
int db_streams_close(int exit_status);

#endif
