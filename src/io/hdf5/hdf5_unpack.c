/* Gathered parts of chunks are unpacked on all threads: large bitshuffled chunks block by block,
 * others as a whole by one thread each. */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/bitshuffle.h"
#include "io/hdf5/hdf5_chunks.h"

#include "base/growth.h"
#include "base/threads.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_AT_A_TIME = 32, ROWS_BYTES = 1 << 18, ALIGNMENT = 64 };

/* Some blocks of a bitshuffled piece, some rows of an unfiltered one, or a whole piece (both 0). */
typedef struct work_item {
    const db_hdf5_piece *piece;
    const db_bitshuffle *chunk;
    size_t first, blocks, rows;
} work_item;

typedef struct unpacking {
    db_context *context;
    const char *path;
    const db_hdf5_pieces *pieces;
    db_hdf5_sink *sink;
    void *user;
    int flags;            /* will do */
    db_bitshuffle *chunk; /* [pieces->count]; without offsets: not cut */
    work_item *item;
    size_t items, capacity;
    size_t largest; /* bytes of a chunk that is unpacked as a whole */
} unpacking;

/* Puts the bytes of `count` elements into this machine's order. */
static void swap_elements(unsigned char *elements, size_t width, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0, b = width - 1; a < b; a++, b--) {
            const unsigned char byte = elements[i * width + a];
            elements[i * width + a] = elements[i * width + b];
            elements[i * width + b] = byte;
        }
}

/* Can blocks be handed on one by one? They must follow one another in the image, too. */
static int is_cut(const db_hdf5_piece *p) {
    const db_hdf5_filter *const f = &p->format.filter[0];
    return p->format.filters == 1 && !p->skipped && f->id == 32008 && f->values >= 5 &&
           f->value[4] != DB_BLOCKS_PLAIN && p->columns == p->row && p->columns == p->to_row;
}

static db_status add_item(unpacking *u, const work_item *item) {
    DB_GROW(u->context, u->item, u->capacity, u->items + 1, u->path);
    u->item[u->items++] = *item;
    return DB_OK;
}

/* Stored without filters, or with none that was used. */
static int is_stored_plain(const db_hdf5_piece *p) {
    return (p->skipped | ~0U << p->format.filters) == ~0U &&
           p->size == p->elements * p->format.width;
}

static db_status plan_rows(unpacking *u, const db_hdf5_piece *p) {
    const size_t row = p->columns * p->format.width;
    const size_t rows = row ? (ROWS_BYTES + row - 1) / row : p->rows + 1;
    for (size_t first = 0; first < p->rows; first += rows) {
        const size_t left = p->rows - first;
        DB_TRY(add_item(u, &(work_item){ p, NULL, first, 0, left < rows ? left : rows }));
    }
    return DB_OK;
}

static db_status plan_piece(unpacking *u, size_t number) {
    const db_hdf5_piece *const p = &u->pieces->piece[number];
    db_bitshuffle *const chunk = &u->chunk[number];
    if (is_stored_plain(p)) return plan_rows(u, p);
    if (!is_cut(p)) {
        const size_t size = p->elements * p->format.width;
        if (u->largest < size) u->largest = size;
        return add_item(u, &(work_item){ .piece = p });
    }
    const char *const reason =
        db_bitshuffle_open(p->bytes, p->size, p->format.width, p->elements,
                           (db_block_compression)p->format.filter[0].value[4], 0, chunk);
    if (reason)
        return db_fail(u->context, DB_ERROR_INPUT, "%s: damaged pixels: %s", u->path, reason);
    const size_t end = p->from + p->rows * p->columns;
    for (size_t b = p->from / chunk->block; b < chunk->blocks && b * chunk->block < end;) {
        work_item item = { p, chunk, b, 0, 0 };
        while (item.blocks < BLOCKS_AT_A_TIME && b < chunk->blocks && b * chunk->block < end) {
            item.blocks++;
            b++;
        }
        DB_TRY(add_item(u, &item));
    }
    return DB_OK;
}

