/* One transformation of a chain (depends_on) of a NeXus file, and the way to the next. Between
 * db_hdf5_enter and _leave. */
#ifndef DB_IO_NEXUS_LINK_H
#define DB_IO_NEXUS_LINK_H

#include "io/hdf5/hdf5_file.h"

enum { DB_NEXUS_LONGEST_CHAIN = 64 };

typedef struct db_nexus_link {
    db_hdf5_object at;
    int rotates;
    double vector[3], offset[3]; /* unit vector; mm */
    double unit;                 /* to degree, mm; 0: not known */
    char next[DB_HDF5_PATH];     /* "." or "": none */
    int number;                  /* in its chain, from 0 */
} db_nexus_link;

/* The first of a chain, as a path leads to it; then each next one: *there 0: that was the last one. After
 * a failure, and behind the last one, link->at is closed. */
db_status db_nexus_link_first(const db_hdf5_object *from, const char *path, db_nexus_link *link,
                              int *there);
db_status db_nexus_link_next(db_nexus_link *link, int *there);

#endif
