#define _DEFAULT_SOURCE /* madvise */

#include "cli/images.h"

#include "cli/complaint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Independent partial results, which the compiler turns into vector instructions. */
enum { PARTS = 16 };

typedef struct partial {
    double sum[PARTS], squares[PARTS];
    float largest[PARTS];
    double count;
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
    p->count += count;
}

static void add_masked_row(partial *p, const float *row, const unsigned char *mask, int count) {
    for (int i = 0; i < count; i++)
        if (mask[i]) {
            add_pixel(p, i % PARTS, row[i]);
            p->count++;
        }
}

static float row_largest(const partial *p) {
    float largest = p->largest[0];
    for (int part = 1; part < PARTS; part++)
        if (p->largest[part] > largest) largest = p->largest[part];
    return largest;
}

/* Takes a row's largest pixel if it is larger than all before. */
static void find_largest(db_image_statistics *s, float largest, const db_region *region, int slow,
                         const float *row, const unsigned char *mask) {
    if (!((double)largest > s->largest)) return;
    s->largest = (double)largest;
    s->slow = region->slow_start + slow;
    int i = 0;
    while (row[i] != largest || (mask && !mask[i])) i++;
    s->fast = region->fast_start + i;
}

static double less_one(double count) { return count > 2 ? count - 1 : 1; }

db_image_statistics db_image_statistics_of(const float *image, const db_region *region,
                                           const unsigned char *mask) {
    db_image_statistics s = { -INFINITY, 0, 0, 0, -1, -1 };
    partial p = { { 0 }, { 0 }, { 0 }, 0 };
    for (int part = 0; part < PARTS; part++) p.largest[part] = -INFINITY;
    for (int slow = 0; slow < region->slow_count; slow++) {
        const size_t start = region->offset + (size_t)slow * region->stride;
        const unsigned char *mask_row = mask ? mask + start : NULL;
        if (mask)
            add_masked_row(&p, image + start, mask_row, region->fast_count);
        else
            add_row(&p, image + start, region->fast_count);
        find_largest(&s, row_largest(&p), region, slow, image + start, mask_row);
    }
    if (s.largest == 0 || s.slow < 0) { /* blank, or all masked */
        s.largest = 0;
        s.fast = s.slow = -1;
    }
    const double pixels = (double)region->fast_count * region->slow_count;
    double sum = 0, squares = 0;
    for (int part = 0; part < PARTS; part++) {
        sum += p.sum[part];
        squares += p.squares[part];
    }
    s.mean = p.count > 0 ? sum / p.count : 0;
    s.rms = sqrt(squares / less_one(p.count));
    /* sum of (x - mean)^2 over all pixels of the region; masked ones count as x = 0 */
    const double spread = squares - 2 * s.mean * sum + pixels * s.mean * s.mean;
    s.rmsd = sqrt(fmax(0, spread) / less_one(pixels));
    return s;
}

double db_image_largest_magnitude(const float *image, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        const double magnitude = fabs((double)image[i]);
        if (!(magnitude <= largest) && !isnan(largest)) largest = magnitude;
    }
    return largest;
}

db_status db_image_check_finite(const char *command, const char *what, double magnitude) {
    if (isfinite(magnitude)) return DB_OK;
    return db_complain(command, DB_ERROR_INPUT,
                       "%s: pixels are beyond the 3.4e38 that 32-bit floats hold; structure "
                       "factors, crystal or fluence are too large",
                       what);
}

enum { HUGE_PAGE = 2 << 20 };

float *db_image_buffer(const db_panel *panel, const db_region *region) {
    const size_t bytes = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels * sizeof(float);
    const size_t rounded = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    float *image = bytes < HUGE_PAGE ? malloc(bytes) : aligned_alloc(HUGE_PAGE, rounded);
    if (!image) return NULL;
#if defined(MADV_HUGEPAGE)
    if (bytes >= HUGE_PAGE)
        (void)madvise(image, rounded, MADV_HUGEPAGE); /* only advice, which may fail */
#endif
    const int whole =
        region->fast_count == panel->fast_pixels && region->slow_count == panel->slow_pixels;
    if (!whole) memset(image, 0, bytes);
    return image;
}
