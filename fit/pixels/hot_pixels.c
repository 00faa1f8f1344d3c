/* Hot pixels, whose counts come from no photon. */
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double neighbours_share = 0.05;

/* Median of up to 24 numbers, the larger of two; a sorted list of the lower half suffices. */
static float middle_of(const float *list, int count) {
    float low[13] = { 0 }; /* ascending */
    const int room = count / 2 + 1;
    int held = 0;
    for (int i = 0; i < count; i++) {
        const float x = list[i];
        if (held == room && !(x < low[held - 1])) continue;
        int k = held < room ? held++ : held - 1;
        for (; k > 0 && x < low[k - 1]; k--) low[k] = low[k - 1];
        low[k] = x;
    }
    return low[held - 1];
}

/* Appends trusted pixels of one of two rings around a pixel to a list with `count` numbers; returns the new
 * number. */
static int add_ring(const db_measured_image *panel, int fast, int slow, int ring, float around[24],
                    int count) {
    for (int ds = -ring; ds <= ring; ds++)
        for (int df = -ring; df <= ring; df++) {
            const int f = fast + df, s = slow + ds;
            if (abs(df) != ring && abs(ds) != ring) continue;
            if (f < 0 || s < 0 || f >= panel->fast_pixels || s >= panel->slow_pixels) continue;
            const size_t i = (size_t)s * (size_t)panel->fast_pixels + (size_t)f;
            if (panel->mask[i] == DB_MASK_TRUSTED) around[count++] = panel->value[i];
        }
    return count;
}

static int is_hot(const db_fit_settings *settings, double sigma, const db_measured_image *panel,
                  int fast, int slow, double value) {
    float around[24];
    const int next_to = add_ring(panel, fast, slow, 1, around, 0);
    if (next_to < 3) return 0;
    float brightest = around[0];
    double ring = 0;
    for (int i = 0; i < next_to; i++) {
        brightest = fmaxf(brightest, around[i]);
        ring += (double)around[i];
    }
    /* beside a neighbour as bright, more than 3 / (1 - 0.05) deviations are too many for the neighbour, with
     * any median */
    if ((double)brightest >= value && sigma > 3.2) return 0;
    const int count = add_ring(panel, fast, slow, 2, around, next_to);
    const double median = (double)middle_of(around, count);
    const double noise = sqrt(db_pixel_variance(settings, median)), excess = value - median;
    /* all neighbours together also recognize the sharpest spots, with nearly all light in a pixel */
    return excess > sigma * noise &&
           (double)brightest - median < neighbours_share * excess + 3 * noise &&
           ring - next_to * median < neighbours_share * excess + 3 * noise * sqrt(next_to);
}

/* Columns tested at a time. */
enum { CHUNK = 256 };

/* Least excess of a hot pixel over each of its neighbours. */
typedef struct least_step {
    int unknown;     /* 1: the limit is so low that neighbours may have more */
    float square;    /* counts^2 */
    float per_count; /* square for each count of the neighbour, if it is more */
} least_step;

/* A hot pixel counts t n more than the median m, t above the limit and n the standard deviation of m. A
 * neighbour counts less than (share t + 3) n more. The step between them is above (t - share t - 3) n; n^2
 * is at least the variance of no counts, and at least half the gain's square, so that gain x the
 * neighbour's counts are at most n^2 (1 + sqrt(2) (share t + 3)). */
static least_step least_step_of(const db_fit_settings *settings, double sigma) {
    const double shared = neighbours_share * sigma + 3, least = sigma - shared,
                 square = 0.9999 * least * least; /* rounding errors are smaller */
    return (least_step){ .unknown = !(least > 0),
                         .square = (float)(square * db_pixel_variance(settings, 0)),
                         .per_count = (float)(square * settings->gain / (1 + sqrt(2) * shared)) };
}

/* Cheap test of pixels of a row: a hot pixel also exceeds the pixel before it; in the row's first column, the
 * pixel after it. Marks possible hot pixels. */
static void may_be_hot(const least_step *least, const float *value, const uint8_t *mask, int beside,
                       int count, uint8_t *may_be) {
    const float per_count = least->per_count, any = least->square;
    const int unknown = least->unknown;
    for (int i = 0; i < count; i++) {
        const float next = value[i + beside], step = value[i] - next;
        const float square = per_count * next > any ? per_count * next : any;
        const int stands_out = (step > 0) & (step * step >= square);
        may_be[i] = (mask[i] == DB_MASK_TRUSTED) &
                    (stands_out | unknown | (mask[i + beside] != DB_MASK_TRUSTED));
    }
}

static size_t search_chunk(const db_fit_settings *settings, double sigma, const least_step *least,
                           db_measured_image *panel, int first, int slow) {
    uint8_t may_be[CHUNK];
    const int left = panel->fast_pixels - first, count = left < CHUNK ? left : CHUNK;
    const size_t start = (size_t)slow * (size_t)panel->fast_pixels + (size_t)first;
    const float *const value = panel->value + start;
    uint8_t *const mask = panel->mask + start;
    size_t found = 0;
    const int head = first == 0; /* no pixel is before it */
    may_be[0] = mask[0] == DB_MASK_TRUSTED;
    if (head && panel->fast_pixels > 1) may_be_hot(least, value, mask, 1, 1, may_be);
    may_be_hot(least, value + head, mask + head, -1, count - head, may_be + head);
    for (const uint8_t *next = may_be; (next = memchr(next, 1, (size_t)(may_be + count - next)));
         next++) {
        const int i = (int)(next - may_be);
        if (!is_hot(settings, sigma, panel, first + i, slow, (double)value[i])) continue;
        mask[i] = DB_MASK_HOT;
        if (i + 1 < count) may_be[i + 1] = mask[i + 1] == DB_MASK_TRUSTED;
        found++;
    }
    return found;
}

static size_t search_panel(const db_fit_settings *settings, double sigma,
                           db_measured_image *panel) {
    const least_step least = least_step_of(settings, sigma);
    size_t found = 0;
    for (int slow = 0; slow < panel->slow_pixels; slow++)
        for (int first = 0; first < panel->fast_pixels; first += CHUNK)
            found += search_chunk(settings, sigma, &least, panel, first, slow);
    return found;
}

size_t db_mask_hot_pixels(const db_fit_settings *settings, double sigma, db_measured_image *image) {
    size_t found = 0;
    if (!(sigma > 0)) return 0;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        db_measured_image panel = db_measured_panel(image, p);
        found += search_panel(settings, sigma, &panel);
    }
    image->masked += found;
    return found;
}
