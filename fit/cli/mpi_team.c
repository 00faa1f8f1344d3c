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

static int broadcast(void *user, void *data, size_t bytes) {
    (void)user;
    return bytes > INT_MAX ||
           MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
}

#endif

db_status db_mpi_team_join(db_fit_team *team) {
    db_processes all;
    *team = (db_fit_team){ .size = 1 };
    DB_TRY(db_processes_join("fit", &all));
    team->rank = all.rank;
    team->size = all.size;
#ifdef DB_HAVE_MPI
    static db_fit_team own;
    if (all.size == 1) return DB_OK;
    team->gather = gather;
    team->broadcast = broadcast;
    own = *team;
    team->user = &own;
#endif
    return DB_OK;
}

void db_mpi_team_leave(void) { db_processes_leave(); }
