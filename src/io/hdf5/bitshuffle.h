/* Chunks of HDF5 files with bitshuffled elements: each block stores bit 0 of all its elements, then bit 1 and so
 * on, and is compressed with LZ4 or Zstandard. */
#ifndef DB_IO_BITSHUFFLE_H
#define DB_IO_BITSHUFFLE_H

#include <stddef.h>

typedef enum db_block_compression {
    DB_BLOCKS_PLAIN = 0,
    DB_BLOCKS_LZ4 = 2,
    DB_BLOCKS_ZSTD = 3
} db_block_compression;

enum {
    DB_WIDEST_ELEMENT = 8,                           /* bytes */
    DB_LARGEST_BLOCK = 1 << 16,                      /* bytes, unpacked */
    DB_UNSHUFFLE_ROOM = 4 * DB_LARGEST_BLOCK + 1024, /* bytes */
    DB_BLOCK_WORK = DB_UNSHUFFLE_ROOM + DB_LARGEST_BLOCK
};

/* A chunk, cut into its blocks. */
typedef struct db_bitshuffle {
    const unsigned char *bytes;
    size_t size, width, elements; /* of the whole chunk, unpacked */
    size_t block;                 /* elements of a block */
    size_t blocks;                /* the last one may be shorter */
    size_t *offset;               /* [blocks + 1] of each block's bytes; owned */
    db_block_compression compression;
} db_bitshuffle;

/* Finds the blocks of a chunk of `elements` elements. block: elements per block of a chunk that is not compressed;
 * 0: the usual number. Returns NULL, or the reason of a failure; then there is nothing to free. */
const char *db_bitshuffle_open(const unsigned char *bytes, size_t size, size_t width,
                               size_t elements, db_block_compression compression, size_t block,
                               db_bitshuffle *chunk);
void db_bitshuffle_close(db_bitshuffle *chunk);

/* Elements of a block; those behind the last multiple of 8 of the chunk count to the last one. */
size_t db_bitshuffle_count(const db_bitshuffle *chunk, size_t block);

/* Unpacks one. work: DB_BLOCK_WORK bytes; elements: DB_LARGEST_BLOCK; both aligned to 64. NULL
 * or the reason why that fails. */
const char *db_bitshuffle_block(const db_bitshuffle *chunk, size_t block, unsigned char *work,
                                unsigned char *elements);

/* One flag per element in place of its value: 1 if its lowest bit is set, else 2 if any bit is, else 0. *any 0:
 * all flags are 0, and nothing was written. */
const char *db_bitshuffle_flags(const db_bitshuffle *chunk, size_t block, unsigned char *work,
                                unsigned char *flags, int *any);

#endif
