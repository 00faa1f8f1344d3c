/* Bitshuffled chunks: elements to rows of bits, blocks to LZ4. */
#include "io/hdf5/bitshuffle_write.h"

#include "base/context_internal.h"

#include <stdlib.h>

void db_packed_clear(db_packed *packed) {
    free(packed->bytes);
    *packed = (db_packed){ NULL, 0 };
}

#if defined(DB_HAVE_HDF5)
#include "base/threads.h"

#include <lz4.h>
#include <stdint.h>
#include <string.h>

enum { HEADER = 12, LENGTH = 4, BLOCK = 8192 }; /* bytes */

static const uint64_t LARGEST_CHUNK = UINT32_MAX;

/* Bit i of byte k becomes bit k of byte i. */
static inline uint64_t transpose_bytes(uint64_t x) {
    uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
    return x ^ t ^ (t << 28);
}

/* The eight rows of bits of one byte of each element. */
static void rows_of_bits(const unsigned char *plane, size_t count, unsigned char *bits) {
    const size_t each = count / 8;
    for (size_t group = 0; group < each; group++) {
        uint64_t eight = 0;
        for (size_t k = 0; k < 8; k++) eight |= (uint64_t)plane[8 * group + k] << (8 * k);
        eight = transpose_bytes(eight);
        for (size_t k = 0; k < 8; k++) bits[k * each + group] = (unsigned char)(eight >> (8 * k));
    }
}

/* count: a multiple of 8, at most BLOCK / width. */
static void shuffle_bits(const unsigned char *elements, size_t count, size_t width,
                         unsigned char *bits) {
    unsigned char plane[BLOCK];
    for (size_t byte = 0; byte < width; byte++) {
        unsigned char any = 0;
        for (size_t i = 0; i < count; i++) {
            plane[i] = elements[i * width + byte];
            any |= plane[i];
        }
        if (any)
            rows_of_bits(plane, count, bits + byte * count);
        else
            memset(bits + byte * count, 0, count);
    }
}

static void put_big_endian(unsigned char *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
}

/* A block with its length in front; the bytes written. room: LENGTH + LZ4_COMPRESSBOUND(BLOCK). */
static size_t pack_block(const unsigned char *elements, size_t count, size_t width,
                         unsigned char *room) {
    unsigned char bits[BLOCK];
    shuffle_bits(elements, count, width, bits);
    const int length = LZ4_compress_default((const char *)bits, (char *)room + LENGTH,
                                            (int)(count * width), LZ4_COMPRESSBOUND(BLOCK));
    put_big_endian(room, (uint64_t)length, LENGTH);
    return LENGTH + (size_t)length;
}

/* Blocks are packed each into a place of its own, and then moved together. */
static size_t pack_blocks(const db_context *context, const unsigned char *elements, size_t count,
                          size_t width, unsigned char *room, size_t *length) {
    const size_t whole = count / 8 * 8, block = BLOCK / width,
                 apart = LENGTH + LZ4_COMPRESSBOUND(BLOCK);
    const long blocks = (long)((whole + block - 1) / block);
    const int threads = db_threads_for(context, blocks / 16);
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (long b = 0; b < blocks; b++) {
        const size_t first = (size_t)b * block, own = whole - first < block ? whole - first : block;
        length[b] = pack_block(elements + first * width, own, width, room + (size_t)b * apart);
    }
    size_t at = 0;
    for (long b = 0; b < blocks; b++) {
        memmove(room + at, room + (size_t)b * apart, length[b]);
        at += length[b];
    }
    memcpy(room + at, elements + whole * width, (count - whole) * width);
    return at + (count - whole) * width;
}

db_status db_pack_bitshuffle(db_context *context, const char *what, const void *elements,
                             size_t count, size_t width, db_packed *packed) {
    const size_t block = BLOCK / width, blocks = count / block + 1;
    *packed = (db_packed){ NULL, 0 };
    if ((uint64_t)count * width > LARGEST_CHUNK)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: an image of %zu pixels is larger than a chunk of an HDF5 file, 4 GiB",
                       what, count);
    unsigned char *const bytes =
        malloc(HEADER + blocks * (LENGTH + (size_t)LZ4_COMPRESSBOUND(BLOCK)) + 8 * width);
    size_t *const length = malloc(blocks * sizeof *length);
    if (!bytes || !length) {
        free(bytes);
        free(length);
        return db_fail_memory(context, what);
    }
    put_big_endian(bytes, (uint64_t)count * width, 8);
    put_big_endian(bytes + 8, BLOCK, 4);
    *packed = (db_packed){ bytes, HEADER + pack_blocks(context, elements, count, width,
                                                       bytes + HEADER, length) };
    free(length);
    /* most images shrink a lot, and many may be waiting */
    unsigned char *const shrunk = realloc(bytes, packed->size);
    if (shrunk) packed->bytes = shrunk;
    return DB_OK;
}
#else
db_status db_pack_bitshuffle(db_context *context, const char *what, const void *elements,
                             size_t count, size_t width, db_packed *packed) {
    (void)elements;
    (void)count;
    (void)width;
    *packed = (db_packed){ NULL, 0 };
    return db_fail(context, DB_ERROR_UNSUPPORTED, "%s: this build does not write HDF5", what);
}
#endif
