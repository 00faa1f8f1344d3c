/* What is going to be rendered, on stdout, in the order and form of the reference where it says the
 * same: scripts read it. */
#ifndef DB_CLI_REPORT_H
#define DB_CLI_REPORT_H

#include "cli/session.h"

/* Convention, cell, sources, detector ... Nothing with --quiet. Reports a failure itself. */
db_status db_report_experiment(db_session *session);

#endif
