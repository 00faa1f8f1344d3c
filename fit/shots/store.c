/* Pixels of shots in a scratch file. */
#define _XOPEN_SOURCE 700 /* pwrite */
#include "fit/shots/store.h"

#include "base/context_internal.h"
#include "base/temporary_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static db_status fail(db_context *context, const char *what) {
    return db_fail(context, DB_ERROR_FILE, "the scratch file of the shots' pixels: %s: %s", what,
                   strerror(errno));
}

db_status db_store_open(db_context *context, const char *folder, db_store *store) {
    char beside[1200];
    const char *const where = folder && *folder ? folder : ".";
    const int length = snprintf(beside, sizeof beside, "%s/", where);
    db_temporary *temporary;
    *store = (db_store){ .file = -1 };
    if (length >= (int)sizeof beside)
        return db_fail(context, DB_ERROR_USAGE, "%s: the folder's name is too long", where);
    store->file = db_temporary_create(beside, 0600, &temporary);
    if (store->file < 0)
        return db_fail(context, DB_ERROR_FILE,
                       "%s: expected a folder for the scratch file of the shots' pixels: %s", where,
                       strerror(errno));
    db_temporary_remove(&temporary); /* its content stays until it is closed */
    return DB_OK;
}

void db_store_close(db_store *store) {
    if (store->file >= 0) close(store->file);
    *store = (db_store){ .file = -1 };
}

db_status db_store_empty(db_context *context, db_store *store) {
    store->end = 0;
    return ftruncate(store->file, 0) == 0 ? DB_OK : fail(context, "cannot be emptied");
}

/* The arrays of a shot, one after the other. */
enum { REGION, RIDGE, REFLECTION, VALUE, WEIGHT, SHAPE_VARIANCE, BACKGROUND, OWN, STRONG, PIECES };

static size_t round_up(size_t size) { return (size + 15) / 16 * 16; }

/* Bytes of each array; returns the sum. */
static size_t sizes_of(const db_store_place *place, size_t size[PIECES]) {
    const size_t per_pixel = place->pixels * sizeof(float);
    const size_t marks = place->width ? place->pixels : 0;
    size_t sum = 0;
    size[REGION] = place->blocks * sizeof(db_region);
    size[RIDGE] = place->has_ridge ? place->blocks * sizeof(double) : 0;
    size[REFLECTION] = place->width ? place->blocks * sizeof(db_spot) : 0;
    size[VALUE] = size[WEIGHT] = size[SHAPE_VARIANCE] = size[BACKGROUND] = per_pixel;
    size[OWN] = size[STRONG] = marks;
    for (int i = 0; i < PIECES; i++) sum += round_up(size[i]);
    return sum;
}

int db_transfer_bytes(int file, char *bytes, size_t size, long long at, int writes) {
    while (size) {
        const ssize_t done = writes ? pwrite(file, bytes, size, at) : pread(file, bytes, size, at);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = writes ? ENOSPC : EIO; /* the file is shorter than it was */
        if (done <= 0) return 0;
        bytes += done;
        size -= (size_t)done;
        at += done;
    }
    return 1;
}

/* Elements of arrays per pixel for these blocks. */
static size_t pixels_of(const db_fit_blocks *blocks) {
    size_t most = 0;
    for (size_t b = 0; b < blocks->count; b++) {
        const db_region *const r = &blocks->region[b];
        if (r->slow_count < 1 || r->fast_count < 1) continue;
        const size_t end =
            r->offset + (size_t)(r->slow_count - 1) * r->stride + (size_t)r->fast_count;
        if (end > most) most = end;
    }
    return most;
}

/* Reserves bytes at the end of the file; returns their place. */
static long long reserve(db_store *store, size_t size) {
    long long begin;
#pragma omp critical(db_store_end)
    {
        begin = store->end;
        store->end += (long long)size;
    }
    return begin;
}

db_status db_store_put(db_context *context, db_store *store, const void *bytes, size_t size,
                       long long *begin) {
    if (*begin < 0) *begin = reserve(store, round_up(size));
    return db_transfer_bytes(store->file, (char *)(uintptr_t)bytes, size, *begin, 1)
               ? DB_OK
               : fail(context, "cannot be written");
}

