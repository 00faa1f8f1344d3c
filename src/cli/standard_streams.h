/* Standard input, output and error: open from the beginning, and checked at the end. */
#ifndef DB_CLI_STANDARD_STREAMS_H
#define DB_CLI_STANDARD_STREAMS_H

#include <dualbragg/status.h>

#define DB_STANDARD_INPUT "/dev/stdin"
#define DB_STANDARD_OUTPUT "/dev/stdout"

/* The name of an output as given, or DB_STANDARD_OUTPUT for "-" and the like. */
const char *db_streams_output_name(const char *path);

/* Opens streams that the parent has closed (>&-), so that no later file gets their number and their text. */
void db_streams_open(void);

/* The name of an input as given; DB_STANDARD_INPUT for "-". */
const char *db_streams_input_name(const char *path);

/* Makes the input DB_STANDARD_INPUT a file that can be read more than once. Only one input may have this path.
 * path may be NULL. */
db_status db_streams_take_input(const char *command, const char *flag, const char *path);

/* Gives standard output to a file that is written there: later printed text goes to standard error. *path becomes
 * the name under which the file is written; NULL and names other than DB_STANDARD_OUTPUT stay. */
db_status db_streams_give_output(const char *command, const char *flag, const char **path);

/* Makes sure that printed text was written; otherwise prints a message and turns success into failure. Takes and
 * returns the exit status. */
int db_streams_close(int exit_status);

#endif
