/* The table of device backends, and a context's choice among them. */
#ifndef DB_BASE_DEVICE_H
#define DB_BASE_DEVICE_H

#include <dualbragg/context.h>

#include <stddef.h>

enum { DB_DEVICE_NAME_SIZE = 32, DB_DEVICE_MODEL_SIZE = 128, DB_DEVICE_NOTE_SIZE = 512 };

typedef struct db_device_backend {
    const char *name; /* "cuda": letters */
    /* Makes sure that device `number` (from 0) can be used, and writes what it calls itself.
     * DB_ERROR_DEVICE with a message that says what is missing. */
    db_status (*open)(db_context *context, int number, char model[DB_DEVICE_MODEL_SIZE]);
    /* how many devices there are, usable or not; NULL: one. Prepares nothing on any of them */
    int (*count)(void);
    const struct db_device_operations *operations; /* engine/device_plan.h */
} db_device_backend;

/* A context's device. */
typedef struct db_device {
    const db_device_backend *backend; /* NULL: the processor */
    int number;
    int automatic; /* 1: what the device cannot do is done by the processor */
    int local;     /* 1: the number is that of this process on its machine */
    int left; /* 1: the processor took over from one that failed, whose memory may still be about */
    char name[DB_DEVICE_NAME_SIZE], model[DB_DEVICE_MODEL_SIZE], note[DB_DEVICE_NOTE_SIZE];
} db_device;

/* Adds a backend, at most once each; to be called before contexts are created in other threads.
 * What it points to must stay. */
DB_API void db_device_register(const db_device_backend *backend);

/* This process is number `rank` (from 0) of those on its machine. Before that it is what the launcher
 * says in the environment, or 0. */
DB_API void db_device_set_local_rank(int rank);

/* Chooses a context's device anew where the number of this process on its machine decides on it. */
DB_API db_status db_device_choose_local(db_context *context);

/* Takes it out again; NULL or one that is not there is ignored. */
DB_API void db_device_unregister(const db_device_backend *backend);

#endif
