/* Background as a smooth surface of splines. */
#include "fit/pixels/smooth_background.h"

#include "base/context_internal.h"
#include "fit/linear/schur.h"
#include "fit/pixels/measured_image.h"
#include "surroundings/pixel.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PASSES = 5,
    AROUND_SPOTS = 5, /* pixels around strong ones within reach of spots */
    CELL = 4          /* pixels taken together, because the surface is smooth enough */
};
/* Relative to the largest contribution of pixels to one coefficient: of second differences of neighbours, and of
 * the coefficients. */
static const double STIFFNESS = 1e-5, RIDGE = 1e-10;

/* Coefficients of the basis splines, and their least-squares problem: the lower triangle of the normal matrix, row
 * i of which contains elements (i, i), (i + 1, i) ... of the band. */
typedef struct surface {
    int pixels[2];
    int intervals[2], count[2]; /* between knots, and basis splines, along fast and slow */
    size_t total, band;         /* coefficients; elements of a row */
    double *normal;
    double *right;       /* hand side */
    double *coefficient; /* [total], and room for those of a row */
    double *along;       /* [4][columns] */
    int *first;          /* [columns] */
} surface;

/* The four basis splines that are not 0 at a place (pixels): values, and number of the first. */
static int basis_at(const surface *s, int axis, double place, double value[4]) {
    const double x = place / s->pixels[axis] * s->intervals[axis];
    const int first = (int)fmin(s->intervals[axis] - 1, floor(x));
    const double t = x - first, u = 1 - t;
    value[0] = u * u * u / 6;
    value[1] = (4 - 3 * t * t * (2 - t)) / 6;
    value[2] = (4 - 3 * u * u * (2 - u)) / 6;
    value[3] = t * t * t / 6;
    return first;
}

/* i >= j */
static double *normal_element(const surface *s, size_t i, size_t j) {
    return s->normal + j * s->band + (i - j);
}

/* Pixels taken together: their number, and sums of their counts and places. */
typedef struct cell {
    double number, counts, place[2];
} cell;

/* Sums of cells between the same knots. Products of two basis splines are products along fast times products along slow, of
 * which there are ten each: pairs (k, l), l <= k, of the four splines. */
typedef struct patch {
    int fast, slow; /* first splines; fast -1: there is no cell yet */
    double right[4][4], product[10][10];
} patch;

/* Adds the sums to the least-squares problem. */
static void end_patch(surface *s, patch *p) {
    size_t index[16];
    for (size_t k = 0; k < 16 && p->fast >= 0; k++) {
        index[k] = ((size_t)p->slow + k / 4) * (size_t)s->count[0] + (size_t)p->fast + k % 4;
        s->right[index[k]] += p->right[k / 4][k % 4];
        for (size_t l = 0; l <= k; l++) /* indices grow */
            *normal_element(s, index[k], index[l]) +=
                p->product[db_triangle_at(k / 4, l / 4)][db_triangle_at(k % 4, l % 4)];
    }
    memset(p, 0, sizeof *p);
    p->fast = -1;
}

static void add_cell(surface *s, const cell *c, double weight, patch *p) {
    double along[4], down[4], pair[10];
    const int fast = basis_at(s, 0, c->place[0] / c->number, along),
              slow = basis_at(s, 1, c->place[1] / c->number, down);
    if (fast != p->fast || slow != p->slow) {
        end_patch(s, p);
        p->fast = fast;
        p->slow = slow;
    }
    for (size_t k = 0, n = 0; k < 4; k++)
        for (size_t l = 0; l <= k; l++) pair[n++] = along[k] * along[l];
    for (size_t k = 0, n = 0; k < 4; k++)
        for (size_t l = 0; l <= k; l++, n++) {
            const double factor = weight * c->number * down[k] * down[l];
            for (size_t m = 0; m < 10; m++) p->product[n][m] += factor * pair[m];
        }
    for (size_t k = 0; k < 4; k++)
        for (size_t l = 0; l < 4; l++) p->right[k][l] += weight * c->counts * down[k] * along[l];
}

/* Sums over the rows of a row of cells, for each column: pixels that count, their counts and rows, and the background
 * expected there. */
typedef struct column_sums {
    double *number, *counts, *row, *expected; /* [columns] */
} column_sums;

/* Adds the pixels of a row that count, by the expected background. */
static void add_row(const db_measured_image *image, const db_fit_settings *settings,
                    const uint8_t *restrict counts, const float *restrict expected, int slow,
                    const column_sums *to) {
    const size_t n = (size_t)image->fast_pixels, first = (size_t)slow * n;
    const float *restrict const value = image->value + first;
    double *restrict const number = to->number, *restrict const sum = to->counts,
                           *restrict const row = to->row, *restrict const background = to->expected;
    const float gain = (float)settings->gain,
                readout = (float)(settings->readout_noise * settings->readout_noise);
    const double place = slow + 0.5;
    counts += first;
    expected += first;
    for (size_t x = 0; x < n; x++) {
        const float off = fabsf(value[x] - expected[x]);
        const int takes = counts[x] & !db_surroundings_lit(off, expected[x], gain, readout);
        const double v = takes ? (double)value[x] : 0, e = takes ? (double)expected[x] : 0;
        number[x] += takes;
        sum[x] += v;
        background[x] += e;
        row[x] += takes ? place : 0;
    }
}

