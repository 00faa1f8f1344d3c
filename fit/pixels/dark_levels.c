/* Dark levels, square by square, from the scatter of background pixels that share no photon. */
#include "fit/pixels/dark_levels.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Squares; the last one of a row and of a column ends with its panel. */
enum { SQUARE = DB_NOISE_SQUARE, APART = DB_NOISE_APART, PASSES = 8, ENOUGH = DB_NOISE_ENOUGH };
static const double CLIP = 4; /* standard deviations; pixels beyond belong to spots */
/* difference from the expected variance; the scatter of photons alone is 0.03 to 0.06 */
static const double UNLIKE = 0.15;
static const double CERTAIN = 5;    /* standard errors */
static const double LEAST_PART = 4; /* fraction of a square's pixels that must be trusted: one of */

typedef struct square {
    double mean, variance; /* of the background; NAN: too few pixels */
    /* counts of a photon, squared; below 0 as often as above if there are no photons */
    double photon;
} square;

/* The squares of a panel, row by row. */
typedef struct grid {
    int columns, rows;
    square *at;
} grid;

static int squares_along(int pixels) { return pixels < SQUARE ? 0 : (pixels - 1) / SQUARE + 1; }

static int first_pixel(int number, int pixels) {
    const int last = pixels - SQUARE;
    return number * SQUARE < last ? number * SQUARE : last;
}

typedef struct pairs {
    double sum, squares;  /* sums of both pixels; of squared differences */
    double cosine, twice; /* sums of cosines of the differences, and of twice the differences */
    size_t count;
} pairs;

/* Sums over pairs of pixels that share no photon. Pairs that differ by more than a limit do not count in the first
 * two sums, so spots do not. step: factor on differences in the last two sums; 0: no such sums. */
static pairs sum_pairs(const db_measured_image *panel, int fast, int slow, double limit,
                       double step) {
    pairs p = { 0 };
    for (int row = slow; row < slow + SQUARE; row++)
        for (int column = fast; column < fast + SQUARE - APART; column++) {
            const size_t i = (size_t)row * (size_t)panel->fast_pixels + (size_t)column;
            if (panel->mask[i] != DB_MASK_TRUSTED || panel->mask[i + APART] != DB_MASK_TRUSTED)
                continue;
            const double a = (double)panel->value[i], b = (double)panel->value[i + APART];
            const double c = step > 0 ? cos(step * (a - b)) : 1;
            if (fabs(a - b) > limit) continue;
            p.sum += a + b;
            p.squares += (a - b) * (a - b);
            p.cosine += c;
            p.twice += 2 * c * c - 1;
            p.count++;
        }
    return p;
}

/* If both pixels have L photons on average and a photon gives g counts, the characteristic function of their
 * difference is f(t) = exp(-2 L (1 - cos(g t))) (Poisson). So ln f(2t) / (4 ln f(t)) is cos^2(g t / 2), at any
 * light and dark level. */
static double photon_of(const db_measured_image *panel, int fast, int slow, double variance) {
    const double t = 0.7 / sqrt(variance);
    const pairs p = sum_pairs(panel, fast, slow, INFINITY, t);
    const double once = p.cosine / (double)p.count, twice = p.twice / (double)p.count;
    if (!(once > 0.01) || !(twice > 0.01) || once >= 1) return NAN;
    const double miss = 1 - log(twice) / (4 * log(once)),
                 g = 2 * asin(sqrt(fmin(1, fabs(miss)))) / t;
    return miss < 0 ? -g * g : g * g;
}

static square look_at(const db_measured_image *panel, int fast, int slow) {
    const square none = { NAN, NAN, NAN };
    square s = none;
    double limit = INFINITY;
    size_t before = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        const pairs p = sum_pairs(panel, fast, slow, limit, 0);
        if ((double)p.count * LEAST_PART < SQUARE * (SQUARE - APART)) return none;
        s.mean = 0.5 * p.sum / (double)p.count;
        s.variance = 0.5 * p.squares / (double)p.count;
        if (p.count == before || !(s.variance > 0)) break;
        before = p.count;
        limit = CLIP * sqrt(2 * s.variance);
    }
    if (s.variance > 0) s.photon = photon_of(panel, fast, slow, s.variance);
    return s;
}

