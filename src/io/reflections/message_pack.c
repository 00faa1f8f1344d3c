/* MessagePack documents, gone through from the front. */
#include "io/reflections/message_pack.h"

#include <stdint.h>

enum { DEEPEST = 32 };

/* The meaning of an object's first byte. */
typedef struct object {
    unsigned width; /* bytes of a number that follows: of elements, or of bytes */
    unsigned fixed; /* elements or bytes without such a number, or in addition to it */
    enum { BYTES, ARRAY, MAP, WRONG } kind;
} object;

static object begin_list(unsigned char first) {
    static const object others[32] = {
        { 0, 0, BYTES },  { 0, 0, WRONG }, { 0, 0, BYTES }, { 0, 0, BYTES }, /* nil, -, booleans */
        { 1, 0, BYTES },  { 2, 0, BYTES }, { 4, 0, BYTES },                  /* bytes */
        { 1, 1, BYTES },  { 2, 1, BYTES }, { 4, 1, BYTES },                  /* extensions */
        { 0, 4, BYTES },  { 0, 8, BYTES },                                   /* floats */
        { 0, 1, BYTES },  { 0, 2, BYTES }, { 0, 4, BYTES }, { 0, 8, BYTES }, /* integers */
        { 0, 1, BYTES },  { 0, 2, BYTES }, { 0, 4, BYTES }, { 0, 8, BYTES },
        { 0, 2, BYTES },  { 0, 3, BYTES }, { 0, 5, BYTES }, { 0, 9, BYTES }, /* extensions */
        { 0, 17, BYTES }, { 1, 0, BYTES }, { 2, 0, BYTES }, { 4, 0, BYTES }, /* texts */
        { 2, 0, ARRAY },  { 4, 0, ARRAY }, { 2, 0, MAP },   { 4, 0, MAP },
    };
    if (first < 0x80 || first >= 0xe0) return (object){ 0, 0, BYTES };
    if (first < 0x90) return (object){ 0, first & 15, MAP };
    if (first < 0xa0) return (object){ 0, first & 15, ARRAY };
    if (first < 0xc0) return (object){ 0, first & 31, BYTES };
    return others[first - 0xc0];
}

db_message_pack db_message_pack_check(const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    const unsigned char *const end = at + size;
    uint64_t left[DEEPEST + 1] = { 1 }; /* objects still to come, at each depth */
    int depth = 0;
    while (depth >= 0) {
        if (left[depth] == 0) {
            depth--;
            continue;
        }
        if (at == end) return DB_PACK_CUT;
        const object o = begin_list(*at++);
        uint64_t count = o.fixed;
        left[depth]--;
        if (o.kind == WRONG) return DB_PACK_WRONG;
        if ((size_t)(end - at) < o.width) return DB_PACK_CUT;
        uint64_t number = 0;
        for (unsigned i = 0; i < o.width; i++) number = number << 8 | *at++;
        count += number;
        if (count > (uint64_t)(end - at)) return DB_PACK_CUT; /* an element takes a byte */
        if (o.kind == BYTES) {
            at += count;
        } else {
            if (depth == DEEPEST) return DB_PACK_WRONG;
            left[++depth] = o.kind == MAP ? 2 * count : count;
        }
    }
    return DB_PACK_WHOLE;
}
