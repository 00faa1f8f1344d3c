/* Bitshuffled chunks: bits to elements in loops that compilers turn into vectors; blocks. */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/bitshuffle.h"

#include <lz4.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { USUAL_BLOCK = 8192, LEAST_BLOCK = 128 };

#define ALIGNED(p) __builtin_assume_aligned((p), 8)

/* Eight bits of eight numbers change places: bit i of row k becomes bit k of row i. */
static inline void transpose_bits(uint64_t row[8]) {
    static const uint64_t mask[3] = { 0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f };
    for (int level = 0; level < 3; level++) {
        const int apart = 1 << level;
        for (int k = 0; k < 8; k++) {
            if (k & apart) continue;
            const uint64_t swapped = ((row[k] >> apart) ^ row[k + apart]) & mask[level];
            row[k + apart] ^= swapped;
            row[k] ^= swapped << apart;
        }
    }
}

/* Eight rows of bits, `bytes` bytes each, to eight rows of bytes: row i has elements i, i + 8 ... */
static void rows_of_bytes(const unsigned char *restrict bits, size_t bytes, size_t stride,
                          unsigned char *restrict rows) {
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t row[8];
        for (size_t k = 0; k < 8; k++) memcpy(&row[k], bits + k * bytes + at, 8);
        transpose_bits(row);
        for (size_t k = 0; k < 8; k++) memcpy(rows + k * stride + at, &row[k], 8);
    }
    if (at == bytes) return;
    uint64_t row[8] = { 0 };
    for (size_t k = 0; k < 8; k++)
        for (size_t i = at; i < bytes; i++)
            row[k] |= (uint64_t)bits[k * bytes + i] << (8 * (i - at));
    transpose_bits(row);
    for (size_t k = 0; k < 8; k++)
        for (size_t i = at; i < bytes; i++)
            rows[k * stride + i] = (unsigned char)(row[k] >> (8 * (i - at)));
}

/* Bytes that are looked at as wider words. */
typedef uint16_t __attribute__((may_alias)) word_16;
typedef uint32_t __attribute__((may_alias)) word_32;

#define INTERLEAVE(name, type)                                                                     \
    static void name(const void *restrict first, const void *restrict second, size_t count,        \
                     void *restrict mixed) {                                                       \
        const type *const a = ALIGNED(first);                                                      \
        const type *const b = ALIGNED(second);                                                     \
        type *const out = ALIGNED(mixed);                                                          \
        for (size_t i = 0; i < count; i++) {                                                       \
            out[2 * i] = a[i];                                                                     \
            out[2 * i + 1] = b[i];                                                                 \
        }                                                                                          \
    }
INTERLEAVE(mix_8, uint8_t)
INTERLEAVE(mix_16, word_16)
INTERLEAVE(mix_32, word_32)

static int all_zero(const unsigned char *bytes, size_t count) {
    unsigned char any = 0;
    for (size_t i = 0; i < count; i++) any |= bytes[i];
    return !any;
}

/* One byte of every element, from its eight rows of bits. room: 2 (count + 64) bytes. */
static void plane_of_bytes(const unsigned char *bits, size_t count, unsigned char *room,
                           unsigned char *plane) {
    const size_t each = count / 8, stride = (each + 7) / 8 * 8;
    unsigned char *const row = room;
    unsigned char *const pairs = room + 8 * stride;
    if (all_zero(bits, count)) {
        memset(plane, 0, count);
        return;
    }
    rows_of_bytes(bits, each, stride, row);
    for (size_t i = 0; i < 4; i++)
        mix_8(row + 2 * i * stride, row + (2 * i + 1) * stride, each, pairs + 2 * i * stride);
    for (size_t i = 0; i < 2; i++)
        mix_16(pairs + 4 * i * stride, pairs + (4 * i + 2) * stride, each, row + 4 * i * stride);
    mix_32(row, row + 4 * stride, each, plane);
}

/* Brings the shuffled bits of `count` elements back to them (a multiple of 8, at most DB_LARGEST_BLOCK bytes), of `width` bytes
 * (1, 2, 4, 8), little-endian. room: DB_UNSHUFFLE_ROOM bytes. All three are aligned to 64 bytes. */
