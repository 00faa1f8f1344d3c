/* Pixels that count what no photon brought. */
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>

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

/* Trusted pixels around one, at most 24; those next to it come first. */
static int surroundings(const db_measured_image *panel, int fast, int slow, float around[24],
                        int *next_to) {
    int count = 0;
    for (int ring = 1; ring <= 2; ring++) {
        for (int ds = -ring; ds <= ring; ds++)
            for (int df = -ring; df <= ring; df++) {
                const int f = fast + df, s = slow + ds;
                if (abs(df) != ring && abs(ds) != ring) continue;
                if (f < 0 || s < 0 || f >= panel->fast_pixels || s >= panel->slow_pixels) continue;
                const size_t i = (size_t)s * (size_t)panel->fast_pixels + (size_t)f;
                if (panel->mask[i] == DB_MASK_TRUSTED) around[count++] = panel->value[i];
            }
        if (ring == 1) *next_to = count;
    }
    return count;
}

static int is_hot(const db_fit_settings *settings, double sigma, const db_measured_image *panel,
                  int fast, int slow, double value) {
    float around[24];
    int next_to = 0;
    const int count = surroundings(panel, fast, slow, around, &next_to);
    if (next_to < 3) return 0;
    float brightest = around[0];
    for (int i = 1; i < next_to; i++) brightest = fmaxf(brightest, around[i]);
    const double median = (double)middle_of(around, count);
    const double noise = sqrt(db_pixel_variance(settings, median)), excess = value - median;
    return excess > sigma * noise &&
           (double)brightest - median < neighbours_share * excess + 3 * noise;
}

/* Cheap test of a pixel: beside the one before it in its row it would have to stand out, too. */
static size_t search(const db_fit_settings *settings, double sigma, db_measured_image *panel) {
    size_t found = 0;
    for (int s = 0; s < panel->slow_pixels; s++)
        for (int f = 0; f < panel->fast_pixels; f++) {
            const size_t i = (size_t)s * (size_t)panel->fast_pixels + (size_t)f;
            const double value = (double)panel->value[i];
            if (panel->mask[i] != DB_MASK_TRUSTED) continue;
            const int beside = f > 0 ? -1 : 1;
            const size_t k = f + beside < panel->fast_pixels ? (size_t)((long)i + beside) : i;
            if (k != i && panel->mask[k] == DB_MASK_TRUSTED) {
                const double other = fmax(0, (double)panel->value[k]), step = value - other;
                if (step * step < 0.25 * sigma * sigma * settings->gain * other || step <= 0)
                    continue;
            }
            if (!is_hot(settings, sigma, panel, f, s, value)) continue;
            panel->mask[i] = DB_MASK_BAD;
            found++;
        }
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
