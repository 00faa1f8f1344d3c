/* Checks that the structure of an HDF5 file is sound. libhdf5 trusts some of what it reads (addresses, counts and
 * sizes in tables without checksum), and may crash or never end if that is damaged. So all that libhdf5 will read
 * to open an object is checked here first, except structures with checksums. */
#ifndef DB_IO_HDF5_CHECK_H
#define DB_IO_HDF5_CHECK_H

#include <dualbragg/context.h>
#include <stddef.h>
#include <stdint.h>

/* Checks the first block and the root group; an error unless the file is a sound HDF5 file. Call this and the
 * functions below between db_hdf5_enter and _leave. */
db_status db_hdf5_check_file(db_context *context, const char *path);

/* Checks the object whose header is at this address; where: its name, for messages. *sources: the files and data
 * sets that libhdf5 opens with it, as pairs of texts that end with a zero, *size bytes in all; to be freed. */
db_status db_hdf5_check_object(db_context *context, const char *path, uint64_t address,
                               const char *where, char **sources, size_t *size);

/* Closes the files that were checked. Results stay valid until a file changes. */
void db_hdf5_check_end(void);

#endif
