/* A gang: threads that each work on something of their own, and hand in together what they start on a
 * device, so that it is one launch for many of them. A context that borrows one (db_context.gang) works for
 * one of these threads. */
#ifndef DB_BASE_GANG_H
#define DB_BASE_GANG_H

#include "base/device.h"

/* A call with more results than this goes its own way, and so do calls in double precision and all but
 * images and boxes. */
enum { DB_GANG_MOST_BYTES = 8 << 20 };

/* Jobs that are wanted in a launch; 0: there are no gangs. Variable for tests. */
DB_API extern int db_gang_jobs;

typedef struct db_gang {
    const db_device_backend *backend;
    int number; /* of the device */
    db_device_gang *own;
} db_gang;

/* Of threads that work on so many cores. *gang is NULL where the context's device is the processor, or one
 * that knows no gangs; all calls below do nothing then. */
DB_API db_status db_gang_create(db_context *context, int cores, db_gang **gang);
/* When no context borrows it any more. */
DB_API void db_gang_destroy(db_gang **gang);

/* So many threads are waited for from now on: to be said before any of them begins, or the first would go
 * alone. And so many end, or wait for something else than the gang. */
DB_API void db_gang_join(const db_gang *gang, int threads);
DB_API void db_gang_leave(const db_gang *gang, int threads);

#endif
