/* A state as bytes, which the same program reads again: pieces as they are in memory, one after the other, in
 * blocks with a name and a digest, so that a truncated or damaged file is noticed. The same function writes the
 * pieces of a state to a block and reads them. */
#ifndef DB_FIT_SHOTS_BLOCKS_H
#define DB_FIT_SHOTS_BLOCKS_H

#include <dualbragg/context.h>

#include <stddef.h>
#include <stdint.h>

typedef struct db_pieces {
    char *bytes;        /* owned by the block's user */
    size_t count, room; /* bytes moved so far; bytes in the block */
    int reads;
    int failed; /* 1: no memory, or (reading) too few bytes */
} db_pieces;

void db_pieces_move(db_pieces *pieces, void *data, size_t bytes);

/* Head of a block. */
typedef struct db_block_head {
    char name[16];       /* ends with a zero */
    uint64_t bytes;      /* behind the head */
    int64_t shot;        /* -1: for no shot */
    int32_t stage, used; /* as in a summary */
    char digest[32];
} db_block_head;

/* Makes room for a head, before pieces are moved behind it; db_block_end fills it in, and bytes and count then
 * include it. of: its shot, stage, used. */
void db_block_begin(db_pieces *block);
void db_block_end(db_pieces *block, const char *name, db_block_head of);

/* Head of the block at the start of `bytes`; 0: there is none, or the block is truncated. */
int db_block_head_in(const char *bytes, size_t size, db_block_head *head);

/* May a file be replaced by one whose first block has a name that begins so? It may if there is none, if it is empty,
 * and if its own first block has such a name. */
int db_block_may_replace(const char *path, const char *name);

/* Pieces of a whole block of `size` bytes with this name; 0: it is damaged, or another block. */
int db_block_open(char *block, size_t size, const char *name, db_pieces *pieces);

db_status db_block_is_damaged(db_context *context, const char *path);

/* Reads bytes of a file from a place; to be freed. */
db_status db_block_load(db_context *context, const char *path, long long at, size_t size,
                        char **bytes);

#endif