static void fill_squares(const db_measured_image *panel, grid *g) {
    for (int row = 0; row < g->rows; row++)
        for (int column = 0; column < g->columns; column++)
            g->at[row * g->columns + column] =
                look_at(panel, first_pixel(column, panel->fast_pixels),
                        first_pixel(row, panel->slow_pixels));
}

/* Sums over squares around their means, each relative to its variance. */
typedef struct law {
    double weight, mean, variance, mean_mean, mean_variance;
} law;

static void add_square(const square *s, law *l) {
    const double w = 1 / (s->variance * s->variance);
    l->weight += w;
    l->mean += w * s->mean;
    l->variance += w * s->variance;
    l->mean_mean += w * s->mean * s->mean;
    l->mean_variance += w * s->mean * s->variance;
}

static law law_of(const grid *grids, size_t count) {
    law l = { 0 };
    for (size_t p = 0; p < count; p++)
        for (int i = 0; i < grids[p].rows * grids[p].columns; i++)
            if (grids[p].at[i].variance > 0) add_square(&grids[p].at[i], &l);
    return l;
}

/* Fits variance = gain mean + readout_noise^2 by relative least squares. */
static void common_law(const law *l, double given, double *gain, double *readout_noise) {
    const double determinant = l->weight * l->mean_mean - l->mean * l->mean;
    double readout = given * given;
    if (!(given > 0) && determinant > 1e-9 * l->weight * l->mean_mean)
        readout = fmax(0, (l->mean_mean * l->variance - l->mean * l->mean_variance) / determinant);
    const double slope =
        l->mean_mean > 0 ? (l->mean_variance - l->mean * readout) / l->mean_mean : 0;
    *gain = fmax(1, slope);
    *readout_noise = sqrt(readout);
}

/* Counts of a photon: median over the squares. 0: not determined. */
static db_status find_photon(db_context *context, const grid *grids, size_t panels, size_t squares,
                             double *photon) {
    double *const list = malloc((squares + 1) * sizeof *list);
    size_t count = 0;
    if (!list) return db_fail_memory(context, "the noise of the image");
    for (size_t p = 0; p < panels; p++)
        for (int i = 0; i < grids[p].rows * grids[p].columns; i++)
            if (isfinite(grids[p].at[i].photon)) list[count++] = grids[p].at[i].photon;
    db_sort_numbers(list, count);
    *photon = 0;
    if (count >= ENOUGH) {
        const double spread = (list[3 * count / 4] - list[count / 4]) / 1.349;
        const double error = 1.2533 * spread / sqrt((double)count); /* of a median */
        if (list[count / 2] > CERTAIN * error) *photon = sqrt(list[count / 2]);
    }
    free(list);
    return DB_OK;
}

/* Do at least half of the squares scatter too much or too little? */
static int is_unlike(const grid *grids, size_t count, double gain, double readout_noise) {
    size_t off = 0, all = 0;
    for (size_t p = 0; p < count; p++)
        for (int i = 0; i < grids[p].rows * grids[p].columns; i++) {
            const square *const s = &grids[p].at[i];
            if (!(s->variance > 0)) continue;
            const double says = db_count_variance(gain, readout_noise, s->mean);
            off += fabs(s->variance - says) > UNLIKE * s->variance;
            all++;
        }
    return 2 * off > all;
}

/* Replaces the mean of a square by its level. Squares without pixels get the level of their panel. Returns 0 for a
 * panel without any. */
static int level(const db_fit_settings *settings, grid *g) {
    const double readout = settings->readout_noise * settings->readout_noise;
    double sum = 0;
    size_t count = 0;
    for (int i = 0; i < g->rows * g->columns; i++) {
        const double photons = fmax(0, g->at[i].variance - readout) / settings->gain;
        g->at[i].mean -= photons;
        if (!isfinite(g->at[i].mean)) continue;
        sum += g->at[i].mean;
        count++;
    }
    for (int i = 0; i < g->rows * g->columns && count; i++)
        if (!isfinite(g->at[i].mean)) g->at[i].mean = sum / (double)count;
    return count > 0;
}

