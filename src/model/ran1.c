/* The random numbers that the reference makes mosaic domains of. */
#include "model/ran1.h"

#include <math.h>

enum { MULTIPLIER = 16807, WARM_UP = 8, TABLE_SIZE = 32, TABLE_DIVISOR = 67108864 };
static const int64_t MODULUS = 2147483647;

static int64_t next_state(db_ran1 *generator) {
    generator->x = generator->x * MULTIPLIER % MODULUS;
    return generator->x;
}

void db_ran1_seed(db_ran1 *generator, long seed) {
    generator->x = seed < 1 ? 1 : (int64_t)seed;
    for (int i = 0; i < WARM_UP; i++) next_state(generator);
    for (int i = TABLE_SIZE - 1; i >= 0; i--) generator->table[i] = next_state(generator);
    generator->y = generator->table[0];
}

int64_t db_ran1_integer(db_ran1 *generator) {
    const int64_t x = next_state(generator);
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

float db_ran1_direction(db_ran1 *generator, double axis[3]) {
    static const double pi = 3.14159265358979323846;
    const double r1 = 2.0 * (double)db_ran1_uniform(generator) - 1.0;
    const double r2 = 2.0 * (double)db_ran1_uniform(generator) - 1.0;
    const double r3 = 2.0 * (double)db_ran1_uniform(generator) - 1.0;
    const double across = sqrt(1.0 - r2 * r2);
    axis[0] = across * sin(pi * r1);
    axis[1] = across * cos(pi * r1);
    axis[2] = r2;
    return (float)pow((double)(float)(1.0 - r3 * r3), (double)(float)(1.0 / 3.0));
}
