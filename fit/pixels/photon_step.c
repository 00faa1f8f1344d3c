/* Counts of a photon, by the characteristic function of differences of background pixels (docs/theory/
 * noise-of-images.md, Counts of a photon). */
#include "fit/pixels/photon_step.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/photon_rows.h"

#include <math.h>
#include <stdlib.h>

enum {
    SQUARE = DB_NOISE_SQUARE,
    APART = DB_NOISE_APART,
    PAIRS = SQUARE - APART,    /* of pixels in a row of a square, the rest of which has weight 0 */
    TOGETHER = 2,              /* rows between pixels of one spot that share no photon */
    PLENTY = 2000,             /* squares */
    POINTS = DB_PHOTON_POINTS, /* of the function, half an octave apart */
    WINDOW = 12,               /* points that tell one step from another */
    FEWEST = 5,                /* points for four unknowns */
    ALIKE = 8,                 /* fewest squares whose scatter counts */
    ITERATIONS = 12            /* of Gauss and Newton */
};
static const double PI = 3.14159265358979323846;
static const double FIRST_POINT = 1e-4;  /* per count; the last one tells steps of 1 count */
static const double WINDOW_START = 0.11; /* step times first point of a window; the last one: 4.9 */
static const double LEAST_VALUE = 0.1;   /* of the function of a square; smaller ones are noise */
static const double FEWEST_PHOTONS = 100; /* fewer may be pixels that are alike by chance */
static const double WIDEST = 1.6;         /* factor between a step and the start of its search */
static const double LARGEST_CHANGE = 0.2; /* of a step in an iteration, relative */
static const double CONVERGED = 1e-3;     /* change of a step, relative */
static const double ROUNDING = 1e-4, LEAST_ROUNDING = 1e-7; /* of means: relative, and of 0 */
/* Part of the structure that a step leaves unexplained. Simulated photons leave 0.004 at most, those of a CSPAD,
 * which pixels share, 0.006 to 0.016; spots of single pixels 0.005 to 0.3. */
static const double UNEXPLAINED = 0.025, SHARP = 0.004;
/* Structure that rows share, relative to that of the step: below 0.3 for photons, above 0.4 for spots. */
static const double MOST_SHARED = 0.35;
static const double LEAST_STEP = 1;       /* counts; smaller ones are seen at too few points */
static const double CERTAIN = 5;          /* standard errors below the least step */
static const double LARGEST_ERROR = 0.02; /* of a step, relative; chance brings less certain ones */

/* Of a square: means of cosines of differences, and of their products with those some rows above. */
typedef struct function {
    int pairs; /* of pixels */
    double value[POINTS], together[POINTS];
} function;

/* Squares with about the same light: those whose function falls below the least value at the same point. */
typedef struct alike {
    size_t count;
    double mean[POINTS];               /* minus the logarithm of the function */
    double shared[POINTS];             /* by rows: mean product over squared function, less 1 */
    double covariance[POINTS][POINTS]; /* of the means, from the scatter of squares */
} alike;

typedef struct functions {
    size_t count;
    function *square;
    alike light[POINTS + 1];
} functions;

static double point_at(int k) { return FIRST_POINT * exp2(0.5 * k); }

_Static_assert((int)SQUARE == (int)DB_PHOTON_PAIRS, "a row of a square");

/* Reads the pairs of a row; returns how many are known. */
static int read_pairs(const db_measured_image *panel, int fast, int slow, db_photon_row *row) {
    int count = 0;
    for (int c = 0; c < SQUARE; c++) {
        const size_t i = (size_t)slow * (size_t)panel->fast_pixels + (size_t)(fast + c);
        const int known = c < PAIRS && panel->mask[i] == DB_MASK_TRUSTED &&
                          panel->mask[i + APART] == DB_MASK_TRUSTED;
        row->known[c] = known;
        row->difference[c] = known ? (double)panel->value[i] - (double)panel->value[i + APART] : 0;
        count += known;
    }
    return count;
}

/* Begins the series of cosines: two series of angles, half an octave apart, are doubled from small ones. 1 - cos 2x =
 * v (4 - 2v) with v = 1 - cos x keeps the relative error of a small v. */
static void begin_series(db_photon_row *row) {
    enum { BEFORE = 6 };        /* doublings before the first point */
    const double longest = 1e6; /* counts; angles of longer differences are chance, too */
    for (int s = 0; s < DB_PHOTON_SERIES; s++) {
        const double first = point_at(s) / (1 << BEFORE);
        for (int c = 0; c < SQUARE; c++) {
            const double length = fabs(row->difference[c]),
                         x = first * (length < longest ? length : longest),
                         y = x * x; /* Taylor's series */
            double v =
                y * (1. / 2 - y * (1. / 24 - y * (1. / 720 - y * (1. / 40320 - y / 3628800))));
            for (int i = 0; i < BEFORE; i++) v *= 4 - 2 * v;
            row->versine[s][c] = v;
        }
    }
}

