/* Processes of MPI as a team. */
#include "fit/cli/mpi_team.h"

#include "base/context_internal.h"
#include "cli/processes.h"

static int broadcast_bytes(void *user, void *data, size_t bytes) {
    (void)user;
    return !db_processes_broadcast(data, bytes);
}

static int send_to(void *user, int to, const void *data, size_t bytes) {
    (void)user;
    return !db_processes_put(to, data, bytes);
}

static int receive_from(void *user, int from, void *data, size_t bytes) {
    (void)user;
    return !db_processes_take(from, data, bytes);
}

static int claim_count(void *user, uint64_t add, uint64_t *before) {
    (void)user;
    return !db_processes_claim(add, before);
}

db_status db_mpi_team_join(db_fit_team *team) {
    db_processes all;
    *team = (db_fit_team){ .size = 1 };
    DB_TRY(db_processes_join("fit", &all));
    *team = (db_fit_team){ .rank = all.rank,
                           .size = all.size,
                           .broadcast = broadcast_bytes,
                           .send = send_to,
                           .receive = receive_from,
                           .claim = db_processes_count_together() ? claim_count : NULL };
    return DB_OK;
}

void db_mpi_team_leave(void) { db_processes_leave(); }
