/* What is going to be rendered and what came out, on stdout, in the order and form of the reference
 * where it says the same. */
#ifndef DB_CLI_REPORT_H
#define DB_CLI_REPORT_H

#include "cli/session.h"
#include "cli/statistics.h"

/* Convention, cell, sources, detector ... Nothing with --quiet. */
void db_report_experiment(const db_session *session);

/* The brightest pixel, mean, rms, rmsd. */
void db_report_statistics(const db_session *session, const db_image_statistics *statistics);

#endif
