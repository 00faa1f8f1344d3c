#include "model/ran1.h"

enum { MULTIPLIER = 16807, WARM_UP = 8, TABLE_SIZE = 32, TABLE_DIVISOR = 67108864 };
static const int64_t MODULUS = 2147483647;

static int64_t step(db_ran1 *generator) {
    generator->x = generator->x * MULTIPLIER % MODULUS;
    return generator->x;
}

void db_ran1_seed(db_ran1 *generator, long seed) {
    generator->x = seed < 1 ? 1 : (int64_t)seed;
    for (int i = 0; i < WARM_UP; i++) step(generator);
    for (int i = TABLE_SIZE - 1; i >= 0; i--) generator->table[i] = step(generator);
    generator->y = generator->table[0];
}

int64_t db_ran1_integer(db_ran1 *generator) {
    const int64_t x = step(generator);
    const int64_t j = generator->y / TABLE_DIVISOR;
    generator->y = generator->table[j];
    generator->table[j] = x;
    return generator->y;
}

float db_ran1_uniform(db_ran1 *generator) {
    const float largest = (float)(1.0 - 1.2e-7);
    const float uniform = (float)((1.0 / 2147483647.0) * (double)db_ran1_integer(generator));
    return uniform > largest ? largest : uniform;
}