static void unshuffle_bits(const unsigned char *bits, size_t count, size_t width,
                           unsigned char *room, unsigned char *elements) {
    static void (*const mix[3])(const void *, const void *, size_t, void *) = { mix_8, mix_16,
                                                                                mix_32 };
    const size_t apart = (count + 63) / 64 * 64;
    unsigned char *from = width == 1 ? elements : room;
    unsigned char *to = room + DB_LARGEST_BLOCK + 64 * DB_WIDEST_ELEMENT;
    unsigned char *const scratch = room + 2 * (DB_LARGEST_BLOCK + 64 * DB_WIDEST_ELEMENT);
    for (size_t byte = 0; byte < width; byte++)
        plane_of_bytes(bits + byte * count, count, scratch, from + byte * apart);
    size_t unit = 1;
    for (int level = 0; unit < width; level++, unit *= 2) {
        const size_t mixed = width / unit / 2;
        for (size_t i = 0; i < mixed; i++)
            mix[level](from + 2 * i * apart * unit, from + (2 * i + 1) * apart * unit, count,
                       mixed == 1 ? elements : to + 2 * i * apart * unit);
        unsigned char *const freed = from;
        from = to;
        to = freed;
    }
}

static uint64_t big_endian(const unsigned char *p, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | p[i];
    return value;
}

size_t db_bitshuffle_count(const db_bitshuffle *chunk, size_t block) {
    const size_t first = block * chunk->block;
    return block + 1 < chunk->blocks ? chunk->block : chunk->elements - first;
}

/* The number of shuffled elements of a block; the rest (fewer than 8) follows as it is. */
static size_t shuffled(const db_bitshuffle *chunk, size_t block) {
    return db_bitshuffle_count(chunk, block) / 8 * 8;
}

static const char *find_blocks(db_bitshuffle *chunk, size_t at) {
    for (size_t b = 0; b < chunk->blocks; b++) {
        const size_t count = shuffled(chunk, b), rest = db_bitshuffle_count(chunk, b) - count;
        size_t length = count * chunk->width;
        chunk->offset[b] = at;
        if (chunk->compression != DB_BLOCKS_PLAIN && count) {
            if (chunk->size - at < 4) return "the chunk ends before its last block";
            length = (size_t)big_endian(chunk->bytes + at, 4) + 4;
        }
        length += rest * chunk->width;
        if (length > chunk->size - at) return "a block is longer than what is left of the chunk";
        at += length;
    }
    chunk->offset[chunk->blocks] = at;
    return at == chunk->size ? NULL : "the chunk goes on behind its last block";
}

/* Reads the header of a compressed chunk: its total size and the size of a block. */
static const char *read_sizes(db_bitshuffle *chunk, size_t *at) {
    if (chunk->size < 12) return "the chunk is shorter than its header";
    const uint64_t total = big_endian(chunk->bytes, 8), block = big_endian(chunk->bytes + 8, 4);
    if (total != (uint64_t)chunk->elements * chunk->width)
        return "the chunk's header states another size than the data set";
    if (block % chunk->width) return "a block is no whole number of elements";
    chunk->block = (size_t)block / chunk->width;
    *at = 12;
    return NULL;
}

const char *db_bitshuffle_open(const unsigned char *bytes, size_t size, size_t width,
                               size_t elements, db_block_compression compression, size_t block,
                               db_bitshuffle *chunk) {
    size_t at = 0;
    *chunk = (db_bitshuffle){ bytes, size, width, elements, block, 0, NULL, compression };
    if (compression != DB_BLOCKS_PLAIN) {
        const char *const reason = read_sizes(chunk, &at);
        if (reason) return reason;
    }
    if (chunk->block == 0) {
        chunk->block = USUAL_BLOCK / width / 8 * 8;
        if (chunk->block < LEAST_BLOCK) chunk->block = LEAST_BLOCK;
    }
    if (chunk->block % 8 || chunk->block > DB_LARGEST_BLOCK / width - 8)
        return "expected blocks of a multiple of 8 elements and less than 64 KiB";
    /* those left over do not make a block */
    chunk->blocks = elements < 8 ? 1 : (elements / 8 * 8 + chunk->block - 1) / chunk->block;
    if (compression != DB_BLOCKS_PLAIN && chunk->blocks > size / 4 + 1)
        return "the chunk is too short for its number of blocks";
    chunk->offset = malloc((chunk->blocks + 1) * sizeof *chunk->offset);
    if (!chunk->offset) return "out of memory";
    const char *const reason = find_blocks(chunk, at);
    if (reason) db_bitshuffle_close(chunk);
    return reason;
}

