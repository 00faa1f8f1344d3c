/* The failure, in builds without HDF5, for files that need it. */
#ifndef DB_IO_WITHOUT_HDF5_H
#define DB_IO_WITHOUT_HDF5_H

#include "base/context_internal.h"

/* does: "read" or "write". */
static inline db_status db_fail_without_hdf5(db_context *context, const char *path,
                                             const char *does) {
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build does not %s HDF5: it needs libhdf5, lz4, zstd and zlib when it "
                   "is configured (Debian: libhdf5-dev liblz4-dev libzstd-dev zlib1g-dev)",
                   path, does);
}

#endif
