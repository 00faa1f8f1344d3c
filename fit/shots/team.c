/* Messages between the processes of a team. */
#include "fit/shots/team.h"

#include "base/context_internal.h"

#include <stdint.h>
#include <stdio.h>

static db_status ended(db_context *context, int failed) {
    return failed ? db_fail(context, DB_ERROR_DEVICE, "the processes lost touch with each other")
                  : DB_OK;
}

db_status db_team_send(const db_fit_team *team, db_context *context, int to, const void *data,
                       size_t bytes) {
    return ended(context, team->send(team->user, to, data, bytes));
}

db_status db_team_receive(const db_fit_team *team, db_context *context, int from, void *data,
                          size_t bytes) {
    return ended(context, team->receive(team->user, from, data, bytes));
}

db_status db_team_broadcast(const db_fit_team *team, db_context *context, void *data,
                            size_t bytes) {
    return team->size == 1 ? DB_OK : ended(context, team->broadcast(team->user, data, bytes));
}

/* Status of a process. */
typedef struct note {
    int32_t status;
    char message[512];
} note;

/* Collects the first failure up a binary tree to rank 0. */
static int collect_notes(const db_fit_team *team, note *first) {
    for (int step = 1; step < team->size; step *= 2) {
        note other;
        if (team->rank % (2 * step))
            return team->send(team->user, team->rank - step, first, sizeof *first);
        if (team->rank + step >= team->size) continue;
        if (team->receive(team->user, team->rank + step, &other, sizeof other) != 0) return 1;
        if (first->status == (int32_t)DB_OK) *first = other;
    }
    return 0;
}

db_status db_team_common_status(const db_fit_team *team, db_context *context, db_status status) {
    if (team->size == 1) return status;
    note first = { (int32_t)status, "" };
    if (status != DB_OK)
        snprintf(first.message, sizeof first.message, "%s", db_context_message(context));
    DB_TRY(ended(context, collect_notes(team, &first)));
    DB_TRY(db_team_broadcast(team, context, &first, sizeof first));
    if (first.status == (int32_t)DB_OK) return DB_OK;
    return db_fail(context, (db_status)first.status, "%s", first.message);
}
