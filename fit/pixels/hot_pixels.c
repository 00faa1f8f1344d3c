/* Pixels that count what no photon brought. */
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double neighbours_share = 0.05;

/* The middle one of up to 24 numbers, the larger one of two: a sorted list of the lower half is
 * enough. */
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

/* Trusted pixels of one of the two rings around a pixel, appended to a list of so many; returns how
 * many there are then. */
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
    for (int i = 1; i < next_to; i++) brightest = fmaxf(brightest, around[i]);
    /* beside one as bright, more than 3 / (1 - 0.05) deviations are too many for it, whatever the median */
    if ((double)brightest >= value && sigma > 3.2) return 0;
    const int count = add_ring(panel, fast, slow, 2, around, next_to);
    const double median = (double)middle_of(around, count);
    const double noise = sqrt(db_pixel_variance(settings, median)), excess = value - median;
    return excess > sigma * noise &&
           (double)brightest - median < neighbours_share * excess + 3 * noise;
}

/* Columns of a row that are tested at a time. */
enum { CHUNK = 256 };

/* Cheap test of pixels of a row, `count` from `first` on: beside the one before it a hot pixel
 * would have to stand out, too; in the row's first column beside the one after it. Marks those
 * that may be hot. */
static void may_be_hot(const db_fit_settings *settings, double sigma, const float *value,
                       const uint8_t *mask, int beside, int count, uint8_t *may_be) {
    const float per_count = (float)(0.25 * sigma * sigma * settings->gain),
                least = (float)(0.25 * sigma * sigma * db_pixel_variance(settings, 0));
    for (int i = 0; i < count; i++) {
        const float own = value[i], next = value[i + beside], other = next > 0 ? next : 0,
                    step = own - other;
        const float square = per_count * other > least ? per_count * other : least;
        const int stands_out = (step > 0) & (step * step >= square);
        may_be[i] =
            (mask[i] == DB_MASK_TRUSTED) & (stands_out | (mask[i + beside] != DB_MASK_TRUSTED));
    }
}

static size_t search_chunk(const db_fit_settings *settings, double sigma, db_measured_image *panel,
                           int first, int slow) {
    uint8_t may_be[CHUNK];
    const int left = panel->fast_pixels - first, count = left < CHUNK ? left : CHUNK;
    const size_t start = (size_t)slow * (size_t)panel->fast_pixels + (size_t)first;
    const float *const value = panel->value + start;
    uint8_t *const mask = panel->mask + start;
    size_t found = 0;
    const int head = first == 0; /* no pixel is before it */
    may_be[0] = mask[0] == DB_MASK_TRUSTED;
    if (head && panel->fast_pixels > 1) may_be_hot(settings, sigma, value, mask, 1, 1, may_be);
    may_be_hot(settings, sigma, value + head, mask + head, -1, count - head, may_be + head);
    for (const uint8_t *next = may_be; (next = memchr(next, 1, (size_t)(may_be + count - next)));
         next++) {
        const int i = (int)(next - may_be);
        if (!is_hot(settings, sigma, panel, first + i, slow, (double)value[i])) continue;
        mask[i] = DB_MASK_BAD;
        if (i + 1 < count) may_be[i + 1] = mask[i + 1] == DB_MASK_TRUSTED;
        found++;
    }
    return found;
}

static size_t search(const db_fit_settings *settings, double sigma, db_measured_image *panel) {
    size_t found = 0;
    for (int slow = 0; slow < panel->slow_pixels; slow++)
        for (int first = 0; first < panel->fast_pixels; first += CHUNK)
            found += search_chunk(settings, sigma, panel, first, slow);
    return found;
}

size_t db_mask_hot_pixels(const db_fit_settings *settings, double sigma, db_measured_image *image) {
    size_t found = 0;
    if (!(sigma > 0)) return 0;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        db_measured_image panel = db_measured_panel(image, p);
        found += search(settings, sigma, &panel);
    }
    image->masked += found;
    return found;
}
