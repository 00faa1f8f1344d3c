/* Processes of an MPI launcher. */
#ifndef DB_CLI_PROCESSES_H
#define DB_CLI_PROCESSES_H

#include <dualbragg/status.h>
#include <stddef.h>
#include <stdint.h>

typedef struct db_processes {
    int rank, size;
} db_processes;

/* Joins the others if a launcher started this process; else it is alone. Complains in a build without MPI, where
 * all processes would do the same work. */
db_status db_processes_join(const char *command, db_processes *all);

/* Ends MPI, if it was begun. */
void db_processes_leave(void);

/* The largest status of all processes; for one process its own. */
db_status db_processes_agree(const db_processes *all, db_status own);

/* MPI counts in int: calls part for pieces of the bytes, each of at most `most`. 0: a part has failed, and is the
 * last. */
typedef int (*db_processes_part)(void *user, char *bytes, int count);
static inline int db_processes_in_parts(char *bytes, size_t size, int most, db_processes_part part,
                                        void *user) {
    for (size_t at = 0; at < size;) {
        const size_t count = size - at < (size_t)most ? size - at : (size_t)most;
        if (!part(user, bytes + at, (int)count)) return 0;
        at += count;
    }
    return 1;
}

/* Passes exactly the bytes that the other process expects. 0: failure. */
int db_processes_put(int to, const void *bytes, size_t size);
int db_processes_take(int from, void *bytes, size_t size);
int db_processes_broadcast(void *bytes, size_t size); /* bytes of process 0 */

/* Makes a counter that any process can raise while the others work, by one thread at a time. 0: none. All
 * processes call it. */
int db_processes_count_together(void);
int db_processes_claim(uint64_t add, uint64_t *before);

/* Sends bytes to another process that does not know their number, and receives them. 0: failure; *bytes is to be
 * freed. */
int db_processes_send(int to, const void *bytes, size_t size);
int db_processes_receive(int from, void **bytes, size_t *size);

#endif
