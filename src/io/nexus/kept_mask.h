/* Keeps the mask read last, as runs of masked pixels: a detector's mask is the same for all images of a file. Call
 * between db_hdf5_enter and _leave. */
#ifndef DB_IO_KEPT_MASK_H
#define DB_IO_KEPT_MASK_H

#include "io/hdf5/hdf5_file.h"
#include "io/images/image.h"

#include <sys/types.h>
#include <time.h>

/* Identifies a mask, or another object, and the state of its file. */
typedef struct db_file_state {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
    char name[DB_HDF5_PATH];
    int threshold; /* which part of it, from 0 */
    size_t pixels;
} db_file_state;

/* 0: the mask cannot be kept (it is put together from other files, or its file cannot be looked
 * at). */
int db_file_state_get(const db_hdf5_object *mask, size_t pixels, int threshold, db_file_state *key);

int db_file_state_same(const db_file_state *one, const db_file_state *other);

/* Masks the pixels of an image without masked pixels. Returns 0 if another mask is kept. */
int db_kept_mask_apply(const db_file_state *key, uint8_t *mask);

/* Keeps a mask, unless memory is short or it has more than a million runs. */
void db_kept_mask_set(const db_file_state *key, const uint8_t *mask);

#endif
