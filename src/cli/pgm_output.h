/* The PGM picture of dualbragg sim. */
#ifndef DB_CLI_PGM_OUTPUT_H
#define DB_CLI_PGM_OUTPUT_H

#include "cli/session.h"
#include "cli/statistics.h"

/* Grey levels per photon: the user's, or 50 at the root mean square deviation, or those of the SMV
 * image. */
double db_pgm_scale(const db_settings *settings, const db_image_statistics *statistics,
                    double smv_scale);

/* Writes it, if it is wanted; says so on stdout. Reports nothing else. */
db_status db_pgm_output(const db_session *session, const db_image_statistics *statistics,
                        double smv_scale, const float *image);

#endif
