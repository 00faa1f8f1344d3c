#include "model/shot_chance.h"

#include <math.h>

static const double TURN = 6.2831853071795864769;
static const long SEEDS = 2147483646;

/* The mixing function of splitmix64. */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

uint64_t db_chance_bits(long seed, size_t shot, db_chance purpose, uint64_t index) {
    return mix(mix(mix(mix((uint64_t)seed) ^ (uint64_t)purpose) ^ (uint64_t)shot) ^ index);
}

long db_chance_seed(long seed, size_t shot, db_chance purpose) {
    return 1 + (long)(db_chance_bits(seed, shot, purpose, 0) % (uint64_t)SEEDS);
}

/* Within 0 and 1, neither of them. */
static double uniform(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

double db_chance_normal(long seed, size_t shot, db_chance purpose, uint64_t index) {
    const double radius = uniform(db_chance_bits(seed, shot, purpose, 2 * index)),
                 angle = uniform(db_chance_bits(seed, shot, purpose, 2 * index + 1));
    return sqrt(-2 * log(radius)) * cos(TURN * angle);
}
