/* Bits of bytes, from the lowest of each up. */
#ifndef DB_IO_BIT_STREAM_H
#define DB_IO_BIT_STREAM_H

#include <stdint.h>

typedef struct db_bit_stream {
    const unsigned char *next;
    const unsigned char *end;
    uint64_t held;
    int count; /* bits held */
} db_bit_stream;

/* The next bits (at most 32) as unsigned number; 0 if fewer bits are left. */
static inline int db_take_bits(db_bit_stream *s, int bits, uint32_t *value) {
    while (s->count < bits) {
        if (s->next == s->end) return 0;
        s->held |= (uint64_t)*s->next++ << s->count;
        s->count += 8;
    }
    *value = (uint32_t)(s->held & (((uint64_t)1 << bits) - 1));
    s->held >>= bits;
    s->count -= bits;
    return 1;
}

/* Two's complement of `bits` bits. */
static inline uint32_t db_widen_bits(uint32_t value, int bits) {
    if (bits == 0 || bits == 32) return value;
    const uint32_t sign = (uint32_t)1 << (bits - 1);
    return (value ^ sign) - sign;
}

#endif
