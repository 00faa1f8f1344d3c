/* Amorphous matter on the command line: as a background of sim, grad and check, and alone in
 * dualbragg amorphous. */
#ifndef DB_CLI_AMORPHOUS_H
#define DB_CLI_AMORPHOUS_H

#include "cli/settings.h"

/* Is the command dualbragg amorphous, without a crystal? */
int db_amorphous_alone(const db_settings *settings);

/* After reading the flags: open sizes (NAN) become those of the sample, in dualbragg amorphous, or the default. */
void db_amorphous_settle(db_settings *settings);

/* Reports missing flags of dualbragg amorphous, and replaces the crystal by one that does not scatter; in other
 * commands, remarks on amounts without amplitudes. */
db_status db_amorphous_prepare(db_settings *settings);

/* Prints the amorphous matter on stdout. */
void db_amorphous_report(const db_settings *settings, const db_background *background);

#endif
