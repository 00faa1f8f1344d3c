#include "cli/statistics.h"

#include <math.h>

/* Independent partial results, which the compiler turns into vector instructions. */
enum { PARTS = 16 };

typedef struct partial {
    double sum[PARTS], squares[PARTS];
    float largest[PARTS];
} partial;

static void add_pixel(partial *p, int part, float pixel) {
    const double x = (double)pixel;
    p->sum[part] += x;
    p->squares[part] += x * x;
    p->largest[part] = pixel > p->largest[part] ? pixel : p->largest[part];
}

static void add_row(partial *p, const float *row, int count) {
    int i = 0;
    for (; i + PARTS <= count; i += PARTS)
        for (int part = 0; part < PARTS; part++) add_pixel(p, part, row[i + part]);
    for (; i < count; i++) add_pixel(p, 0, row[i]);
}

static float row_largest(const partial *p) {
    float largest = p->largest[0];
    for (int part = 1; part < PARTS; part++)
        if (p->largest[part] > largest) largest = p->largest[part];
    return largest;
}

db_image_statistics db_image_statistics_of(const float *image, const db_region *region) {
    db_image_statistics s = { -INFINITY, 0, 0, 0, 0, 0 };
    partial p = { { 0 }, { 0 }, { 0 } };
    for (int part = 0; part < PARTS; part++) p.largest[part] = -INFINITY;
    for (int slow = 0; slow < region->slow_count; slow++) {
        const float *row = image + region->offset + (size_t)slow * region->stride;
        add_row(&p, row, region->fast_count);
        const float largest = row_largest(&p);
        if (!((double)largest > s.largest)) continue;
        s.largest = (double)largest;
        s.slow = region->slow_start + slow;
        for (s.fast = region->fast_start; row[s.fast - region->fast_start] != largest;) s.fast++;
    }
    const double count = (double)region->fast_count * region->slow_count,
                 less = count > 1 ? count - 1 : 1;
    double sum = 0, squares = 0;
    for (int part = 0; part < PARTS; part++) {
        sum += p.sum[part];
        squares += p.squares[part];
    }
    s.mean = sum / count;
    s.rms = sqrt(squares / less);
    s.rmsd = sqrt(fmax(0, squares - count * s.mean * s.mean) / less);
    return s;
}

double db_image_largest_magnitude(const float *image, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs((double)image[i]));
    return largest;
}
