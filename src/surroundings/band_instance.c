/* See surroundings/band.h; compiled once for each instruction set, with DB_INSTANCE_TAG. */
#include "surroundings/band.h"

#include "surroundings/pixel.h"

#include <dualbragg/measured_image.h>

#include <math.h>
#include <string.h>

/* 0: a whole number of at most `most`. */
static inline int is_odd(float value, float most) {
    const float below = value < most ? value : most, within = below > -most ? below : -most;
    return (float)(int32_t)within != value;
}

static int trust(const float *restrict value, const uint8_t *restrict mask, size_t count,
                 float most, uint8_t *restrict trusted) {
    int broken = 0;
    for (size_t i = 0; i < count; i++) {
        const int counts = mask[i] == DB_MASK_TRUSTED;
        broken |= counts & is_odd(value[i], most);
        trusted[i] = (uint8_t)counts;
    }
    return !broken;
}

/* Pixels of one row, and which of them count. */
typedef struct row_of_pixels {
    const float *value;
    const uint8_t *kept;
} row_of_pixels;

static row_of_pixels row_at(const db_background_pass *p, const db_background_window *w, int row,
                            int is_there) {
    const size_t start = is_there ? (size_t)row * (size_t)p->fast_pixels : 0;
    return (row_of_pixels){ p->value + start, is_there ? p->kept + start : w->none };
}

/* Adds a row to the sums of the columns, and removes another one. */
static void slide(const db_background_pass *p, const db_background_window *w, row_of_pixels in,
                  row_of_pixels out) {
    const size_t n = (size_t)p->fast_pixels;
    const float *const restrict value = in.value;
    const float *const restrict old_value = out.value;
    const uint8_t *const restrict kept = in.kept;
    const uint8_t *const restrict old_kept = out.kept;
    double *const restrict sum = w->sum;
    float *const restrict sums = w->sums[0] + p->half_width;
    uint16_t *const restrict count = w->counts[0] + p->half_width;
    if (p->is_whole)
        for (size_t i = 0; i < n; i++) {
            const float enters = value[i], leaves = old_value[i];
            sums[i] = sums[i] - (old_kept[i] ? leaves : 0) + (kept[i] ? enters : 0);
        }
    else
        for (size_t i = 0; i < n; i++) {
            const float enters = value[i], leaves = old_value[i];
            sum[i] = sum[i] - (double)(old_kept[i] ? leaves : 0) + (double)(kept[i] ? enters : 0);
            sums[i] = (float)sum[i];
        }
    for (size_t i = 0; i < n; i++) count[i] = (uint16_t)(count[i] - old_kept[i] + kept[i]);
}

static void clear_band(const db_background_pass *p, db_background_window *w) {
    const size_t n = (size_t)p->fast_pixels, half = (size_t)p->half_width;
    memset(w->sum, 0, n * sizeof *w->sum);
    memset(w->sums[0], 0, (n + 2 * half) * sizeof *w->sums[0]);
    memset(w->counts[0], 0, (n + 2 * half) * sizeof *w->counts[0]);
}

/* NAME(x, count, width): x[3][i] = x[0][i] + ... + x[0][i + width - 1], `count` numbers, by sums of two, four ...
 * numbers, always in the same order. x[0] has count + width - 1 numbers, as have x[1] and x[2], which are
 * overwritten. width is odd. */
#define DEFINE_SUM_ALONG(NAME, TYPE)                                                               \
    static void NAME(TYPE *const x[4], size_t count, size_t width) {                               \
        const TYPE *restrict from = x[0];                                                          \
        TYPE *const restrict total = x[3];                                                         \
        size_t done = 1, end = count + width - 1;                                                  \
        memcpy(total, from, count * sizeof *total);                                                \
        for (size_t step = 1, k = 1;; step *= 4, k = 3 - k) {                                      \
            const size_t two = 2 * step, three = 3 * step;                                         \
            TYPE *const restrict to = x[k];                                                        \
            if ((width - 1) & step) {                                                              \
                for (size_t i = 0; i < count; i++) total[i] = (TYPE)(total[i] + from[i + done]);   \
                done += step;                                                                      \
            }                                                                                      \
            if (width & two) {                                                                     \
                for (size_t i = 0; i < count; i++)                                                 \
                    total[i] = (TYPE)(total[i] + (TYPE)(from[i + done] + from[i + done + step]));  \
                done += two;                                                                       \
            }                                                                                      \
            if (done == width) return;                                                             \
            end -= three;                                                                          \
            for (size_t i = 0; i < end; i++)                                                       \
                to[i] = (TYPE)((TYPE)(from[i] + from[i + step]) +                                  \
                               (TYPE)(from[i + two] + from[i + three]));                           \
            from = to;                                                                             \
        }                                                                                          \
    }
