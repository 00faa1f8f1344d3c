/* Tickets: what calls of plans of different threads would copy and start, handed in to be submitted
 * together. */
#ifndef DB_CUDA_GANG_H
#define DB_CUDA_GANG_H

#include "cuda/arguments.h"
#include "cuda/runtime.h"

#include <pthread.h>

enum { DB_CUDA_MOST_SENT = 24, DB_CUDA_MOST_STARTED = 3, DB_CUDA_MOST_FETCHED = 2 };

typedef struct db_cuda_copied {
    void *to;
    const void *from;
    size_t bytes;
} db_cuda_copied;

typedef struct db_cuda_started {
    const void *kernel; /* of one job; there is one of the same body for many */
    uint32_t threads;   /* of a block */
    size_t bytes;       /* of a block's own memory */
    db_cuda_arguments arguments;
} db_cuda_started;

/* Of one call: pieces go to the device, kernels are started in their order, pieces come back. */
typedef struct db_cuda_ticket {
    db_cuda_copied sent[DB_CUDA_MOST_SENT];
    db_cuda_started started[DB_CUDA_MOST_STARTED];
    db_cuda_copied fetched[DB_CUDA_MOST_FETCHED]; /* to: of the host; NULL: only looked at */
    size_t sent_count, started_count, fetched_count;
    size_t begun; /* of the kernels */
    /* the gang's */
    struct db_cuda_ticket *next;
    struct db_cuda_submission *submission;
    pthread_cond_t turn;
    enum { DB_CUDA_WAITS, DB_CUDA_UNDER_WAY, DB_CUDA_DONE } state;
    const char *result[DB_CUDA_MOST_FETCHED]; /* in locked memory, until the ticket is given back */
    db_status status;
    char message[DB_MESSAGE_SIZE];
} db_cuda_ticket;

/* Tickets that go to the device together, in memory that all of them share. */
typedef struct db_cuda_submission {
    db_cuda_buffer host, device; /* of the same layout */
    cudaStream_t stream;
    cudaEvent_t done;
    db_cuda_ticket *first; /* in the order in which they were handed in */
    size_t users;          /* tickets whose results are still looked at */
} db_cuda_submission;

/* One copy there, one launch for each kernel, one copy back; then waits. On failure nothing is
 * on its way any more. */
db_status db_cuda_submit(db_context *context, int number, db_cuda_submission *s);

/* Hands in a ticket and sleeps until it is done. Where that succeeds, results stay until it is given
 * back. */
db_status db_cuda_hand_in(db_context *context, db_device_gang *gang, db_cuda_ticket *ticket);
void db_cuda_give_back(db_device_gang *gang, db_cuda_ticket *ticket);

db_status db_cuda_gang_create(db_context *context, int number, int cores, int jobs,
                              db_device_gang **gang);
void db_cuda_gang_destroy(db_device_gang *gang);
void db_cuda_gang_join(db_device_gang *gang, int threads);
void db_cuda_gang_leave(db_device_gang *gang, int threads);

#endif
