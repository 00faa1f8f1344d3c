/* Messages between the processes of a team. All of them call these in the same order; a team of one has
 * nothing to say. */
#ifndef DB_FIT_SHOTS_TEAM_H
#define DB_FIT_SHOTS_TEAM_H

#include <dualbragg/fit_shots.h>

/* Bytes to another process, and from it. */
db_status db_team_send(const db_fit_team *team, db_context *context, int to, const void *data,
                       size_t bytes);
db_status db_team_receive(const db_fit_team *team, db_context *context, int from, void *data,
                          size_t bytes);

/* Gives all processes the data of rank 0. */
db_status db_team_broadcast(const db_fit_team *team, db_context *context, void *data, size_t bytes);

/* DB_OK if all processes call it with DB_OK; otherwise the failure of the first of them, with its
 * message, in all. */
db_status db_team_common_status(const db_fit_team *team, db_context *context, db_status status);

#endif
