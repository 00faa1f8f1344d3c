/* Processes that are threads. */
#ifndef DB_TESTS_FIT_MADE_UP_TEAM_H
#define DB_TESTS_FIT_MADE_UP_TEAM_H

#include <dualbragg/fit_shots.h>

enum { MOST_MEMBERS = 8 };

/* What a member has sent and received. */
typedef struct team_traffic {
    size_t messages, bytes; /* sent to others */
    size_t received;        /* bytes */
} team_traffic;

/* Runs work(user, team) once for each of `size` members, at the same time. claims: 1: they have a counter.
 * traffic: of each member; or NULL. */
void made_up_team_run(int size, int claims, void (*work)(void *user, const db_fit_team *team),
                      void *user, team_traffic *traffic);

#endif
