/* Pixels of shots on disk, so that memory has only one shot per thread: blocks as a stage selects them, in a file
 * without a name that disappears with the process. */
#ifndef DB_FIT_SHOTS_STORE_H
#define DB_FIT_SHOTS_STORE_H

#include "fit/pixels/shoeboxes.h"

/* Writes or reads bytes at a place of a file; 0: failure, with errno. */
int db_transfer_bytes(int file, char *bytes, size_t size, long long at, int writes);

typedef struct db_store {
    int file; /* descriptor; -1: closed */
    long long end;
} db_store;

/* Place of a shot's blocks. */
typedef struct db_store_place {
    long long begin;
    size_t blocks, pixels; /* pixels: elements of each array */
    int has_ridge, width;  /* width of shoeboxes (pixels); 0: the blocks are no shoeboxes */
    /* as in db_fit_blocks */
    int holds_light;
    int oversample;
    double tolerance;
} db_store_place;

/* folder NULL: the working directory. DB_ERROR_FILE names the folder. */
db_status db_store_open(db_context *context, const char *folder, db_store *store);
void db_store_close(db_store *store);

/* Forgets everything written. */
db_status db_store_empty(db_context *context, db_store *store);

/* Appends blocks; boxes: their shoeboxes, or NULL. Several threads may call it at once, each with its own context. */
db_status db_store_write(db_context *context, db_store *store, const db_fit_blocks *blocks,
                         const db_shoeboxes *boxes, db_store_place *place);

/* Writes bytes of any kind over the bytes at *begin; -1: at the end, and *begin becomes their place. */
db_status db_store_put(db_context *context, db_store *store, const void *bytes, size_t size,
                       long long *begin);
/* Reads bytes back. */
db_status db_store_get(db_context *context, const db_store *store, long long begin, void *bytes,
                       size_t size);

/* Blocks in memory again. */
typedef struct db_stored {
    db_fit_blocks blocks; /* points into memory */
    db_shoeboxes boxes;   /* shoeboxes of the blocks, if they are; else count is 0 */
    void *memory;         /* owned */
} db_stored;
db_status db_store_read(db_context *context, const db_store *store, const db_store_place *place,
                        db_stored *stored);
void db_stored_clear(db_stored *stored);

#endif