void db_bitshuffle_close(db_bitshuffle *chunk) {
    free(chunk->offset);
    chunk->offset = NULL;
}

/* Decompresses the shuffled bits of a block; *rest: the elements after them that are not shuffled. */
static const char *undo_compression(const db_bitshuffle *chunk, size_t block, unsigned char *bits,
                                    const unsigned char **rest) {
    const size_t count = shuffled(chunk, block), wanted = count * chunk->width,
                 end = chunk->offset[block + 1] -
                       (db_bitshuffle_count(chunk, block) - count) * chunk->width;
    const unsigned char *from = chunk->bytes + chunk->offset[block];
    *rest = chunk->bytes + end;
    if (chunk->compression == DB_BLOCKS_PLAIN) {
        memcpy(bits, from, wanted);
    } else if (count) {
        const size_t length = end - chunk->offset[block] - 4;
        from += 4;
        if (chunk->compression == DB_BLOCKS_LZ4) {
            const int got =
                LZ4_decompress_safe((const char *)from, (char *)bits, (int)length, (int)wanted);
            if (length > INT32_MAX || got < 0 || (size_t)got != wanted)
                return "a block does not decompress with LZ4 to its size";
        } else if (ZSTD_decompress(bits, wanted, from, length) != wanted) {
            return "a block does not decompress with Zstandard to its size";
        }
    }
    return NULL;
}

const char *db_bitshuffle_block(const db_bitshuffle *chunk, size_t block, unsigned char *work,
                                unsigned char *elements) {
    unsigned char *const bits = work + DB_UNSHUFFLE_ROOM;
    const unsigned char *rest;
    const size_t count = shuffled(chunk, block), wanted = count * chunk->width;
    const char *const reason = undo_compression(chunk, block, bits, &rest);
    if (reason) return reason;
    unshuffle_bits(bits, count, chunk->width, work, elements);
    memcpy(elements + wanted, rest, (db_bitshuffle_count(chunk, block) - count) * chunk->width);
    return NULL;
}

/* The rows of bits behind the first, one over the other. */
static void join_rows(const unsigned char *restrict bits, size_t each, size_t rows,
                      unsigned char *restrict joined) {
    memset(joined, 0, each);
    for (size_t r = 1; r < rows; r++)
        for (size_t i = 0; i < each; i++) joined[i] |= bits[r * each + i];
}

const char *db_bitshuffle_flags(const db_bitshuffle *chunk, size_t block, unsigned char *work,
                                unsigned char *flags, int *any) {
    unsigned char *const bits = work + DB_UNSHUFFLE_ROOM;
    const unsigned char *rest;
    const size_t count = shuffled(chunk, block), each = count / 8,
                 left = db_bitshuffle_count(chunk, block) - count;
    const char *const reason = undo_compression(chunk, block, bits, &rest);
    if (reason) return reason;
    *any = !all_zero(bits, count * chunk->width) || !all_zero(rest, left * chunk->width);
    if (!*any) return NULL;
    join_rows(bits, each, 8 * chunk->width, work);
    for (size_t i = 0; i < each; i++) {
        const unsigned low = bits[i], high = work[i] & ~low;
        for (unsigned k = 0; k < 8; k++)
            flags[8 * i + k] = (unsigned char)((low >> k & 1) | (high >> k & 1) << 1);
    }
    for (size_t i = 0; i < left; i++, rest += chunk->width)
        flags[count + i] = rest[0] & 1 ? 1 : all_zero(rest, chunk->width) ? 0 : 2;
    return NULL;
}
#else
typedef int db_without_bitshuffle;
#endif
