/* --profile: the record of a session. */
#ifndef DB_CLI_PROFILE_OUTPUT_H
#define DB_CLI_PROFILE_OUTPUT_H

#include "cli/session.h"

/* Starts the record if one is asked for. entered: db_stopwatch, before: db_processor_time, both at
 * the start of the program. */
db_status db_profile_open(db_session *session, double entered, double before);

/* Writes the file and prints the table if the run went well, and frees the record. Returns
 * `status`, or the failure to write. */
db_status db_profile_close(db_session *session, db_status status);

#endif
