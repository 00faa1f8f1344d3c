/* J. P. Abrahams' packing as imgCIF defines it (International Tables G, 5.6.3.2; CBFlib manual,
 * 3.3.2): 32 bytes of header, then blocks. A block has a code of 6 bits (version 2: 7), the lowest
 * three of which say that 2^n differences follow, the others of how many bits each; all bits from
 * the lowest of each byte up. */
#include "io/images/cbf.h"

#include "io/images/bit_stream.h"

enum { HEADER = 32, WHOLE = 65 }; /* 65 bits: a whole element follows */

typedef struct shape {
    size_t fast, slow;
    int flags;
} shape;

/* Mean of 1, 2, 4 or 8 elements, rounded half up. */
static uint32_t mean_of(uint32_t sum, int count) {
    const int shift = count >= 8 ? 3 : count >= 4 ? 2 : count >= 2 ? 1 : 0;
    return (uint32_t)(((int64_t)(int32_t)sum + (shift ? 1 << (shift - 1) : 0)) >> shift);
}

/* Predicts element i by the mean of earlier neighbours. Within a section these are the one on the
 * left and, in the row before, those on the right, at the same place and on the left; the first
 * column lacks those on the left, the last column uses left and same only. In later sections, but
 * not in their first row, the elements one section below these and below the pixel itself count,
 * too. */
static uint32_t foretold_pixel(const shape *s, const int32_t *element, size_t i) {
    const size_t section_size = s->fast * s->slow, x = i % s->fast, y = i / s->fast % s->slow;
    if (i == 0) return 0;
    if (s->flags & DB_PACKED_FLAT) return (uint32_t)element[i - 1];
    if (y == 0) return (uint32_t)element[x == 0 ? i - section_size : i - 1];
    size_t at[4];
    int count = 0;
    if (x > 0) at[count++] = i - 1;
    at[count++] = i - s->fast;
    if (x + 1 < s->fast) at[count++] = i - s->fast + 1;
    if (x > 0 && x + 1 < s->fast) at[count++] = i - s->fast - 1;
    uint32_t sum = 0;
    for (int k = 0; k < count; k++) sum += (uint32_t)element[at[k]];
    if (i < section_size || s->flags & DB_PACKED_UNCORRELATED_SECTIONS) return mean_of(sum, count);
    for (int k = 0; k < count; k++) {
        const size_t below = at[k] - section_size + (x > 0 && k == 0);
        sum += (uint32_t)element[below];
    }
    return mean_of(sum, 2 * count);
}

static uint64_t stated_count(const unsigned char *bytes) {
    uint64_t count = 0;
    for (int i = 0; i < 8; i++) count |= (uint64_t)bytes[i] << (8 * i);
    return count;
}

size_t db_cbf_unpack(const unsigned char *bytes, size_t size, size_t fast, size_t slow,
                     size_t sections, int flags, int32_t *element) {
    static const unsigned char first_widths[8] = { 0, 4, 5, 6, 7, 8, 16, WHOLE };
    static const unsigned char second_widths[16] = { 0,  3,  4,  5,  6,  7,  8,  9,
                                                     10, 11, 12, 13, 14, 15, 16, WHOLE };
    const size_t total = fast * slow * sections;
    const shape s = { fast, slow, flags };
    const int second = (flags & DB_PACKED_VERSION_2) != 0;
    if (size < HEADER || stated_count(bytes) != total) return 0;
    db_bit_stream stream = { bytes + HEADER, bytes + size, 0, 0 };
    size_t i = 0;
    while (i < total) {
        uint32_t code, difference;
        if (!db_take_bits(&stream, second ? 7 : 6, &code)) break;
        const int width = second ? second_widths[code >> 3] : first_widths[code >> 3];
        const int bits = width != WHOLE ? width : flags & DB_PACKED_FLAT ? 33 : 32;
        for (int left = 1 << (code & 7); left > 0 && i < total; left--, i++) {
            if (bits > 32) { /* of a flat image: the sign has a bit of its own */
                uint32_t rest;
                if (!db_take_bits(&stream, 32, &difference)) return i;
                for (int taken = 32; taken < WHOLE; taken += 11)
                    if (!db_take_bits(&stream, 11, &rest)) return i;
            } else if (!db_take_bits(&stream, bits, &difference)) {
                return i;
            }
            element[i] = (int32_t)(foretold_pixel(&s, element, i) +
                                   db_widen_bits(difference, bits > 32 ? 32 : bits));
        }
    }
    return i;
}
