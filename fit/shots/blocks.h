/* A state as bytes, for the same program to read again: pieces as they are in memory, one after the other, in blocks
 * that have a name and a digest, so that a file which was cut off or damaged is noticed. The same function moves the
 * pieces of a state into a block and out of it. */
#ifndef DB_FIT_SHOTS_BLOCKS_H
#define DB_FIT_SHOTS_BLOCKS_H

#include <dualbragg/context.h>

#include <stddef.h>
#include <stdint.h>

typedef struct db_pieces {
    char *bytes;        /* owned by who says so */
    size_t count, room; /* bytes moved so far, and those that there are */
    int reads;
    int failed; /* 1: there was no memory, or (reads) there are not as many */
} db_pieces;

void db_pieces_move(db_pieces *pieces, void *data, size_t bytes);

/* How a block begins. */
typedef struct db_block_head {
    char name[16];       /* with a zero at its end */
    uint64_t bytes;      /* behind the head */
    int64_t shot;        /* -1: it is of no shot */
    int32_t stage, used; /* as in a summary */
    char digest[32];
} db_block_head;

/* Makes room for a head, behind which pieces are to be moved; and fills it in when they are: then bytes and count are
 * those of the block. of: its shot, stage, used. */
void db_block_begin(db_pieces *block);
void db_block_end(db_pieces *block, const char *name, db_block_head of);

/* The head of the block with which `bytes` begins; 0: there is none, or the block is cut off. */
int db_block_head_in(const char *bytes, size_t size, db_block_head *head);

/* The pieces of a whole block of `size` bytes, if it has that name; 0: it is damaged, or another one. */
int db_block_open(char *block, size_t size, const char *name, db_pieces *pieces);

db_status db_block_is_damaged(db_context *context, const char *path);

/* Bytes of a file at a place, to be freed. */
db_status db_block_load(db_context *context, const char *path, long long at, size_t size,
                        char **bytes);

#endif
