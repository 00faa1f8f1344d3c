/* Messages between the processes of a team. All processes call these functions in the same order; a team of one
 * sends nothing. */
#ifndef DB_FIT_SHOTS_TEAM_H
#define DB_FIT_SHOTS_TEAM_H

#include <dualbragg/fit_shots.h>

/* Sends bytes to another process, and receives them. */
db_status db_team_send(const db_fit_team *team, db_context *context, int to, const void *data,
                       size_t bytes);
db_status db_team_receive(const db_fit_team *team, db_context *context, int from, void *data,
                          size_t bytes);

/* Gives all processes the data of rank 0. */
db_status db_team_broadcast(const db_fit_team *team, db_context *context, void *data, size_t bytes);

/* DB_OK if all processes call it with DB_OK; otherwise the first failure, with its message, in all of them. */
db_status db_team_common_status(const db_fit_team *team, db_context *context, db_status status);

#endif
