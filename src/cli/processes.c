/* Processes of MPI. */
#include "cli/processes.h"

#include "base/device.h"
#include "cli/complaint.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef DB_HAVE_MPI
/* leaves out the C++ bindings of mpi.h */
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

/* Was this process launched? Variables are from mpirun of Open MPI, of MPICH and its relatives, and from srun with
 * PMIx. */
static int was_launched(void) {
    static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return 1;
    return 0;
}

#ifdef DB_HAVE_MPI
enum { MOST_AT_ONCE = 1 << 30 };

/* In the memory of process 0; MPI_WIN_NULL: none. */
static MPI_Win counter = MPI_WIN_NULL;

db_status db_processes_join(const char *command, db_processes *all) {
    int provided = 0;
    *all = (db_processes){ 0, 1 };
    if (!was_launched()) return DB_OK;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return db_complain(command, DB_ERROR_DEVICE, "MPI does not start");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &all->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all->size);
    MPI_Comm machine;
    int rank = 0;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) ==
        MPI_SUCCESS) {
        MPI_Comm_rank(machine, &rank);
        MPI_Comm_free(&machine);
        db_device_set_local_rank(rank);
    }
    return DB_OK;
}

void db_processes_leave(void) {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    if (begun) MPI_Finalized(&ended);
    if (begun && !ended && counter != MPI_WIN_NULL) {
        MPI_Win_unlock_all(counter);
        MPI_Win_free(&counter);
    }
    if (begun && !ended) MPI_Finalize();
}

db_status db_processes_agree(const db_processes *all, db_status own) {
    int mine = (int)own, worst = (int)own;
    if (all->size > 1 &&
        MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS)
        return DB_ERROR_DEVICE;
    return (db_status)worst;
}

int db_processes_count_together(void) {
    int begun = 0, threads = 0, rank = 0, whole;
    uint64_t *memory;
    MPI_Initialized(&begun);
    if (!begun) return 0;
    MPI_Query_thread(&threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    whole = threads >= MPI_THREAD_SERIALIZED && counter == MPI_WIN_NULL &&
            MPI_Win_allocate(rank == 0 ? sizeof *memory : 0, sizeof *memory, MPI_INFO_NULL,
                             MPI_COMM_WORLD, &memory, &counter) == MPI_SUCCESS;
    if (whole) {
        MPI_Win_set_errhandler(counter, MPI_ERRORS_RETURN);
        whole = MPI_Win_lock_all(0, counter) == MPI_SUCCESS;
        if (rank == 0) *memory = 0;
        if (rank == 0) MPI_Win_sync(counter);
    }
    int all = 0;
    return MPI_Allreduce(&whole, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS && all;
}

int db_processes_claim(uint64_t add, uint64_t *before) {
    return MPI_Fetch_and_op(&add, before, MPI_UINT64_T, 0, 0, MPI_SUM, counter) == MPI_SUCCESS &&
           MPI_Win_flush(0, counter) == MPI_SUCCESS;
}

enum { SIZE_TAG, BYTES_TAG };

static int put_part(void *user, char *bytes, int count) {
    const int *const to = user;
    return MPI_Send(bytes, count, MPI_BYTE, *to, BYTES_TAG, MPI_COMM_WORLD) == MPI_SUCCESS;
}

static int take_part(void *user, char *bytes, int count) {
    const int *const from = user;
    return MPI_Recv(bytes, count, MPI_BYTE, *from, BYTES_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
           MPI_SUCCESS;
}

static int broadcast_part(void *user, char *bytes, int count) {
    (void)user;
    return MPI_Bcast(bytes, count, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
}

int db_processes_put(int to, const void *bytes, size_t size) {
    return db_processes_in_parts((char *)(uintptr_t)bytes, size, MOST_AT_ONCE, put_part, &to);
}

int db_processes_take(int from, void *bytes, size_t size) {
    return db_processes_in_parts(bytes, size, MOST_AT_ONCE, take_part, &from);
}

int db_processes_broadcast(void *bytes, size_t size) {
    return db_processes_in_parts(bytes, size, MOST_AT_ONCE, broadcast_part, NULL);
}

int db_processes_send(int to, const void *bytes, size_t size) {
    const uint64_t total = size;
    return MPI_Send(&total, 1, MPI_UINT64_T, to, SIZE_TAG, MPI_COMM_WORLD) == MPI_SUCCESS &&
           db_processes_put(to, bytes, size);
}

int db_processes_receive(int from, void **bytes, size_t *size) {
    uint64_t total = 0;
    *bytes = NULL;
    if (MPI_Recv(&total, 1, MPI_UINT64_T, from, SIZE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return 0;
    char *const room = malloc(total ? (size_t)total : 1);
    if (!room) return 0;
    if (!db_processes_take(from, room, (size_t)total)) {
        free(room);
        return 0;
    }
    *bytes = room;
    *size = (size_t)total;
    return 1;
}
#else
db_status db_processes_join(const char *command, db_processes *all) {
    *all = (db_processes){ 0, 1 };
    if (!was_launched()) return DB_OK;
    return db_complain(command, DB_ERROR_UNSUPPORTED,
                       "started by a launcher of MPI, but this build has no MPI");
}

void db_processes_leave(void) {}

db_status db_processes_agree(const db_processes *all, db_status own) {
    (void)all;
    return own;
}

int db_processes_send(int to, const void *bytes, size_t size) {
    (void)to;
    (void)bytes;
    (void)size;
    return 0;
}

int db_processes_receive(int from, void **bytes, size_t *size) {
    (void)from;
    (void)size;
    *bytes = NULL;
    return 0;
}

int db_processes_put(int to, const void *bytes, size_t size) {
    (void)to;
    (void)bytes;
    (void)size;
    return 0;
}

int db_processes_take(int from, void *bytes, size_t size) {
    (void)from;
    (void)bytes;
    (void)size;
    return 0;
}

int db_processes_broadcast(void *bytes, size_t size) {
    (void)bytes;
    (void)size;
    return 0;
}

int db_processes_count_together(void) { return 0; }

int db_processes_claim(uint64_t add, uint64_t *before) {
    (void)add;
    (void)before;
    return 0;
}
#endif