/* Takes the cells of some rows. */
static void take_cells(surface *s, const db_measured_image *image, const db_fit_settings *settings,
                       const uint8_t *counts, const float *expected, int slow,
                       const column_sums *of, patch *p) {
    const size_t n = (size_t)image->fast_pixels;
    memset(of->number, 0, 4 * n * sizeof *of->number);
    for (int y = slow; y < slow + CELL && y < image->slow_pixels; y++)
        add_row(image, settings, counts, expected, y, of);
    for (size_t fast = 0; fast < n; fast += CELL) {
        cell c = { 0, 0, { 0, 0 } };
        double sum = 0; /* of the expected */
        for (size_t x = fast; x < fast + CELL && x < n; x++) {
            c.number += of->number[x];
            c.counts += of->counts[x];
            c.place[0] += of->number[x] * ((double)x + 0.5);
            c.place[1] += of->row[x];
            sum += of->expected[x];
        }
        if (c.number > 0) add_cell(s, &c, 1 / db_pixel_variance(settings, sum / c.number), p);
    }
}

/* Second differences of the coefficients along one axis. */
static void stiffen(surface *s, int axis, double stiffness) {
    static const double difference[3] = { 1, -2, 1 };
    const size_t step = axis ? (size_t)s->count[0] : 1;
    for (size_t i = 0; i < s->total; i++) {
        const size_t place = axis ? i / (size_t)s->count[0] : i % (size_t)s->count[0];
        if (place + 2 >= (size_t)s->count[axis]) continue;
        for (size_t k = 0; k < 3; k++)
            for (size_t l = 0; l <= k; l++)
                *normal_element(s, i + k * step, i + l * step) +=
                    stiffness * difference[k] * difference[l];
    }
}

/* Solves for the surface; 0: no pixel counts. */
static int solve_surface(surface *s) {
    double most = 0;
    for (size_t i = 0; i < s->total; i++) most = fmax(most, s->normal[i * s->band]);
    if (!(most > 0)) return 0;
    stiffen(s, 0, STIFFNESS * most);
    stiffen(s, 1, STIFFNESS * most);
    for (size_t i = 0; i < s->total; i++) s->normal[i * s->band] += RIDGE * most;
    /* a sum of squares and a ridge is positive definite for any pixels */
    gsl_matrix_view normal = gsl_matrix_view_array(s->normal, s->total, s->band);
    gsl_vector_view right = gsl_vector_view_array(s->right, s->total),
                    coefficient = gsl_vector_view_array(s->coefficient, s->total);
    return gsl_linalg_cholesky_band_decomp(&normal.matrix) == GSL_SUCCESS &&
           gsl_linalg_cholesky_band_solve(&normal.matrix, &right.vector, &coefficient.vector) ==
               GSL_SUCCESS;
}

/* Values of the basis splines at the columns, and first splines there. */
static void fill_columns(surface *s) {
    const size_t n = (size_t)s->pixels[0];
    for (size_t x = 0; x < n; x++) {
        double value[4];
        s->first[x] = basis_at(s, 0, (double)x + 0.5, value);
        for (size_t k = 0; k < 4; k++) s->along[k * n + x] = value[k];
    }
}

static void evaluate_row(const surface *s, const double *row_coefficient, float *restrict row) {
    const size_t n = (size_t)s->pixels[0];
    for (size_t from = 0, end; from < n; from = end) { /* between two knots */
        const double *const c = row_coefficient + s->first[from];
        const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
        const double *const along = s->along;
        for (end = from + 1; end < n && s->first[end] == s->first[from];) end++;
        for (size_t x = from; x < end; x++) {
            const double sum =
                along[x] * c0 + along[n + x] * c1 + along[2 * n + x] * c2 + along[3 * n + x] * c3;
            row[x] = (float)(sum > 0 ? sum : 0);
        }
    }
}

static void evaluate_surface(const surface *s, float *background) {
    double *const row_coefficient = s->coefficient + s->total;
    for (int y = 0; y < s->pixels[1]; y++) {
        double down[4];
        const int slow = basis_at(s, 1, y + 0.5, down);
        for (int i = 0; i < s->count[0]; i++) {
            row_coefficient[i] = 0;
            for (int k = 0; k < 4; k++)
                row_coefficient[i] += down[k] * s->coefficient[(slow + k) * s->count[0] + i];
        }
        evaluate_row(s, row_coefficient, background + (size_t)y * (size_t)s->pixels[0]);
    }
}

