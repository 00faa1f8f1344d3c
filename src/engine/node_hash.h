/* Hashes of whole numbers. */
#ifndef DB_ENGINE_NODE_HASH_H
#define DB_ENGINE_NODE_HASH_H

#include <stdint.h>

/* Mixes a whole number into a hash (multiply and shift, as in splitmix64). */
static inline uint64_t db_mix(uint64_t hash, double number) {
    hash ^= (uint64_t)(int64_t)number;
    hash *= 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

#endif
