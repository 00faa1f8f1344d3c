/* The table of device backends, and a context's choice among them. */
#ifndef DB_BASE_DEVICE_H
#define DB_BASE_DEVICE_H

#include <dualbragg/context.h>

#include <stddef.h>

enum { DB_DEVICE_NAME_SIZE = 32, DB_DEVICE_MODEL_SIZE = 128, DB_DEVICE_NOTE_SIZE = 512 };

typedef struct db_device_backend {
    const char *name; /* letters, such as "cuda" */
    /* Makes sure that device `number` (from 0) can be used, and writes its own name. DB_ERROR_DEVICE with a
     * message about the missing part. */
    db_status (*open)(db_context *context, int number, char model[DB_DEVICE_MODEL_SIZE]);
    /* Number of devices, usable or not; NULL: one. Prepares none of them */
    int (*count)(void);
    const struct db_device_operations *operations; /* engine/device_plan.h */
} db_device_backend;

/* A context's device. */
typedef struct db_device {
    const db_device_backend *backend; /* NULL: the processor */
    int number;
    int automatic; /* 1: the processor does what the device cannot do */
    int local;     /* 1: the number follows from the number of this process on its machine */
    /* 1: the device failed and the processor took over; the device's memory may still be in use */
    int left;
    char name[DB_DEVICE_NAME_SIZE], model[DB_DEVICE_MODEL_SIZE], note[DB_DEVICE_NOTE_SIZE];
} db_device;

/* Adds a backend, at most once; to be called before other threads create contexts. Its members must stay valid. */
DB_API void db_device_register(const db_device_backend *backend);

/* Sets the number (from 0) of this process on its machine. By default it comes from the launcher's environment, or
 * is 0. */
DB_API void db_device_set_local_rank(int rank);

/* Chooses a context's device again, if it depends on the number of this process on its machine. */
DB_API db_status db_device_choose_local(db_context *context);

/* Removes a backend; NULL or an unknown one is ignored. */
DB_API void db_device_unregister(const db_device_backend *backend);

#endif
