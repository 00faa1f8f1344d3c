/* Directions in the space of parameters, in words. */
#ifndef DB_FIT_VERDICT_DIRECTION_TEXT_H
#define DB_FIT_VERDICT_DIRECTION_TEXT_H

#include <dualbragg/fit.h>

enum { DB_DIRECTION_TEXT_SIZE = 256 };

/* The parameters that make it up, the largest component first: "distance +0.71 with cell_a +0.70".
 * Components below a fifth are left out. Returns text. */
const char *db_direction_text(char text[DB_DIRECTION_TEXT_SIZE], const db_fit_result *result,
                              const db_fit_direction *direction);

#endif
