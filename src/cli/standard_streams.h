/* Standard input, output and error: there from the beginning, and known to have been written at the
 * end. */
#ifndef DB_CLI_STANDARD_STREAMS_H
#define DB_CLI_STANDARD_STREAMS_H

#include <dualbragg/status.h>

#define DB_STANDARD_INPUT "/dev/stdin"
#define DB_STANDARD_OUTPUT "/dev/stdout"

/* The name of an output as given, or DB_STANDARD_OUTPUT where it means that, as "-" does. */
const char *db_streams_output_name(const char *path);

/* Where the parent closed one of them (>&-), no file opened later must get its number, and what is
 * written to it. */
void db_streams_open(void);

/* The name of an input as given; DB_STANDARD_INPUT for "-". */
const char *db_streams_input_name(const char *path);

/* Where the path of an input is DB_STANDARD_INPUT, that becomes a file which may be read more than
 * once. Only one input may have it. path may be NULL. */
db_status db_streams_take_input(const char *command, const char *flag, const char *path);

/* Gives standard output to a file that is to be written there: what is printed from now on goes to
 * standard error. *path becomes the name under which it is written; NULL and any name but
 * DB_STANDARD_OUTPUT stay. */
db_status db_streams_give_output(const char *command, const char *flag, const char **path);

/* What was printed has arrived, or a message says that it has not; then success becomes failure.
 * Takes and returns the process's exit status. */
int db_streams_close(int exit_status);

#endif