/* Characteristic function of a square; pairs is 0 if too few of its pixels are trusted. rows: room for its last rows. */
static void function_of(const db_measured_image *panel, int fast, int slow, db_photon_row_adder add,
                        db_photon_row rows[TOGETHER + 1], function *f) {
    double both = 0;
    *f = (function){ 0 };
    for (int r = 0; r < SQUARE; r++) {
        db_photon_row *const here = &rows[r % (TOGETHER + 1)];
        const db_photon_row *const above = &rows[(r + 1) % (TOGETHER + 1)];
        f->pairs += read_pairs(panel, fast, slow + r, here);
        begin_series(here);
        for (int c = 0; c < SQUARE; c++) {
            here->both[c] = r < TOGETHER ? 0 : here->known[c] * above->known[c];
            both += here->both[c];
        }
        add(here, above, f->value, f->together);
    }
    if (f->pairs < SQUARE * PAIRS / 4) f->pairs = 0;
    for (int k = 0; k < POINTS && f->pairs; k++) {
        f->value[k] /= f->pairs;
        f->together[k] /= fmax(1, both);
    }
}

/* Number of squares along a side of a panel. */
static int squares_along(int pixels, int apart) {
    return pixels < SQUARE ? 0 : (pixels - SQUARE) / apart + 1;
}

/* rows: TOGETHER + 1 of each thread. */
static void functions_of(const db_measured_image *image, int apart, db_photon_row_adder add,
                         db_photon_row *rows, int threads, functions *f) {
    (void)threads; /* of a build without threads */
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        const int across = squares_along(panel.fast_pixels, apart),
                  down = squares_along(panel.slow_pixels, apart);
        function *const all = f->square + f->count;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
        for (int n = 0; n < across * down; n++)
            function_of(&panel, n % across * apart, n / across * apart, add,
                        rows + (TOGETHER + 1) * db_thread_number(), &all[n]);
        for (int n = 0; n < across * down; n++)
            if (all[n].pairs > 0) f->square[f->count++] = all[n];
    }
}

static int points_of(const function *f) {
    int k = 0;
    while (k < POINTS && f->value[k] > LEAST_VALUE) k++;
    return k;
}

/* Minus the logarithm, without the mean error that noise of the value causes in it. */
static double minus_log(const function *f, int k) {
    const double v = f->value[k], twice = k + 2 < POINTS ? f->value[k + 2] : 0;
    return -log(v) - (0.5 * (1 + twice) - v * v) / (2 * f->pairs * v * v);
}

static void gather_alike(functions *all) {
    for (size_t s = 0; s < all->count; s++) {
        const function *const f = &all->square[s];
        const int points = points_of(f);
        alike *const a = &all->light[points];
        double off[POINTS];
        a->count++;
        for (int k = 0; k < points; k++) { /* Welford */
            const double shared = f->together[k] / (f->value[k] * f->value[k]) - 1;
            off[k] = minus_log(f, k) - a->mean[k];
            a->mean[k] += off[k] / (double)a->count;
            a->shared[k] += (shared - a->shared[k]) / (double)a->count;
        }
        for (int k = 0; k < points; k++)
            for (int l = 0; l < points; l++)
                a->covariance[k][l] += off[k] * off[l] * (1 - 1 / (double)a->count);
    }
    for (alike *a = all->light; a <= all->light + POINTS; a++)
        for (int k = 0; k < POINTS && a->count > 1; k++)
            for (int l = 0; l < POINTS; l++)
                a->covariance[k][l] /= (double)a->count * (double)(a->count - 1);
}

/* Sums over squares for a change of the step, its error, and the structure that it explains. */
typedef struct step_sums {
    double slope, curvature, variance; /* of half the sum of squares */
    double rest, explained;
    double shared, photons; /* where photons matter most */
    double number;          /* of photons in the squares, if all their pixels are trusted */
} step_sums;

static double weighted_product(const double weight[WINDOW], const double a[WINDOW],
                               const double b[WINDOW]) {
    double sum = 0;
    for (int i = 0; i < WINDOW; i++) sum += weight[i] * a[i] * b[i];
    return sum;
}

/* Takes the part along a direction out of a vector; returns how much of the direction that was. */
static double take_out(const double weight[WINDOW], const double direction[WINDOW],
                       double vector[WINDOW]) {
    const double along = weighted_product(weight, direction, vector) /
                         weighted_product(weight, direction, direction);
    for (int i = 0; i < WINDOW; i++) vector[i] -= along * direction[i];
    return along;
}

/* Means are o + s t^2 + 2 L (1 - cos(g t)): o by pixels of other heights, s by readout noise. points: those of the
 * squares, but for the last one, which was chosen by its value. */