DEFINE_SUM_ALONG(sum_along, float)
DEFINE_SUM_ALONG(count_along, uint16_t)

/* Keeps trusted pixels of a row that exceed the mean by no more than three standard deviations. */
static void keep_row(const db_background_pass *p, size_t start) {
    const size_t n = (size_t)p->fast_pixels;
    const float *const restrict value = p->value + start;
    const float *const restrict mean = p->mean + start;
    const uint8_t *const restrict trusted = p->trusted + start;
    uint8_t *const restrict next = p->next + start;
    const float gain = p->gain, readout = p->readout_variance;
    for (size_t i = 0; i < n; i++)
        next[i] = (uint8_t)(db_surroundings_keep(value[i], mean[i], gain, readout) & trusted[i]);
}

/* Finds trusted pixels of a row that exceed the mean by more than noise does. */
static void find_lit(const db_background_pass *p, size_t start) {
    const size_t n = (size_t)p->fast_pixels;
    const float *const restrict value = p->value + start;
    const float *const restrict mean = p->mean + start;
    const uint8_t *const restrict trusted = p->trusted + start;
    uint8_t *const restrict lit = p->lit + start;
    const float gain = p->gain, readout = p->readout_variance;
    for (size_t i = 0; i < n; i++)
        lit[i] =
            (uint8_t)(db_surroundings_lit(value[i] - mean[i], mean[i], gain, readout) & trusted[i]);
}

/* Leaves out lit pixels and the eight around each. */
static void keep_dark_row(const db_background_pass *p, const db_background_window *w, int row) {
    const size_t n = (size_t)p->fast_pixels, start = (size_t)row * n;
    const uint8_t *const lit = p->lit + start;
    const uint8_t *const restrict above = row > 0 ? lit - n : w->none;
    const uint8_t *const restrict below = row + 1 < p->slow_pixels ? lit + n : w->none;
    const uint8_t *const restrict trusted = p->trusted + start;
    uint8_t *const restrict any = w->lit;
    uint8_t *const restrict kept = p->kept + start;
    for (size_t i = 0; i < n; i++) any[i + 1] = above[i] | lit[i] | below[i];
    for (size_t i = 0; i < n; i++)
        kept[i] = trusted[i] & (uint8_t) ~(any[i] | any[i + 1] | any[i + 2]);
}

static void keep_dark(const db_background_pass *p, const db_background_window *w, int first,
                      int end) {
    for (int row = first; row < end; row++) keep_dark_row(p, w, row);
}

/* Means along one row. If every pixel is left out, the mean of the last pass stays. */
static void average_row(const db_background_pass *p, const db_background_window *w, int row) {
    const size_t n = (size_t)p->fast_pixels, half = (size_t)p->half_width, start = (size_t)row * n;
    sum_along(w->sums, n, 2 * half + 1);
    count_along(w->counts, n, 2 * half + 1);
    float *const restrict mean = p->mean + start;
    const float *const restrict sum = w->sums[3];
    const uint16_t *const restrict count = w->counts[3];
    if (p->is_first) memset(mean, 0, n * sizeof *mean);
    for (size_t i = 0; i < n; i++) mean[i] = db_surroundings_mean(sum[i], count[i], mean[i]);
    if (p->next) keep_row(p, start);
    if (p->lit) find_lit(p, start);
}

static void average(const db_background_pass *p, db_background_window *w, int first, int end) {
    const int half = p->half_width, rows = p->slow_pixels, from = first > half ? first - half : 0;
    const row_of_pixels none = row_at(p, w, 0, 0);
    clear_band(p, w);
    for (int row = from; row < first + half && row < rows; row++)
        slide(p, w, row_at(p, w, row, 1), none);
    for (int row = first; row < end; row++) {
        const int enters = row + half, leaves = row - half - 1;
        slide(p, w, row_at(p, w, enters, enters < rows), row_at(p, w, leaves, leaves >= from));
        average_row(p, w, row);
    }
}

static void mark(const float *restrict value, const uint8_t *restrict mask,
                 const float *restrict background, size_t count, double gain, double readout_noise,
                 double limit, uint8_t *restrict strong) {
    for (size_t i = 0; i < count; i++)
        strong[i] =
            (uint8_t)((mask[i] == DB_MASK_TRUSTED) &
                      db_surroundings_strong(value[i], background[i], gain, readout_noise, limit));
}

#define JOIN(a, b) a##b
#define TAGGED(a, b) JOIN(a, b)
extern const db_background_rows TAGGED(db_background_rows_, DB_INSTANCE_TAG);
const db_background_rows TAGGED(db_background_rows_, DB_INSTANCE_TAG) = { trust, keep_dark, average,
                                                                          mark };
