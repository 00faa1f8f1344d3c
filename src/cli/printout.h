/* What pixels are made of, on stdout: -printout in the reference's form, -trace_pixel in our own.
 */
#ifndef DB_CLI_PRINTOUT_H
#define DB_CLI_PRINTOUT_H

#include "cli/session.h"

/* Reports pixels asked for that are not rendered; returns DB_OK if there are none. */
db_status db_printout_check(const db_session *session);

/* Prints what was asked for, with --quiet, too. image: of the whole panel, rendered. */
db_status db_printout(const db_session *session, const float *image);

#endif
