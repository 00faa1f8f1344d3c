/* --precision: the user's choice, or the library's. */
#ifndef DB_CLI_PRECISION_CHOICE_H
#define DB_CLI_PRECISION_CHOICE_H

#include "cli/session.h"

/* Settles the precision of a plan with these options, which it is written to, and prints it where
 * it was not given. Does not report failures. */
db_status db_precision_choose(db_session *session, db_plan_options *options);

#endif