static const char *do_blocks(const unpacking *u, const work_item *item, unsigned char *work) {
    const db_hdf5_piece *const p = item->piece;
    const int flags = u->flags && !p->format.swapped;
    const size_t end = p->from + p->rows * p->columns;
    db_hdf5_format format = p->format;
    if (flags) format = (db_hdf5_format){ .kind = DB_PIXELS_UNSIGNED, .width = 1 };
    const size_t width = format.width;
    unsigned char *const elements = work + DB_BLOCK_WORK;
    for (size_t b = item->first; b < item->first + item->blocks; b++) {
        int any = 1;
        const char *const reason = flags ? db_bitshuffle_flags(item->chunk, b, work, elements, &any)
                                         : db_bitshuffle_block(item->chunk, b, work, elements);
        if (reason) return reason;
        if (!any) continue;
        const size_t begins = b * item->chunk->block;
        size_t stops = begins + db_bitshuffle_count(item->chunk, b);
        const size_t first = begins < p->from ? p->from : begins;
        if (stops > end) stops = end;
        if (p->format.swapped) swap_elements(elements, width, stops - begins);
        if (first < stops)
            u->sink(u->user, &format, elements + (first - begins) * width, stops - first,
                    p->to + (first - p->from));
    }
    return NULL;
}

static void do_rows(const unpacking *u, const work_item *item) {
    const db_hdf5_piece *const p = item->piece;
    const size_t width = p->format.width;
    for (size_t r = item->first; r < item->first + item->rows; r++) {
        unsigned char *const row = p->bytes + (p->from + r * p->row) * width;
        if (p->format.swapped) swap_elements(row, width, p->columns);
        u->sink(u->user, &p->format, row, p->columns, p->to + r * p->to_row);
    }
}

static const char *do_whole(const unpacking *u, const db_hdf5_piece *p, unsigned char *work,
                            unsigned char *room) {
    unsigned char *chunk = NULL;
    const char *const reason = db_hdf5_undo_filters(p, room, room + u->largest, work, &chunk);
    if (reason) return reason;
    const size_t width = p->format.width;
    for (size_t r = 0; r < p->rows; r++) {
        unsigned char *const row = chunk + (p->from + r * p->row) * width;
        if (p->format.swapped) swap_elements(row, width, p->columns);
        u->sink(u->user, &p->format, row, p->columns, p->to + r * p->to_row);
    }
    return NULL;
}

/* Rounds up to the alignment, so that the next buffer is aligned, too. */
static size_t aligned_size(size_t size) { return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static db_status run_unpacking(unpacking *u) {
    const size_t blocks = aligned_size(DB_BLOCK_WORK + DB_LARGEST_BLOCK);
    const char *reason = NULL;
    u->largest = aligned_size(u->largest);
    const long items = (long)u->items;
#pragma omp parallel num_threads(db_threads_for(u->context, items))
    {
        unsigned char *const work = aligned_alloc(ALIGNMENT, blocks + 2 * u->largest);
        const char *own = work ? NULL : "out of memory";
#pragma omp for schedule(dynamic)
        for (long i = 0; i < items; i++) {
            if (own) continue;
            const work_item *const item = &u->item[i];
            if (item->rows)
                do_rows(u, item);
            else
                own = item->blocks ? do_blocks(u, item, work)
                                   : do_whole(u, item->piece, work, work + blocks);
        }
        free(work);
        if (own) {
#pragma omp critical(db_hdf5_unpack)
            reason = own;
        }
    }
    if (!reason) return DB_OK;
    if (strcmp(reason, "out of memory") == 0) return db_fail_memory(u->context, u->path);
    return db_fail(u->context, DB_ERROR_INPUT, "%s: damaged pixels: %s", u->path, reason);
}

static db_status unpack_chunk(db_context *context, const char *path, const db_hdf5_pieces *pieces,
                              db_hdf5_sink *sink, void *user, int flags) {
    unpacking u = { .context = context,
                    .path = path,
                    .pieces = pieces,
                    .sink = sink,
                    .user = user,
                    .flags = flags };
    u.chunk = calloc(pieces->count + 1, sizeof *u.chunk);
    db_status status = u.chunk ? DB_OK : db_fail_memory(context, path);
    for (size_t i = 0; i < pieces->count && status == DB_OK; i++) status = plan_piece(&u, i);
    if (status == DB_OK) status = run_unpacking(&u);
    for (size_t i = 0; i < pieces->count && u.chunk; i++) db_bitshuffle_close(&u.chunk[i]);
    free(u.chunk);
    free(u.item);
    return status;
}

db_status db_hdf5_unpack(db_context *context, const char *path, const db_hdf5_pieces *pieces,
                         db_hdf5_sink *sink, void *user) {
    return unpack_chunk(context, path, pieces, sink, user, 0);
}

db_status db_hdf5_unpack_flags(db_context *context, const char *path, const db_hdf5_pieces *pieces,
                               db_hdf5_sink *sink, void *user) {
    return unpack_chunk(context, path, pieces, sink, user, 1);
}
#else
typedef int db_without_hdf5_unpack;
#endif
