/* Dark levels, square by square, from the scatter of background pixels that share no photon. */
#include "fit/pixels/dark_levels.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/photon_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Squares; the last one of a row and of a column ends with its panel. */
enum { SQUARE = DB_NOISE_SQUARE, APART = DB_NOISE_APART, PASSES = 8, ENOUGH = DB_NOISE_ENOUGH };
static const double CLIP = 4;         /* standard deviations; pixels beyond belong to spots */
static const double CLIP_PHOTONS = 2; /* more, if photons are known: single ones do not */
static const double UNLIKE = 0.15;    /* difference from the expected variance, relative */
static const double SCATTER = 3;   /* and at least so many standard errors of a square's variance */
static const double CLEARLY = 0.1; /* of the squares */
static const double CERTAIN = 5;   /* standard errors */
static const double LARGEST_ERROR = 0.1; /* of a measured gain, relative */
static const double ROUNDING = 1e-12;    /* of a difference of squares, relative to them */

typedef struct square {
    double mean, variance; /* of the background; NAN: too few pixels */
    double error;          /* of the variance */
    double pairs;          /* of pixels that count */
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
    double sum;             /* of both pixels */
    double squares, fourth; /* sums of powers of the differences */
    double cosine, twice;   /* sums of cosines of the differences, and of twice the differences */
    size_t count;
} pairs;

/* Sums over pairs of pixels that share no photon. Pairs that differ by more than a limit do not count, so spots
 * do not. step: factor on differences in the last two sums; 0: no such sums. */
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
            p.fourth += (a - b) * (a - b) * (a - b) * (a - b);
            p.cosine += c;
            p.twice += 2 * c * c - 1;
            p.count++;
        }
    return p;
}

/* If both pixels have L photons on average and a photon gives g counts, the characteristic function of their
 * difference is f(t) = exp(-2 L (1 - cos(g t))) (Poisson). So ln f(2t) / (4 ln f(t)) is cos^2(g t / 2), at any
 * dark level, if g t is below pi (L above 0.05), and if there is no readout noise. */
static double photon_of(const db_measured_image *panel, int fast, int slow, double variance) {
    const double t = 0.7 / sqrt(variance);
    const pairs p = sum_pairs(panel, fast, slow, INFINITY, t);
    const double once = p.cosine / (double)p.count, twice = p.twice / (double)p.count;
    if (!(once > 0.01) || !(twice > 0.01) || once >= 1) return NAN;
    const double miss = 1 - log(twice) / (4 * log(once)),
                 g = 2 * asin(sqrt(fmin(1, fabs(miss)))) / t;
    return miss < 0 ? -g * g : g * g;
}

static square look_at(const db_measured_image *panel, int fast, int slow, double photon) {
    const square none = { NAN, NAN, NAN, 0, NAN };
    square s = none;
    double limit = INFINITY;
    size_t before = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        const pairs p = sum_pairs(panel, fast, slow, limit, 0);
        if ((double)p.count * DB_NOISE_LEAST_PART < SQUARE * (SQUARE - APART)) return none;
        s.pairs = (double)p.count;
        s.mean = 0.5 * p.sum / (double)p.count;
        s.variance = 0.5 * p.squares / (double)p.count;
        s.error = sqrt(fmax(0, 0.25 * p.fourth / (double)p.count - s.variance * s.variance) /
                       (double)p.count);
        if (p.count == before || !(s.variance > 0)) break;
        before = p.count;
        limit = CLIP * sqrt(2 * s.variance) + CLIP_PHOTONS * photon;
    }
    if (s.variance > 0) s.photon = photon_of(panel, fast, slow, s.variance);
    return s;
}

static void fill_squares(const db_measured_image *panel, double photon, grid *g) {
    for (int row = 0; row < g->rows; row++)
        for (int column = 0; column < g->columns; column++)
            g->at[row * g->columns + column] =
                look_at(panel, first_pixel(column, panel->fast_pixels),
                        first_pixel(row, panel->slow_pixels), photon);
}

/* Sums over squares, each relative to its variance. */
typedef struct law {
    double count, weight, mean, variance, mean_mean, mean_variance;
    double noise; /* variance of the means, for a variance of 1 of the pixels */
} law;

