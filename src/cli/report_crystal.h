/* The crystal's parts of the report. */
#ifndef DB_CLI_REPORT_CRYSTAL_H
#define DB_CLI_REPORT_CRYSTAL_H

#include "cli/session.h"

/* Cell, lattice vectors, size. */
void db_report_crystal(db_session *session);

/* Which files structure factors come from and go to. */
void db_report_structure_factors(const db_session *session);

#endif
