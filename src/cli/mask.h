/* Pixels to leave out: flag -mask. */
#ifndef DB_CLI_MASK_H
#define DB_CLI_MASK_H

#include "cli/session.h"

/* Fills the session's mask, if the flags named one, and its list of regions to render: the region
 * of interest, or rectangles of pixels that count. Reports errors. */
db_status db_mask_open(db_session *session);
void db_mask_close(db_session *session);

/* Sets the pixels that are left out to 0, inside the region of interest and outside. */
void db_mask_apply(const db_session *session, float *image);

#endif
