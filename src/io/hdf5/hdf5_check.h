/* Is the structure of an HDF5 file sound? libhdf5 trusts some of what it reads (addresses,
 * counts and sizes in tables that have no checksum), and may never end or crash where that is
 * damaged. So before it opens an object, all that it will go through for this is looked at
 * here. Structures with checksums are left to it. */
#ifndef DB_IO_HDF5_CHECK_H
#define DB_IO_HDF5_CHECK_H

#include <dualbragg/context.h>
#include <stddef.h>
#include <stdint.h>

/* The file as a whole: its first block and the root group. An error where it is no sound HDF5
 * file. Between db_hdf5_enter and _leave, as what follows. */
db_status db_hdf5_check_file(db_context *context, const char *path);

/* The object whose header is at this address; where: its name, for messages. *sources: what libhdf5
 * opens by itself with it: names of files and data sets, each with its end, *size bytes in all; to
 * be freed. */
db_status db_hdf5_check_object(db_context *context, const char *path, uint64_t address,
                               const char *where, char **sources, size_t *size);

/* Closes the files that were looked at. What was found sound counts until a file changes. */
void db_hdf5_check_end(void);

#endif
