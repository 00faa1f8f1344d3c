/* The pixels of shots on disk, so that memory holds those of one shot per thread only: blocks as a
 * stage selects them, in a file without a name that vanishes with the process. */
#ifndef DB_FIT_SHOTS_SPOOL_H
#define DB_FIT_SHOTS_SPOOL_H

#include "fit/pixels/shoeboxes.h"

typedef struct db_spool {
    int file; /* descriptor; -1: closed */
    long long end;
} db_spool;

/* Where a shot's blocks lie. */
typedef struct db_spool_place {
    long long begin;
    size_t blocks, pixels; /* pixels: elements of each array */
    int has_ridge, width;  /* of shoeboxes (pixels); 0: they are none */
    /* as in db_fit_blocks */
    int holds_light;
    int oversample;
    double tolerance;
} db_spool_place;

/* folder NULL: the working directory. DB_ERROR_FILE names the folder. */
db_status db_spool_open(db_context *context, const char *folder, db_spool *spool);
void db_spool_close(db_spool *spool);

/* Forgets everything written so far. */
db_status db_spool_empty(db_context *context, db_spool *spool);

/* Appends blocks; boxes: the shoeboxes that they are, or NULL. May be called by several threads at
 * once, each with a context of its own. */
db_status db_spool_write(db_context *context, db_spool *spool, const db_fit_blocks *blocks,
                         const db_shoeboxes *boxes, db_spool_place *place);

/* Writes bytes of any kind; *begin: where they are. */
db_status db_spool_put(db_context *context, db_spool *spool, const void *bytes, size_t size,
                       long long *begin);
/* Writes bytes over as many others at *begin; -1: at the end. */
db_status db_spool_put_at(db_context *context, db_spool *spool, const void *bytes, size_t size,
                          long long *begin);
/* Reads bytes back. */
db_status db_spool_get(db_context *context, const db_spool *spool, long long begin, void *bytes,
                       size_t size);

/* Blocks in memory again. */
typedef struct db_spooled {
    db_fit_blocks blocks; /* points into memory */
    db_shoeboxes boxes;   /* the shoeboxes that the blocks are, if they are; else count is 0 */
    void *memory;         /* owned */
} db_spooled;
db_status db_spool_read(db_context *context, const db_spool *spool, const db_spool_place *place,
                        db_spooled *spooled);
void db_spooled_clear(db_spooled *spooled);

#endif