static void add_square(const square *s, law *l) {
    const double w = 1 / (s->variance * s->variance);
    l->count++;
    l->weight += w;
    l->mean += w * s->mean;
    l->variance += w * s->variance;
    l->mean_mean += w * s->mean * s->mean;
    l->mean_variance += w * s->mean * s->variance;
    l->noise += w / s->pairs;
}

static law law_of(const grid *grids, size_t count) {
    law l = { 0 };
    for (size_t p = 0; p < count; p++)
        for (int i = 0; i < grids[p].rows * grids[p].columns; i++)
            if (grids[p].at[i].variance > 0) add_square(&grids[p].at[i], &l);
    return l;
}

/* variance = gain mean + dark. dark is the variance of readout noise; below 0: that of photons that the dark level
 * only seems to be. */
typedef struct noise_law {
    double gain, dark;
    double error; /* of the gain */
} noise_law;

static double mean_square_left(const law *l, double gain, double dark) {
    const double sum = l->count + gain * gain * l->mean_mean + dark * dark * l->weight +
                       2 * (gain * dark * l->mean - gain * l->mean_variance - dark * l->variance);
    return fmax(0, sum) / fmax(1, l->count - 2);
}

/* The line through variances v and means m of squares. Readout noise, the rest r = v - g m, spreads the means as
 * light does, but not the variances, and would make the line too flat; chance photons change both as light does. So
 * the spread of means is that by light plus noise r: g (spread - noise v + noise m g) = covariance. */
static noise_law fit_line(const law *l) {
    const double mean = l->mean / l->weight, variance = l->variance / l->weight,
                 noise = l->noise / l->weight, spread = l->mean_mean / l->weight - mean * mean,
                 covariance = l->mean_variance / l->weight - mean * variance;
    const double by_light = spread - noise * variance,
                 root = sqrt(fmax(0, by_light * by_light + 4 * noise * mean * covariance));
    noise_law n = { l->mean_variance / l->mean_mean, 0, INFINITY };
    double slope = root;
    if (!(spread > ROUNDING * mean * mean && by_light + root > 0)) return n;
    n.gain = 2 * covariance / (by_light + root);
    if (n.gain * mean > variance) { /* no readout noise */
        slope = spread;
        n.gain = covariance / spread;
    }
    n.dark = variance - n.gain * mean;
    const double left = mean_square_left(l, n.gain, n.dark) / l->weight,
                 chance = noise * fmax(0, n.dark), /* spread of means by it, with an error */
        error = 2 * chance * (chance + 2 * fmax(0, spread - chance)) / l->count;
    n.error = sqrt(left * spread + n.gain * n.gain * error) / slope;
    return n;
}

/* Fits the law by relative least squares; its error is from the scatter of the squares. readout: standard deviation;
 * 0: not given. */
static noise_law fit_law(const law *l, double readout) {
    noise_law n = { 0, readout * readout, INFINITY };
    if (!(l->mean_mean > 0)) return n;
    if (readout > 0) {
        const double mean_mean = l->mean_mean - n.dark * l->noise;
        if (!(mean_mean > 0)) return n;
        n.gain = (l->mean_variance - l->mean * n.dark) / mean_mean;
        n.error = sqrt(mean_square_left(l, n.gain, n.dark) / mean_mean);
        return n;
    }
    return fit_line(l);
}

/* The law with this gain. */
static noise_law law_with(const law *l, double gain, double error, double readout) {
    const double dark =
        readout > 0 ? readout * readout : fmax(0, (l->variance - gain * l->mean) / l->weight);
    return (noise_law){ gain, dark, error };
}

/* Counts of a photon where many overlap, if there is no readout noise: median over the squares. 0: not determined. */
static db_status find_photon(db_context *context, const grid *grids, size_t panels, size_t squares,
                             db_photon_step *photon) {
    double *const list = malloc((squares + 1) * sizeof *list);
    size_t count = 0;
    if (!list) return db_fail_memory(context, "the noise of the image");
    for (size_t p = 0; p < panels; p++)
        for (int i = 0; i < grids[p].rows * grids[p].columns; i++)
            if (isfinite(grids[p].at[i].photon)) list[count++] = grids[p].at[i].photon;
    db_sort_numbers(list, count);
    *photon = (db_photon_step){ 0 };
    if (count >= ENOUGH) {
        const double spread = (list[3 * count / 4] - list[count / 4]) / 1.349;
        const double error = 1.2533 * spread / sqrt((double)count); /* of a median */
        if (list[count / 2] > CERTAIN * error) {
            photon->counts = sqrt(list[count / 2]);
            photon->error = 0.5 * error / photon->counts;
        }
    }
    free(list);
    return DB_OK;
}

