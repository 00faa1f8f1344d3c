/* Flags -mask, -img and -expt: the header of an image or an experiment list stands where defaults
 * would. */
#ifndef DB_CLI_HEADERS_H
#define DB_CLI_HEADERS_H

#include "cli/session.h"

/* Makes the settings anew, if the flags named such files: from the header of the mask, then that of
 * the image, then the experiment list, then by the flags, which win. Reports errors. */
db_status db_headers_take(db_session *session, int argc, char **argv);

#endif