static void add_alike(const alike *a, int points, int first, double step, step_sums *s) {
    enum { OTHER, READOUT, PHOTONS, CHANGE, DIRECTIONS };
    double v[DIRECTIONS][WINDOW] = { { 0 } }, y[WINDOW] = { 0 }, weight[WINDOW] = { 0 };
    const int count = points - 1 - first < WINDOW ? points - 1 - first : WINDOW;
    if (a->count < ALIKE || count < FEWEST) return;
    for (int i = 0; i < count; i++) {
        const int k = first + i;
        const double t = point_at(k), rounding = ROUNDING * a->mean[k] + LEAST_ROUNDING;
        y[i] = a->mean[k];
        weight[i] = 1 / (a->covariance[k][k] + rounding * rounding);
        v[OTHER][i] = 1;
        v[READOUT][i] = t * t;
        v[PHOTONS][i] = 2 * (1 - cos(step * t));
        v[CHANGE][i] = 2 * t * sin(step * t);
    }
    double light = 0, explained = 0;
    for (int d = 0; d < CHANGE; d++) {
        for (int later = d + 1; later < DIRECTIONS; later++) take_out(weight, v[d], v[later]);
        light = take_out(weight, v[d], y); /* of photons, in the end */
        explained = light * light * weighted_product(weight, v[d], v[d]);
    }
    if (!(light > 0)) return;
    s->slope += light * weighted_product(weight, v[CHANGE], y);
    s->curvature += light * light * weighted_product(weight, v[CHANGE], v[CHANGE]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            s->variance += light * light * weight[i] * v[CHANGE][i] * weight[j] * v[CHANGE][j] *
                           a->covariance[first + i][first + j];
    s->rest += weighted_product(weight, y, y);
    s->explained += explained;
    int k = first + count - 1;
    while (k > first && step * point_at(k) > PI) k--;
    s->number += (double)a->count * light * SQUARE * SQUARE;
    s->shared += (double)a->count * a->shared[k];
    s->photons += (double)a->count * light * 2 * (1 - cos(step * point_at(k)));
}

/* Looks for a step whose structure lies in a window of points. counts: 0 if there is none. */
static db_photon_step step_in_window(const functions *f, int first) {
    const double start = WINDOW_START / point_at(first);
    db_photon_step step = { .counts = start };
    for (int i = 0; i < ITERATIONS; i++) {
        step_sums s = { 0 };
        for (int points = 0; points <= POINTS; points++)
            add_alike(&f->light[points], points, first, step.counts, &s);
        if (!(s.curvature > 0)) break;
        const double change = s.slope / s.curvature, most = LARGEST_CHANGE * step.counts;
        step.error = sqrt(s.variance) / s.curvature;
        if (fabs(change) < CONVERGED * step.counts) {
            if (s.number < FEWEST_PHOTONS || s.rest > UNEXPLAINED * s.explained ||
                s.shared > MOST_SHARED * s.photons || step.error > LARGEST_ERROR * step.counts)
                break;
            step.is_sharp = s.rest < SHARP * s.explained;
            return step;
        }
        step.counts += fmax(-most, fmin(most, change));
        if (fmax(step.counts / start, start / step.counts) > WIDEST) break;
    }
    return (db_photon_step){ 0 };
}

/* The smallest step: nothing is less than a photon. Windows of longer steps see less of it, or spots, so none of
 * these is taken in place of a step that is too small. */
static db_photon_step smallest_step(const functions *f) {
    db_photon_step step = { 0 };
    for (int first = POINTS - 1 - FEWEST; first >= 0 && !(step.counts > 0); first--)
        step = step_in_window(f, first);
    const int too_small = step.counts + CERTAIN * step.error < LEAST_STEP;
    return too_small ? (db_photon_step){ 0 } : step;
}

int db_noise_squares_apart(const db_measured_image *image, int squares) {
    const double all = (double)image->fast_pixels * image->slow_pixels / (SQUARE * SQUARE) + 1;
    return SQUARE * (int)ceil(sqrt(floor(all) / squares));
}

db_status db_photon_step_find(db_context *context, const db_measured_image *image,
                              db_photon_step *step) {
    const double square_ns = 1e4;
    const int apart = db_noise_squares_apart(image, PLENTY),
              threads = db_threads_worth(context, PLENTY / (long)db_measured_panels(image) + 1,
                                         square_ns);
    functions *const f = calloc(1, sizeof *f);
    db_photon_row *const rows = calloc((size_t)threads * (TOGETHER + 1), sizeof *rows);
    size_t most = 1;
    for (size_t p = 0; p < db_measured_panels(image); p++)
        most += (size_t)(db_measured_rows(image, p) / apart + 1) *
                (size_t)(image->fast_pixels / apart + 1);
    if (f) f->square = calloc(most, sizeof *f->square);
    const db_status status =
        db_need_memory(context, f && rows && f->square, "the counts of a photon");
    *step = (db_photon_step){ 0 };
    if (status == DB_OK) {
        functions_of(image, apart, db_photon_row_adder_of(context->isa), rows, threads, f);
        gather_alike(f);
        if (f->count >= DB_NOISE_ENOUGH) *step = smallest_step(f);
    }
    if (f) free(f->square);
    free(f);
    free(rows);
    return status;
}

#define DECLARE(isa, number) extern const db_photon_row_adder db_photon_row_adder_##isa;
DB_INSTANCES(DECLARE)

db_photon_row_adder db_photon_row_adder_of(db_isa isa) {
    static const db_photon_row_adder *const instance[DB_ISA_COUNT] = {
#define ENTRY(isa, number) [number] = &db_photon_row_adder_##isa,
        DB_INSTANCES(ENTRY)
    };
    return *instance[isa];
}