/* Squares that scatter as the law says: within a part of their variance, or within standard errors of it. lit: those
 * that scatter at all. */
static size_t count_alike(const grid *grids, size_t count, const noise_law *n, double part,
                          double errors, size_t *lit) {
    size_t alike = 0;
    *lit = 0;
    for (size_t p = 0; p < count; p++)
        for (int i = 0; i < grids[p].rows * grids[p].columns; i++) {
            const square *const s = &grids[p].at[i];
            if (!(s->variance > 0)) continue;
            const double says = n->gain * fmax(0, s->mean) + n->dark;
            alike += fabs(s->variance - says) <= fmax(part * s->variance, errors * s->error);
            ++*lit;
        }
    return alike;
}

/* Do at least half of the squares scatter too much or too little? */
static int is_unlike(const grid *grids, size_t count, const noise_law *n) {
    size_t lit;
    return 2 * count_alike(grids, count, n, UNLIKE, SCATTER, &lit) < lit;
}

/* Does one law describe clearly more squares within their errors than another? */
static int describes_more(const grid *grids, size_t count, const noise_law *one,
                          const noise_law *other) {
    size_t lit;
    const size_t more = count_alike(grids, count, one, 0, 1, &lit),
                 less = count_alike(grids, count, other, 0, 1, &lit);
    return (double)more > (double)less + CLEARLY * (double)lit;
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

static db_status refuse_gain(db_context *context, const noise_law *n) {
    char found[80] = "no gain";
    if (n->gain + CERTAIN * n->error < 1)
        return db_fail(
            context, DB_ERROR_INPUT,
            "expected a gain of at least 1 count per photon, found %.3g +- %.2g: with its "
            "counts the variance of the background grows by less than that of photons; "
            "give data.gain",
            n->gain, n->error);
    if (isfinite(n->error)) snprintf(found, sizeof found, "%.3g +- %.2g", n->gain, n->error);
    return db_fail(context, DB_ERROR_INPUT,
                   "the image does not tell the gain of its detector: pixels scatter by more than "
                   "twice the variance of photons, but their background gives %s (counts per "
                   "photon); give data.gain",
                   found);
}

/* Squares of an image, and the law by their scatter alone. */
typedef struct survey {
    grid *grids;
    square *list;
    size_t panels, squares;
    law sums;
    noise_law line;
    double photon; /* counts of it, for the clip; 0: not known */
    int fits;      /* most squares scatter as the line says */
} survey;

static void clear_survey(survey *s) {
    free(s->grids);
    free(s->list);
    *s = (survey){ 0 };
}

/* photon: counts of a photon, 0 if not known. readout: standard deviation, 0 if not given. */
static db_status make_survey(db_context *context, const db_measured_image *image, double photon,
                             double readout, survey *s) {
    *s = (survey){ .panels = db_measured_panels(image), .photon = photon };
    for (size_t p = 0; p < s->panels; p++)
        s->squares += (size_t)squares_along(db_measured_rows(image, p)) *
                      (size_t)squares_along(image->fast_pixels);
    s->grids = calloc(s->panels, sizeof *s->grids);
    s->list = calloc(s->squares + 1, sizeof *s->list);
    if (!s->grids || !s->list) {
        clear_survey(s);
        return db_fail_memory(context, "the dark level of the image");
    }
    for (size_t p = 0, first = 0; p < s->panels; p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        grid *const g = &s->grids[p];
        *g = (grid){ squares_along(panel.fast_pixels), squares_along(panel.slow_pixels),
                     s->list + first };
        first += (size_t)g->columns * (size_t)g->rows;
        fill_squares(&panel, photon, g);
    }
    s->sums = law_of(s->grids, s->panels);
    s->line = fit_law(&s->sums, readout);
    if (s->line.dark < 0) { /* by chance, or by spots, unless squares contradict */
        const noise_law none = { s->sums.mean_variance / s->sums.mean_mean, 0, s->line.error };
        if (!describes_more(s->grids, s->panels, &s->line, &none)) s->line = none;
    }
    s->fits = !is_unlike(s->grids, s->panels, &s->line);
    return DB_OK;
}

/* Replaces a survey by that without known photons, if its line fits: what looks like single photons may then be
 * spots of single pixels. */
static db_status doubt_photons(db_context *context, const db_measured_image *image, double readout,
                               survey *s, db_photon_step *photon) {
    survey without;
    DB_TRY(make_survey(context, image, 0, readout, &without));
    const int fits = without.fits;
    if (fits) *photon = (db_photon_step){ 0 };
    clear_survey(fits ? s : &without);
    if (fits) *s = without;
    return DB_OK;
}

/* Chooses the law with the smallest error that the squares do not contradict. */
static db_status choose_law(db_context *context, const db_measured_image *image, double readout,
                            survey *s, db_photon_step photon, noise_law *n) {
    if (photon.counts > 0 && !photon.is_sharp)
        DB_TRY(doubt_photons(context, image, readout, s, &photon));
    if (!(photon.counts > 0) && !s->fits)
        DB_TRY(find_photon(context, s->grids, s->panels, s->squares, &photon));
    *n = s->line;
    if (photon.counts > 0 && (!s->fits || photon.error * n->gain < n->error * photon.counts))
        *n = law_with(&s->sums, photon.counts, photon.error, readout);
    return DB_OK;
}

/* Is the gain certain enough? It may also be so small that it is that of photons, but for what the program
 * takes for the same. A variance that grows less than that of photons is not of light. */
static int is_certain(const noise_law *n) {
    if (n->gain + CERTAIN * n->error < 1) return 0;
    return n->error < LARGEST_ERROR * n->gain || n->gain + 2 * n->error < DB_NOISE_MORE;
}

/* Looks at the squares once more, if a photon is known only now: without it, the clip leaves out pixels with the most of
 * few photons, and levels are too high. */
static void clip_with_photons(const db_measured_image *image, double photon, survey *s) {
    for (size_t p = 0; p < s->panels && !(s->photon > 0); p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        fill_squares(&panel, photon, &s->grids[p]);
    }
    s->photon = photon;
}

static db_status find_levels(db_context *context, db_measured_image *image, survey *s,
                             const db_photon_step *step, db_fit_settings *settings,
                             db_image_noise *noise) {
    const double readout = settings->readout_noise;
    noise_law n;
    DB_TRY(choose_law(context, image, readout, s, *step, &n));
    int certain = !noise->measured || is_certain(&n);
    if (!certain && !(image->stated_gain > 0)) {
        db_photon_step photon;
        DB_TRY(db_third_moment_find(context, image, readout, &photon));
        certain = photon.counts >= 1 && photon.error < LARGEST_ERROR * photon.counts;
        if (certain) n = law_with(&s->sums, photon.counts, photon.error, readout);
    }
    noise->stated = !certain && image->stated_gain > 0;
    if (noise->stated)
        n = law_with(&s->sums, image->gain, 0, readout);
    else if (!certain)
        return refuse_gain(context, &n);
    else if (n.gain < 1)
        n = law_with(&s->sums, 1, n.error, readout);
    n.dark = fmax(0, n.dark);
    const int differ = is_unlike(s->grids, s->panels, &n);
    if (noise->measured) {
        settings->gain = n.gain;
        if (!differ) settings->readout_noise = sqrt(n.dark);
    }
    if (!differ) return DB_OK;
    free(image->dark);
    image->dark = calloc(db_measured_pixels(image), sizeof *image->dark);
    if (!image->dark) return db_fail_memory(context, "the dark level of the image");
    clip_with_photons(image, settings->gain, s);
    subtract_all(settings, image, s->grids, noise);
    return DB_OK;
}

db_status db_dark_levels_find(db_context *context, db_measured_image *image,
                              const db_photon_step *step, db_fit_settings *settings,
                              db_image_noise *noise) {
    survey s;
    DB_TRY(make_survey(context, image, step->counts, settings->readout_noise, &s));
    const db_status status = find_levels(context, image, &s, step, settings, noise);
    clear_survey(&s);
    return status;
}

void db_dark_levels_add(const db_measured_image *image, float *counts) {
    const size_t pixels = db_measured_pixels(image);
    for (size_t i = 0; i < pixels && image->dark; i++) counts[i] += image->dark[i];
}
