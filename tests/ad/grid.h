/* Arguments to test a rule at: dense, geometric, and the neighbours of special points, shuffled so
 * that neighbouring lanes get arguments far apart. */
#ifndef TESTS_AD_GRID_H
#define TESTS_AD_GRID_H

#include <stddef.h>

typedef struct {
    long double *at;
    size_t count, room;
} grid;

void grid_add(grid *g, long double x);
/* count equidistant points, ends included */
void grid_linear(grid *g, long double from, long double to, size_t count);
/* from, from * ratio, ... up to `to`; from, to > 0, ratio > 1 */
void grid_geometric(grid *g, long double from, long double to, long double ratio);
/* x and its nearest neighbours, for a type with `digits` bits of mantissa */
void grid_near(grid *g, long double x, int digits);
/* In an order that looks random but is always the same; then the first arguments again, up to a
 * multiple of `group`. */
void grid_shuffle(grid *g, size_t group);
void grid_free(grid *g);

/* The next of a fixed sequence of numbers that look random, equally distributed over [from, to). */
long double grid_random(long double from, long double to);

#endif
