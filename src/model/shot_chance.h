/* Random numbers of a training set: each is a function of seed, shot and purpose only, so that a shot is the same
 * in any range, file and thread. */
#ifndef DB_MODEL_SHOT_CHANCE_H
#define DB_MODEL_SHOT_CHANCE_H

#include <stddef.h>
#include <stdint.h>

typedef enum db_chance {
    DB_CHANCE_ORIENTATION,
    DB_CHANCE_NOISE,
    DB_CHANCE_CELL,
    DB_CHANCE_FLUENCE,
    DB_CHANCE_WAVELENGTH,
    DB_CHANCE_SPECTRUM
} db_chance;

/* 64 random bits; shot from 0. */
uint64_t db_chance_bits(long seed, size_t shot, db_chance purpose, uint64_t index);

/* A seed for others: 1 to 2147483646. */
long db_chance_seed(long seed, size_t shot, db_chance purpose);

/* A normal deviate. */
double db_chance_normal(long seed, size_t shot, db_chance purpose, uint64_t index);

#endif