db_status db_store_get(db_context *context, const db_store *store, long long begin, void *bytes,
                       size_t size) {
    return db_transfer_bytes(store->file, bytes, size, begin, 0) ? DB_OK
                                                                 : fail(context, "cannot be read");
}

db_status db_store_write(db_context *context, db_store *store, const db_fit_blocks *blocks,
                         const db_shoeboxes *boxes, db_store_place *place) {
    const void *const bytes[PIECES] = { [REGION] = blocks->region,
                                        [RIDGE] = blocks->ridge,
                                        [REFLECTION] = boxes ? boxes->reflection : NULL,
                                        [VALUE] = blocks->value,
                                        [WEIGHT] = blocks->weight,
                                        [SHAPE_VARIANCE] = blocks->shape_variance,
                                        [BACKGROUND] = blocks->background,
                                        [OWN] = boxes ? boxes->own : NULL,
                                        [STRONG] = boxes ? boxes->strong : NULL };
    size_t sizes[PIECES];
    *place = (db_store_place){ .blocks = blocks->count,
                               .pixels = pixels_of(blocks),
                               .has_ridge = blocks->ridge != NULL,
                               .holds_light = blocks->holds_light,
                               .oversample = blocks->oversample,
                               .tolerance = blocks->tolerance,
                               .width = boxes ? boxes->width : 0 };
    long long at = place->begin = reserve(store, sizes_of(place, sizes));
    for (int i = 0; i < PIECES; i++) {
        if (sizes[i] &&
            !db_transfer_bytes(store->file, (char *)(uintptr_t)bytes[i], sizes[i], at, 1))
            return fail(context, "cannot be written");
        at += (long long)round_up(sizes[i]);
    }
    return DB_OK;
}

/* Lays out arrays in memory as blocks, and as shoeboxes if they are. */
static void lay_out(const db_store_place *place, void *const array[PIECES], db_stored *stored) {
    stored->blocks = (db_fit_blocks){ .count = place->blocks,
                                      .holds_light = place->holds_light,
                                      .oversample = place->oversample,
                                      .tolerance = place->tolerance,
                                      .region = array[REGION],
                                      .ridge = place->has_ridge ? array[RIDGE] : NULL,
                                      .value = array[VALUE],
                                      .weight = array[WEIGHT],
                                      .shape_variance = array[SHAPE_VARIANCE],
                                      .background = array[BACKGROUND] };
    if (!place->width) return;
    stored->boxes = (db_shoeboxes){ .count = place->blocks,
                                    .width = place->width,
                                    .pixels = (size_t)place->width * (size_t)place->width,
                                    .reflection = array[REFLECTION],
                                    .region = array[REGION],
                                    .value = array[VALUE],
                                    .background = array[BACKGROUND],
                                    .shape_variance = array[SHAPE_VARIANCE],
                                    .own = array[OWN],
                                    .strong = array[STRONG],
                                    .weight = array[WEIGHT],
                                    .ridge = place->has_ridge ? array[RIDGE] : NULL };
}

db_status db_store_read(db_context *context, const db_store *store, const db_store_place *place,
                        db_stored *stored) {
    size_t sizes[PIECES];
    void *array[PIECES];
    memset(stored, 0, sizeof *stored);
    const size_t size = sizes_of(place, sizes);
    char *const memory = aligned_alloc(16, size + 16);
    if (!memory) return db_fail_memory(context, "the pixels of a shot");
    stored->memory = memory;
    size_t at = 0;
    for (int i = 0; i < PIECES; i++) {
        array[i] = memory + at;
        if (sizes[i] &&
            !db_transfer_bytes(store->file, array[i], sizes[i], place->begin + (long long)at, 0)) {
            const db_status status = fail(context, "cannot be read");
            db_stored_clear(stored);
            return status;
        }
        at += round_up(sizes[i]);
    }
    lay_out(place, array, stored);
    return DB_OK;
}

void db_stored_clear(db_stored *stored) {
    free(stored->memory);
    memset(stored, 0, sizeof *stored);
}
