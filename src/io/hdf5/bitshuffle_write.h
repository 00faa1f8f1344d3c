/* Chunks of HDF5 files as the bitshuffle filter with LZ4 leaves them. */
#ifndef DB_IO_BITSHUFFLE_WRITE_H
#define DB_IO_BITSHUFFLE_WRITE_H

#include <dualbragg/context.h>
#include <stddef.h>

typedef struct db_packed {
    unsigned char *bytes; /* owned */
    size_t size;
} db_packed;

void db_packed_clear(db_packed *packed);

/* Packs `count` elements of `width` bytes (1, 2, 4, 8), little-endian, on the context's threads. The bytes do not
 * depend on the number of threads. DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED if the result does not fit in a chunk, 4
 * GiB. what: the file, for messages. */
db_status db_pack_bitshuffle(db_context *context, const char *what, const void *elements,
                             size_t count, size_t width, db_packed *packed);

#endif
