/* The samples' part of the report: layers, angles, wavelengths, sources. */
#ifndef DB_CLI_REPORT_BEAM_H
#define DB_CLI_REPORT_BEAM_H

#include "cli/session.h"

/* The grid that the sources of divergence and dispersion stand on. */
typedef struct db_source_grid {
    size_t directions, wavelengths; /* numbers of them */
    double step[2];                 /* horizontal, vertical divergence (radian); 0: one point */
} db_source_grid;
db_source_grid db_source_grid_of(const db_beam *beam);

/* Lists of everything a pixel is summed over. Reports a failure itself. */
db_status db_report_samples(const db_session *session);

#endif
