/* Amorphous matter on the command line: as a background of sim, grad and check, and alone in
 * dualbragg amorphous. */
#ifndef DB_CLI_AMORPHOUS_H
#define DB_CLI_AMORPHOUS_H

#include "cli/settings.h"

/* 1 in dualbragg amorphous, where there is no crystal. */
int db_amorphous_alone(const db_settings *settings);

/* After the flags are read, before which sizes are open (NAN): sizes not given are those of the
 * sample, in dualbragg amorphous, or the default. */
void db_amorphous_settle(db_settings *settings);

/* Reports what is missing in dualbragg amorphous, and puts in place of the crystal one that
 * scatters nothing; elsewhere, remarks on amounts given without amplitudes. */
db_status db_amorphous_prepare(db_settings *settings);

/* What there is of it, on stdout. */
void db_amorphous_report(const db_settings *settings, const db_background *background);

#endif
