/* Processes of MPI as a team. */
#include "fit/cli/mpi_team.h"

#include "cli/complaint.h"

#include <limits.h>
#include <stdlib.h>

#ifdef DB_HAVE_MPI
/* The C++ bindings that mpi.h offers are not wanted. */
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

/* Set by mpirun of Open MPI, of MPICH and its relatives, and by srun with PMIx. */
static int was_launched(void) {
    static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return 1;
    return 0;
}

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

db_status db_mpi_team_join(db_fit_team *team) {
    static db_fit_team own;
    int provided = 0;
    *team = (db_fit_team){ .size = 1 };
    if (!was_launched()) return DB_OK;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return db_complain("fit", DB_ERROR_DEVICE, "MPI does not start");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &team->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team->size);
    team->gather = gather;
    team->broadcast = broadcast;
    own = *team;
    team->user = &own;
    return DB_OK;
}

void db_mpi_team_leave(void) {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    if (begun) MPI_Finalized(&ended);
    if (begun && !ended) MPI_Finalize();
}
#else
db_status db_mpi_team_join(db_fit_team *team) {
    *team = (db_fit_team){ .size = 1 };
    if (!was_launched()) return DB_OK;
    return db_complain("fit", DB_ERROR_UNSUPPORTED,
                       "started by a launcher of MPI, but this build has no MPI");
}

void db_mpi_team_leave(void) {}
#endif
