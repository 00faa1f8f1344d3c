/* Numbers that look random, the same in every run (G. Marsaglia, J. Stat. Softw. 8 (2003) 14). */
#ifndef DB_TESTS_SUPPORT_DRAWS_H
#define DB_TESTS_SUPPORT_DRAWS_H

#include <math.h>
#include <stdint.h>

/* Another start, other numbers; not 0. */
#ifndef DRAWS_START
#define DRAWS_START 88172645463325252U
#endif
static uint64_t draws_state = DRAWS_START;

static inline double uniform(double low, double high) {
    draws_state ^= draws_state << 13;
    draws_state ^= draws_state >> 7;
    draws_state ^= draws_state << 17;
    return low + (high - low) * ((double)(draws_state >> 11) / 9007199254740992.0);
}
/* Uniform in its logarithm. */
static inline double scaled(double low, double high) {
    return low * pow(high / low, uniform(0, 1));
}
static inline int once_in(double times) { return uniform(0, times) < 1; }
static inline int whole(int low, int high) { return (int)floor(uniform(low, high + 0.999)); }

#endif
