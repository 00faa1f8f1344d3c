/* Search for translations. The sum of exp(2 pi i q.t) over spots at q has the number of spots as modulus if t is a
 * translation of the crystal, wherever the beam is: a shift of all q only changes its phase. The sum is taken on a
 * grid of t, along the axes of inertia of the spots; spots of a still are in a thin bowl, across which the grid is
 * coarse. Its highest points climb to maxima (docs/theory/refinement.md, Unknown cells). */
#include "fit/search/cell_search.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "base/vector.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEWEST_SUMMED = 60, /* spots at the lowest angles */
    TOPS = 250,         /* highest points of the grid that climb */
    CLIMBS = 6          /* steps to the top */
};
static const double two_pi = 2 * 3.14159265358979323846;
static const double step_cycles =
    0.4;                             /* cycles of the outermost spots between points of the grid */
static const double most_work = 4e8; /* terms of all sums */
static const double shortest = 2.5;  /* angstrom: shorter than any edge of a cell */
static const double above_noise = 5; /* least squared modulus, relative to random phases */

typedef struct grid {
    db_context *context;
    const db_search_spot *spots;
    size_t count;     /* number of spots in the sums */
    double axes[9];   /* rows: axes of inertia, the longest first */
    double centre[3]; /* middle of the spots' extents along them */
    double step[3], longest;
    long most[3];   /* points on either side; along the last axis on one side */
    float *q[3];    /* along the axes, from the centre */
    float *turn[2]; /* cos, sin of a step along the first axis */
    float *square;  /* squared modulus */
} grid;

static void inertia(const db_search_spot *spots, size_t count, double axes[9]) {
    double mean[3] = { 0 }, moment[9] = { 0 }, values[3];
    for (size_t n = 0; n < count; n++)
        for (int i = 0; i < 3; i++) mean[i] += spots[n].q[i] / (double)count;
    for (size_t n = 0; n < count; n++)
        for (int i = 0; i < 9; i++)
            moment[i] += (spots[n].q[i / 3] - mean[i / 3]) * (spots[n].q[i % 3] - mean[i % 3]);
    gsl_matrix_view m = gsl_matrix_view_array(moment, 3, 3);
    double vectors[9], work[12];
    gsl_matrix_view v = gsl_matrix_view_array(vectors, 3, 3);
    gsl_vector_view e = gsl_vector_view_array(values, 3);
    gsl_eigen_symmv_workspace w = {
        .size = 3, .d = work, .sd = work + 3, .gc = work + 6, .gs = work + 9
    };
    gsl_eigen_symmv(&m.matrix, &e.vector, &v.matrix, &w);
    gsl_eigen_symmv_sort(&e.vector, &v.matrix, GSL_EIGEN_SORT_VAL_DESC);
    db_transpose(vectors, axes);
}

