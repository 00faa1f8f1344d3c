/* Undoes the filters of an HDF5 file on a whole chunk. */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/bitshuffle.h"
#include "io/hdf5/hdf5_chunks.h"

#include <lz4.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Numbers registered with the HDF Group. */
enum { FILTER_LZ4 = 32004, FILTER_BITSHUFFLE = 32008, FILTER_ZSTD = 32015, CHECKSUM = 4 };

int db_hdf5_filter_is_known(const db_hdf5_filter *filter) {
    switch (filter->id) {
    case H5Z_FILTER_DEFLATE:
    case H5Z_FILTER_SHUFFLE:
    case H5Z_FILTER_FLETCHER32:
    case FILTER_LZ4:
    case FILTER_ZSTD: return 1;
    case FILTER_BITSHUFFLE:
        return filter->values < 5 || filter->value[4] == DB_BLOCKS_PLAIN ||
               filter->value[4] == DB_BLOCKS_LZ4 || filter->value[4] == DB_BLOCKS_ZSTD;
    default: return 0;
    }
}

static const char *undo_bitshuffle(const db_hdf5_piece *piece, const db_hdf5_filter *filter,
                                   const unsigned char *from, size_t size, unsigned char *work,
                                   unsigned char *to) {
    db_bitshuffle chunk;
    const size_t width = piece->format.width;
    const char *reason = db_bitshuffle_open(
        from, size, width, piece->elements,
        filter->values < 5 ? DB_BLOCKS_PLAIN : (db_block_compression)filter->value[4],
        filter->values < 4 ? 0 : filter->value[3], &chunk);
    if (reason) return reason;
    unsigned char *const elements = work + DB_BLOCK_WORK;
    for (size_t b = 0; b < chunk.blocks && !reason; b++) {
        reason = db_bitshuffle_block(&chunk, b, work, elements);
        if (!reason)
            memcpy(to + b * chunk.block * width, elements, db_bitshuffle_count(&chunk, b) * width);
    }
    db_bitshuffle_close(&chunk);
    return reason;
}

static uint64_t big_endian(const unsigned char *p, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | p[i];
    return value;
}

/* Undoes LZ4: a header with the total size and the size of a block, then blocks, each after its size. A block that
 * did not shrink is stored as it is. */
static const char *undo_lz4(const unsigned char *from, size_t size, size_t wanted,
                            unsigned char *to) {
    if (size < 12 || big_endian(from, 8) != wanted)
        return "the chunk's header states another size than the data set";
    const size_t block = (size_t)big_endian(from + 8, 4);
    if (block == 0 || block > INT32_MAX) return "the chunk's blocks have no size";
    size_t at = 12;
    for (size_t done = 0; done < wanted;) {
        const size_t next = wanted - done < block ? wanted - done : block;
        if (size - at < 4) return "the chunk ends before its last block";
        const size_t length = (size_t)big_endian(from + at, 4);
        at += 4;
        if (length > size - at) return "a block is longer than what is left of the chunk";
        if (length == next)
            memcpy(to + done, from + at, next);
        else if (length > INT32_MAX ||
                 LZ4_decompress_safe((const char *)from + at, (char *)to + done, (int)length,
                                     (int)next) != (int)next)
            return "a block does not decompress with LZ4 to its size";
        at += length;
        done += next;
    }
    return NULL;
}

static void undo_shuffle(const unsigned char *from, size_t width, size_t count, unsigned char *to) {
    for (size_t byte = 0; byte < width; byte++)
        for (size_t i = 0; i < count; i++) to[i * width + byte] = from[byte * count + i];
}

/* Undoes a filter. *size: bytes before; becomes the bytes after. */
static const char *undo(const db_hdf5_piece *piece, const db_hdf5_filter *filter,
                        const unsigned char *from, size_t *size, unsigned char *work,
                        unsigned char *to) {
    const size_t wanted = piece->elements * piece->format.width;
    const char *reason = NULL;
    uLongf length = wanted;
    switch (filter->id) {
    case H5Z_FILTER_DEFLATE:
        if (uncompress(to, &length, from, *size) != Z_OK || length != wanted)
            reason = "the chunk does not decompress with deflate to its size";
        break;
    case FILTER_ZSTD:
        if (ZSTD_decompress(to, wanted, from, *size) != wanted)
            reason = "the chunk does not decompress with Zstandard to its size";
        break;
    case FILTER_LZ4: reason = undo_lz4(from, *size, wanted, to); break;
    case FILTER_BITSHUFFLE: reason = undo_bitshuffle(piece, filter, from, *size, work, to); break;
    default: /* shuffle, of elements */
        if (*size != wanted) return "the chunk has another size than the data set states";
        undo_shuffle(from, piece->format.width, piece->elements, to);
        break;
    }
    *size = wanted;
    return reason;
}

const char *db_hdf5_undo_filters(const db_hdf5_piece *piece, unsigned char *chunk,
                                 unsigned char *room, unsigned char *work, unsigned char **result) {
    const size_t wanted = piece->elements * piece->format.width;
    const unsigned char *from = piece->bytes;
    size_t size = piece->size;
    for (int i = piece->format.filters - 1; i >= 0; i--) {
        const db_hdf5_filter *const filter = &piece->format.filter[i];
        if (piece->skipped >> i & 1) continue;
        if (filter->id == H5Z_FILTER_FLETCHER32) { /* a checksum behind the data */
            if (size < CHECKSUM) return "the chunk is shorter than its checksum";
            size -= CHECKSUM;
            continue;
        }
        unsigned char *const to = from == chunk ? room : chunk;
        const char *const reason = undo(piece, filter, from, &size, work, to);
        if (reason) return reason;
        from = to;
    }
    if (size != wanted) return "the chunk has another size than the data set states";
    if (from != chunk && from != room) memcpy(chunk, from, wanted);
    *result = from == room ? room : chunk;
    return NULL;
}
#else
typedef int db_without_hdf5_filters;
#endif