/* Place of a pixel between middles of squares: the square before it, and the fraction of the way to the next. */
static int between(int pixel, int count, int pixels, double *part) {
    const double half = 0.5 * (SQUARE - 1);
    int before = pixel / SQUARE < count - 1 ? pixel / SQUARE : count - 1;
    while (before > 0 && first_pixel(before, pixels) + half > pixel) before--;
    *part = 0;
    if (before + 1 >= count) return before;
    const double from = first_pixel(before, pixels) + half,
                 to = first_pixel(before + 1, pixels) + half;
    *part = fmin(1, fmax(0, (pixel - from) / (to - from)));
    return before;
}

static void subtract_levels(const grid *g, const db_measured_image *panel, float *dark,
                            double range[2]) {
    for (int row = 0; row < panel->slow_pixels; row++) {
        double down, across;
        const int r = between(row, g->rows, panel->slow_pixels, &down);
        const square *const upper = g->at + r * g->columns;
        const square *const lower = down > 0 ? upper + g->columns : upper;
        for (int column = 0; column < panel->fast_pixels; column++) {
            const int c = between(column, g->columns, panel->fast_pixels, &across);
            const int next = across > 0 ? c + 1 : c;
            const double above = upper[c].mean + across * (upper[next].mean - upper[c].mean),
                         below = lower[c].mean + across * (lower[next].mean - lower[c].mean);
            const double here = above + down * (below - above);
            const size_t i = (size_t)row * (size_t)panel->fast_pixels + (size_t)column;
            dark[i] = (float)here;
            panel->value[i] -= dark[i];
            range[0] = fmin(range[0], here);
            range[1] = fmax(range[1], here);
        }
    }
}

static void subtract_all(const db_fit_settings *settings, db_measured_image *image, grid *grids,
                         db_image_noise *noise) {
    noise->dark[0] = INFINITY;
    noise->dark[1] = -INFINITY;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        if (!level(settings, &grids[p])) continue;
        subtract_levels(&grids[p], &panel, image->dark + (panel.value - image->value), noise->dark);
    }
    noise->has_dark = 1;
}

static db_status find_levels(db_context *context, db_measured_image *image, grid *grids,
                             size_t squares, db_fit_settings *settings, db_image_noise *noise) {
    const size_t count = db_measured_panels(image);
    const law all = law_of(grids, count);
    double gain, readout_noise, photon;
    common_law(&all, settings->readout_noise, &gain, &readout_noise);
    DB_TRY(find_photon(context, grids, count, squares, &photon));
    const int differ = photon > 0 && is_unlike(grids, count, gain, readout_noise);
    if (noise->measured) {
        settings->gain = differ ? fmax(1, photon) : gain;
        if (!differ) settings->readout_noise = readout_noise;
    }
    if (!differ) return DB_OK;
    free(image->dark);
    image->dark = calloc(db_measured_pixels(image), sizeof *image->dark);
    if (!image->dark) return db_fail_memory(context, "the dark level of the image");
    subtract_all(settings, image, grids, noise);
    return DB_OK;
}

db_status db_dark_levels_find(db_context *context, db_measured_image *image,
                              db_fit_settings *settings, db_image_noise *noise) {
    const size_t count = db_measured_panels(image);
    size_t squares = 0;
    for (size_t p = 0; p < count; p++) squares += (size_t)squares_along(db_measured_rows(image, p));
    squares *= (size_t)squares_along(image->fast_pixels);
    grid *const grids = calloc(count, sizeof *grids);
    square *const list = calloc(squares + 1, sizeof *list);
    db_status status = db_need_memory(context, grids && list, "the dark level of the image");
    for (size_t p = 0, first = 0; p < count && status == DB_OK; p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        grids[p] = (grid){ squares_along(panel.fast_pixels), squares_along(panel.slow_pixels),
                           list + first };
        first += (size_t)grids[p].columns * (size_t)grids[p].rows;
        fill_squares(&panel, &grids[p]);
    }
    if (status == DB_OK) status = find_levels(context, image, grids, squares, settings, noise);
    free(grids);
    free(list);
    return status;
}

void db_dark_levels_add(const db_measured_image *image, float *counts) {
    const size_t pixels = db_measured_pixels(image);
    for (size_t i = 0; i < pixels && image->dark; i++) counts[i] += image->dark[i];
}
