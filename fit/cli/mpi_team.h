/* Processes that mpirun has started, as a team. */
#ifndef DB_FIT_CLI_MPI_TEAM_H
#define DB_FIT_CLI_MPI_TEAM_H

#include <dualbragg/fit_shots.h>

/* Joins the other processes if a launcher of MPI started this one; otherwise *team is this process
 * alone. Complains in a build without MPI, where all processes would do the same work. */
db_status db_mpi_team_join(db_fit_team *team);

/* Ends MPI, if it was begun. */
void db_mpi_team_leave(void);

#endif
