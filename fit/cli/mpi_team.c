/* Processes of MPI as a team. */
#include "fit/cli/mpi_team.h"

#include "base/context_internal.h"
#include "cli/processes.h"

#include <limits.h>
#include <stdlib.h>

#ifdef DB_HAVE_MPI
/* The C++ bindings that mpi.h offers are not wanted. */
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

#ifdef DB_HAVE_MPI
static int gather(void *user, const void *own, const size_t *bytes, void *all) {
    const db_fit_team *const team = user;
    int *const count = malloc(2 * (size_t)team->size * sizeof *count);
    size_t sum = 0;
    int failed = count == NULL;
    for (int r = 0; r < team->size && !failed; r++) {
        failed = bytes[r] > INT_MAX - sum;
        count[r] = (int)bytes[r];
        count[team->size + r] = (int)sum;
        sum += bytes[r];
    }
    if (!failed)
        failed = MPI_Allgatherv(own, count[team->rank], MPI_BYTE, all, count, count + team->size,
                                MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS;
    free(count);
    return failed;
}

#endif

static int broadcast(void *user, void *data, size_t bytes) {
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

db_status db_mpi_team_join(db_fit_team *team) {
    db_processes all;
    *team = (db_fit_team){ .size = 1 };
    DB_TRY(db_processes_join("fit", &all));
    team->rank = all.rank;
    team->size = all.size;
    team->broadcast = broadcast;
    team->send = send_to;
    team->receive = receive_from;
#ifdef DB_HAVE_MPI
    static db_fit_team own;
    if (all.size == 1) return DB_OK;
    team->gather = gather;
    own = *team;
    team->user = &own;
#endif
    return DB_OK;
}

void db_mpi_team_leave(void) { db_processes_leave(); }
