/* Spreads of spots in closed form, for the report. */
#ifndef DB_CLI_REPORT_SPREAD_H
#define DB_CLI_REPORT_SPREAD_H

#include <dualbragg/experiment.h>

/* Prints standard deviations of the spreads that are not 0, a line each. */
void db_report_closed_spots(const db_experiment *experiment, int digits);

#endif
