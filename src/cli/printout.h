/* Contributions to pixels, on stdout: -printout in the reference's form, -trace_pixel in our own. */
#ifndef DB_CLI_PRINTOUT_H
#define DB_CLI_PRINTOUT_H

#include "cli/session.h"

/* Reports pixels that are not rendered; returns DB_OK if there are none. */
db_status db_printout_check(const db_session *session);

/* Prints the pixels, also with --quiet. image: of the whole panel, rendered. */
db_status db_printout(const db_session *session, const float *image);

#endif
