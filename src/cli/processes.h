/* Processes that a launcher of MPI has started. */
#ifndef DB_CLI_PROCESSES_H
#define DB_CLI_PROCESSES_H

#include <dualbragg/status.h>
#include <stddef.h>

typedef struct db_processes {
    int rank, size;
} db_processes;

/* Joins the others if a launcher started this process; else it is alone. Complains in a build without
 * MPI, where all processes would do the same work. */
db_status db_processes_join(const char *command, db_processes *all);

/* Ends MPI, if it was begun. */
void db_processes_leave(void);

/* The largest status of all processes; with one process its own. */
db_status db_processes_agree(const db_processes *all, db_status own);

/* Bytes to another process and from it. 0: failure; *bytes is to be freed. */
int db_processes_send(int to, const void *bytes, size_t size);
int db_processes_receive(int from, void **bytes, size_t *size);

#endif
