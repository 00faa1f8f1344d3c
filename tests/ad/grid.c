#include "grid.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void grid_add(grid *g, long double x) {
    if (g->count == g->room) {
        const size_t room = g->room ? 2 * g->room : 1024;
        long double *more = realloc(g->at, room * sizeof *more);
        if (!more) abort();
        g->at = more;
        g->room = room;
    }
    g->at[g->count++] = x;
}

void grid_linear(grid *g, long double from, long double to, size_t count) {
    for (size_t i = 0; i < count; i++)
        grid_add(g, from + (to - from) * (long double)i / (long double)(count - 1));
}

void grid_geometric(grid *g, long double from, long double to, long double ratio) {
    for (long double x = from; x <= to; x *= ratio) grid_add(g, x);
}

void grid_near(grid *g, long double x, int digits) {
    const long double step = scalbnl(0.5L, -digits);
    for (int i = -16; i <= 16; i++) grid_add(g, x * (1 + (long double)i * step));
}

static uint64_t random_bits(void) {
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

long double grid_random(long double from, long double to) {
    return from + (to - from) * scalbnl((long double)(random_bits() >> 1), -63);
}

void grid_shuffle(grid *g, size_t group) {
    for (size_t i = g->count - 1; i > 0; i--) {
        const size_t j = (size_t)(random_bits() % (i + 1));
        const long double swap = g->at[i];
        g->at[i] = g->at[j];
        g->at[j] = swap;
    }
    for (size_t i = 0; g->count % group; i++) grid_add(g, g->at[i]);
}

void grid_free(grid *g) {
    free(g->at);
    *g = (grid){ 0 };
}