/* Axes, extents of the spots along them, and steps of a grid; returns its number of points. */
static double lay(grid *g, size_t count) {
    double least[3], most[3], points = 1;
    for (int i = 0; i < 3; i++) least[i] = INFINITY, most[i] = -INFINITY;
    inertia(g->spots, count, g->axes);
    for (size_t n = 0; n < count; n++) {
        double at[3];
        db_apply(g->axes, g->spots[n].q, at);
        for (int i = 0; i < 3; i++) {
            least[i] = fmin(least[i], at[i]);
            most[i] = fmax(most[i], at[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        g->centre[i] = (least[i] + most[i]) / 2;
        g->step[i] = fmin(step_cycles / (most[i] - least[i]), g->longest);
        g->most[i] = (long)ceil(g->longest / g->step[i]);
        points *= i < 2 ? 2 * (double)g->most[i] + 1 : (double)g->most[i] + 1;
    }
    g->count = count;
    return points;
}

/* Lays a grid for as many spots as the work allows. */
static double lay_affordable(grid *g, size_t count) {
    double points = 0;
    for (size_t n = count;; n = n * 3 / 4) {
        points = lay(g, n);
        if (points * (double)n <= most_work) return points;
        if (n <= FEWEST_SUMMED) return 0;
    }
}

static void place_spots(grid *g) {
    for (size_t n = 0; n < g->count; n++) {
        double at[3];
        db_apply(g->axes, g->spots[n].q, at);
        for (int i = 0; i < 3; i++) g->q[i][n] = (float)(at[i] - g->centre[i]);
        const double step = two_pi * g->step[0] * (at[0] - g->centre[0]);
        g->turn[0][n] = (float)cos(step);
        g->turn[1][n] = (float)sin(step);
    }
}

/* Sums for a line of points along the first axis; room: for terms of the sum. */
static void sum_line(const grid *g, long y, long z, float *room, float *square) {
    const size_t count = g->count;
    float *const c = room, *const s = room + count;
    const double at[2] = { (double)y * g->step[1], (double)z * g->step[2] },
                 left = g->longest * g->longest - at[0] * at[0] - at[1] * at[1];
    const long reach = left > 0 ? (long)(sqrt(left) / g->step[0]) : -1;
    for (size_t n = 0; n < count && reach >= 0; n++) {
        double cycles = at[0] * (double)g->q[1][n] + at[1] * (double)g->q[2][n] -
                        (double)reach * g->step[0] * (double)g->q[0][n];
        cycles -= rint(cycles);
        c[n] = (float)cos(two_pi * cycles);
        s[n] = (float)sin(two_pi * cycles);
    }
    for (long x = -reach; x <= reach; x++) {
        float real = 0, imaginary = 0;
        const float *const by_c = g->turn[0], *const by_s = g->turn[1];
#pragma omp simd reduction(+ : real, imaginary)
        for (size_t n = 0; n < count; n++) {
            const float was = c[n];
            real += was;
            imaginary += s[n];
            c[n] = was * by_c[n] - s[n] * by_s[n];
            s[n] = was * by_s[n] + s[n] * by_c[n];
        }
        square[g->most[0] + x] = real * real + imaginary * imaginary;
    }
}

static int sum_all(grid *g) {
    const long rows = 2 * g->most[1] + 1, lines = rows * (g->most[2] + 1),
               columns = 2 * g->most[0] + 1;
    const int threads = db_threads_for(g->context, lines);
    float *const room = malloc((size_t)threads * 2 * g->count * sizeof *room);
    if (!room) return 0;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (long l = 0; l < lines; l++)
        sum_line(g, l % rows - g->most[1], l / rows,
                 room + (size_t)db_thread_number() * 2 * g->count, g->square + l * columns);
    free(room);
    return 1;
}

static int is_top(const grid *g, const long at[3]) {
    const long rows = 2 * g->most[1] + 1, columns = 2 * g->most[0] + 1,
               size[3] = { columns, rows, g->most[2] + 1 };
    const float own = g->square[(at[2] * rows + at[1]) * columns + at[0]];
    for (long k = 0; k < 27; k++) {
        const long to[3] = { at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1 };
        int inside = k != 13;
        for (int i = 0; i < 3; i++) inside &= to[i] >= 0 && to[i] < size[i];
        if (inside && g->square[(to[2] * rows + to[1]) * columns + to[0]] > own) return 0;
    }
    return 1;
}

static size_t take_tops(const grid *g, db_translation *list) {
    const long rows = 2 * g->most[1] + 1, columns = 2 * g->most[0] + 1;
    const float least = (float)(above_noise * (double)g->count);
    size_t count = 0;
    for (long i = 0; i < columns * rows * (g->most[2] + 1); i++) {
        const long at[3] = { i % columns, i / columns % rows, i / columns / rows };
        if (g->square[i] < least || !is_top(g, at)) continue;
        const double along[3] = { (double)(at[0] - g->most[0]) * g->step[0],
                                  (double)(at[1] - g->most[1]) * g->step[1],
                                  (double)at[2] * g->step[2] };
        db_translation top = { .sum = sqrt((double)g->square[i]) };
        double back[9];
        db_transpose(g->axes, back);
        db_apply(back, along, top.t);
        count = db_search_keep(&top, sizeof top, list, count, TOPS);
    }
    return count;
}

/* Weighted means and second moments of spots that are in phase. */
typedef struct moments {
    double weight, mean[3], second[9], slope, slopes[3];
} moments;

/* The sum, and the step to its maximum, where the phases of most spots are small. */
static void sum_at(const grid *g, float *const cosine, float *const sine, db_translation *at,
                   double step[3]) {
    double real = 0, imaginary = 0, normal[9], right[3], inverse[9];
    moments m = { 0 };
    for (size_t n = 0; n < g->count; n++) {
        const double phase = two_pi * db_dot(g->spots[n].q, at->t);
        real += cosine[n] = (float)cos(phase);
        imaginary += sine[n] = (float)sin(phase);
    }
    at->sum = hypot(real, imaginary);
    at->phase = atan2(imaginary, real) / two_pi;
    for (size_t n = 0; n < g->count; n++) {
        const double *const q = g->spots[n].q,
                            c = (cosine[n] * real + sine[n] * imaginary) / at->sum,
                            s = (sine[n] * real - cosine[n] * imaginary) / at->sum;
        if (!(c > 0)) continue;
        m.weight += c;
        m.slope += c * s;
        for (int i = 0; i < 3; i++) {
            m.mean[i] += c * q[i];
            m.slopes[i] += c * s * q[i];
            for (int j = 0; j < 3; j++) m.second[3 * i + j] += c * q[i] * q[j];
        }
    }
    for (int i = 0; i < 3; i++) {
        right[i] = m.slope * m.mean[i] / m.weight - m.slopes[i];
        for (int j = 0; j < 3; j++)
            normal[3 * i + j] = two_pi * (m.second[3 * i + j] - m.mean[i] * m.mean[j] / m.weight);
    }
    memset(step, 0, 3 * sizeof *step);
    if (db_invert(normal, inverse)) db_apply(inverse, right, step);
}

/* Climbs to the maximum. room: for cosines and sines of the spots. */
static void climb_to_it(const grid *g, float *room, db_translation *top) {
    double step[3];
    db_translation at = *top;
    sum_at(g, room, room + g->count, &at, step);
    *top = at;
    for (int k = 0; k < CLIMBS; k++) {
        for (int i = 0; i < 3; i++) at.t[i] = top->t[i] + step[i];
        sum_at(g, room, room + g->count, &at, step);
        if (!(at.sum > top->sum)) return;
        *top = at;
    }
}

/* Are two points as near as neighbours on the grid? */
static int is_beside(const grid *g, const double t[3], const double u[3]) {
    double off[3], along[3], far = 0;
    for (int i = 0; i < 3; i++) off[i] = t[i] - u[i];
    db_apply(g->axes, off, along);
    for (int i = 0; i < 3; i++) far = fmax(far, fabs(along[i]) / g->step[i]);
    return far < 1.5;
}

/* Is t one of these translations or the sum of two, with any signs? */
static int is_sum(const grid *g, const double t[3], const db_translation *list, size_t count) {
    for (size_t m = 0; m < count; m++)
        for (size_t n = m; n < count; n++)
            for (int k = 0; k < 6; k++) {
                const double *const p = list[m].t, *const q = list[n].t;
                const int by_p = k < 4 ? 1 - k % 2 * 2 : 2 * k - 9,
                          by_q = k < 4 ? 1 - k / 2 * 2 : 0;
                const double sum[3] = { by_p * p[0] + by_q * q[0], by_p * p[1] + by_q * q[1],
                                        by_p * p[2] + by_q * q[2] };
                if (is_beside(g, t, sum)) return 1;
            }
    return 0;
}

static int higher_first(const void *a, const void *b) {
    const double x = ((const db_translation *)a)->sum, y = ((const db_translation *)b)->sum;
    return (x < y) - (x > y);
}

static int climb_all(const grid *g, db_translation *tops, size_t count) {
    const int threads = db_threads_for(g->context, (long)count);
    float *const room = malloc((size_t)threads * 2 * g->count * sizeof *room);
    if (!room) return 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (long n = 0; n < (long)count; n++)
        climb_to_it(g, room + (size_t)db_thread_number() * 2 * g->count, &tops[n]);
    qsort(tops, count, sizeof *tops, higher_first);
    free(room);
    return 1;
}

/* Maxima of the sums on the grid. 0: no memory. */
static int find_tops(grid *g, db_translation *tops, size_t *count) {
    place_spots(g);
    if (!sum_all(g)) return 0;
    *count = take_tops(g, tops);
    return climb_all(g, tops, *count);
}

db_status db_translations_find(db_context *context, const db_search_spot *spots, size_t count,
                               double longest, db_translation list[DB_MOST_TRANSLATIONS],
                               size_t *found, double *points) {
    grid g = { .context = context, .spots = spots, .longest = longest };
    *found = 0;
    *points = lay_affordable(&g, count);
    if (!(*points > 0)) return DB_OK;
    float *const room = malloc(5 * g.count * sizeof *room);
    db_translation *const tops = malloc(TOPS * sizeof *tops);
    g.square = calloc((size_t)*points, sizeof *g.square);
    size_t climbed = 0;
    for (int i = 0; i < 3 && room; i++) g.q[i] = room + (size_t)i * g.count;
    for (int i = 0; i < 2 && room; i++) g.turn[i] = room + (size_t)(3 + i) * g.count;
    const int done = room && tops && g.square && find_tops(&g, tops, &climbed);
    for (size_t n = 0; n < climbed && done && *found < DB_MOST_TRANSLATIONS; n++)
        if (db_length(tops[n].t) >= shortest && !is_sum(&g, tops[n].t, list, *found))
            list[(*found)++] = tops[n];
    free(room);
    free(tops);
    free(g.square);
    return db_need_memory(context, done, "the translations of the search for a cell");
}