/* Marks trusted pixels that are not in the surroundings of strong ones. */
static void mark_counting(const db_measured_image *image, const uint8_t *strong, uint8_t *counts) {
    const int columns = image->fast_pixels, rows = image->slow_pixels;
    const size_t pixels = (size_t)columns * (size_t)rows;
    for (size_t i = 0; i < pixels; i++) counts[i] = image->mask[i] == DB_MASK_TRUSTED;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            if (!strong[(size_t)y * (size_t)columns + (size_t)x]) continue;
            const int left = x > AROUND_SPOTS ? x - AROUND_SPOTS : 0,
                      right = x + AROUND_SPOTS < columns ? x + AROUND_SPOTS : columns - 1;
            const size_t width = (size_t)right - (size_t)left + 1;
            for (int v = y > AROUND_SPOTS ? y - AROUND_SPOTS : 0; v <= y + AROUND_SPOTS && v < rows;
                 v++)
                memset(counts + (size_t)v * (size_t)columns + (size_t)left, 0, width);
        }
}

static surface surface_of(const db_measured_image *image, int spacing) {
    surface s = { .pixels = { image->fast_pixels, image->slow_pixels } };
    for (int i = 0; i < 2; i++) {
        const int intervals = (s.pixels[i] + spacing / 2) / spacing;
        s.intervals[i] = intervals > 1 ? intervals : 1;
        s.count[i] = s.intervals[i] + 3;
    }
    s.total = (size_t)s.count[0] * (size_t)s.count[1];
    s.band = 3 * (size_t)s.count[0] + 4;
    return s;
}

/* 0: the guess stays. */
static int fit_surface(surface *s, const db_measured_image *image, const db_fit_settings *settings,
                       const uint8_t *counts, const column_sums *of, float *background) {
    patch p = { .fast = -1 };
    int pass = 0;
    for (; pass < PASSES; pass++) {
        memset(s->normal, 0, s->total * s->band * sizeof *s->normal);
        memset(s->right, 0, s->total * sizeof *s->right);
        for (int slow = 0; slow < image->slow_pixels; slow += CELL)
            take_cells(s, image, settings, counts, background, slow, of, &p);
        end_patch(s, &p);
        if (!solve_surface(s)) break;
        evaluate_surface(s, background);
    }
    return pass == PASSES;
}

static db_status make_surface(db_context *context, const db_measured_image *image, int fits,
                              surface *s) {
    *s = surface_of(image, DB_SMOOTH_KNOTS);
    s->normal = fits ? malloc(s->total * s->band * sizeof *s->normal) : NULL;
    s->right = fits ? malloc(s->total * sizeof *s->right) : NULL;
    s->coefficient = malloc((s->total + (size_t)s->count[0]) * sizeof *s->coefficient);
    s->along = malloc(4 * (size_t)s->pixels[0] * sizeof *s->along);
    s->first = malloc((size_t)s->pixels[0] * sizeof *s->first);
    if ((fits && (!s->normal || !s->right)) || !s->coefficient || !s->along || !s->first)
        return db_fail_memory(context, "the smooth background");
    fill_columns(s);
    return DB_OK;
}

static void clear_surface(surface *s) {
    free(s->normal);
    free(s->right);
    free(s->coefficient);
    free(s->along);
    free(s->first);
}

db_status db_smooth_background(db_context *context, const db_measured_image *image,
                               const db_fit_settings *settings, const uint8_t *strong,
                               float *background, double *coefficient) {
    const size_t pixels = db_measured_pixels(image), columns = (size_t)image->fast_pixels;
    uint8_t *const counts = malloc(pixels + 1);
    double *const sums = malloc((4 * columns + 1) * sizeof *sums);
    surface s;
    db_status status = make_surface(context, image, 1, &s);
    if (status == DB_OK) status = db_need_memory(context, counts && sums, "the smooth background");
    if (status == DB_OK) {
        const column_sums of = { sums, sums + columns, sums + 2 * columns, sums + 3 * columns };
        mark_counting(image, strong, counts);
        const int fitted = fit_surface(&s, image, settings, counts, &of, background);
        if (coefficient) memcpy(coefficient, s.coefficient, s.total * sizeof *coefficient);
        if (coefficient && !fitted) coefficient[0] = NAN;
    }
    free(counts);
    free(sums);
    clear_surface(&s);
    return status;
}

size_t db_smooth_coefficients(const db_measured_image *image) {
    return surface_of(image, DB_SMOOTH_KNOTS).total;
}

db_status db_smooth_background_again(db_context *context, const db_measured_image *image,
                                     const double *coefficient, float *background) {
    surface s;
    const db_status status = make_surface(context, image, 0, &s);
    if (status == DB_OK) {
        memcpy(s.coefficient, coefficient, s.total * sizeof *s.coefficient);
        evaluate_surface(&s, background);
    }
    clear_surface(&s);
    return status;
}
