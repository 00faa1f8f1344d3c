/* The CUDA runtime as the backend calls it: errors become statuses, memory grows when needed. */
#ifndef DB_CUDA_RUNTIME_H
#define DB_CUDA_RUNTIME_H

#include "base/context_internal.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

/* DB_OK, or the status and message of an error: "cuda:0: WHAT: ...". Clears the runtime's last
 * error. */
db_status db_cuda_status(db_context *context, int number, cudaError_t error, const char *what);

#define DB_CUDA_TRY(context, number, call, what)                                                   \
    DB_TRY(db_cuda_status((context), (number), (call), (what)))

/* Makes a device the current one while something is done with it: the caller of the library may
 * have chosen another. No context is made on any other GPU. */
typedef struct db_cuda_scope {
    int pushed; /* 1: there is a context to go back from */
} db_cuda_scope;
db_status db_cuda_enter(db_context *context, int number, db_cuda_scope *scope);
void db_cuda_leave(const db_cuda_scope *scope);

/* Memory that is allocated when it is first needed, and anew when more is. */
typedef struct db_cuda_buffer {
    void *memory;
    size_t bytes;
} db_cuda_buffer;

/* Makes a buffer hold at least `bytes` bytes of device memory, or of page-locked (pinned) host memory. New memory
 * does not have the old contents. */
db_status db_cuda_need(db_context *context, int number, db_cuda_buffer *buffer, size_t bytes,
                       const char *what);
db_status db_cuda_need_locked(db_context *context, int number, db_cuda_buffer *buffer,
                              size_t bytes);
void db_cuda_release(db_cuda_buffer *buffer);
void db_cuda_release_locked(db_cuda_buffer *buffer);

/* Memory of the host, of GPU `number` (or managed), of another GPU, or unknown after a failure. */
typedef enum db_cuda_place {
    DB_CUDA_PAGEABLE,
    DB_CUDA_LOCKED,
    DB_CUDA_ON_DEVICE,
    DB_CUDA_ELSEWHERE,
    DB_CUDA_UNKNOWN
} db_cuda_place;
db_cuda_place db_cuda_place_of(int number, const void *memory);

/* *there: 1 for memory of this GPU, 0 for memory of the host or NULL. DB_ERROR_INPUT for memory of another GPU.
 * what: the memory's name, for the message. Asks the runtime once. */
db_status db_cuda_check_place(db_context *context, int number, const void *memory, const char *what,
                              int *there);

#endif
