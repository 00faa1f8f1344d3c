/* Loss, gradient and normal matrix of the moments of spots. */
#include "fit/search/moments.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/geometry.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/spot_places.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 7,   /* place 2, covariance 3, excitation 2 */
    AROUND = 2, /* rings of pixels around strong ones, for the rest of a spot */
};

static const double INDEPENDENT = 10; /* parts of a spot with independent places */
/* Step for differences, in typical steps of parameters. The loss of modes is curved within a hundredth. */
static const double STEP = 1e-5;
/* Pixels that a place moves by a typical step, at most. A place moves farther where a spot of a large mosaic spread, far from
 * the sphere, is brightest at two places, and the other one becomes the brighter one: a jump has no slope. */
static const double FARTHEST = 2000;
static const double SPOT_NS = 500; /* to place and compare a spot once, by AVX2 */

/* Marks strong pixels of a box and the rings around them. */
static void mark_spot(const db_shoeboxes *boxes, size_t first, uint8_t *of_spot) {
    const int width = boxes->width;
    const uint8_t *const strong = boxes->strong + first;
    const uint8_t *const end = strong + boxes->pixels;
    memset(of_spot, 0, boxes->pixels);
    for (const uint8_t *next = strong;
         next < end && (next = memchr(next, 1, (size_t)(end - next))) != NULL; next++) {
        const int fast = (int)(next - strong) % width, slow = (int)(next - strong) / width;
        const int left = fast > AROUND ? fast - AROUND : 0,
                  right = fast + AROUND < width ? fast + AROUND : width - 1,
                  bottom = slow + AROUND < width ? slow + AROUND : width - 1;
        for (int s = slow > AROUND ? slow - AROUND : 0; s <= bottom; s++)
            for (int f = left; f <= right; f++) of_spot[s * width + f] = 1;
    }
}

typedef struct sums {
    double counts, first[2], second[3];
} sums;

static void add_counts(double counts, double fast, double slow, sums *m) {
    m->counts += counts;
    m->first[0] += counts * fast;
    m->first[1] += counts * slow;
    m->second[0] += counts * fast * fast;
    m->second[1] += counts * slow * slow;
    m->second[2] += counts * fast * slow;
}

/* Widens a covariance to a pixel along every line; noise can make a spot seem narrower. */
static void widen(double v[3]) {
    const double pixel = 1.0 / 12, mean = 0.5 * (v[0] + v[1]), half = 0.5 * (v[0] - v[1]);
    const double radius = hypot(half, v[2]), shrink = radius > 0 ? 1 / radius : 0;
    const double most = fmax(mean + radius, pixel), least = fmax(mean - radius, pixel);
    const double middle = 0.5 * (most + least), reach = 0.5 * (most - least) * shrink;
    v[0] = middle + reach * half;
    v[1] = middle - reach * half;
    v[2] *= reach;
}

/* Centroid of the strong pixels; covariance with the rings around them, which sum most of the spot. 0: no spot.
 * of_spot: room for a box. */
static int observe(const db_shoeboxes *boxes, size_t b, uint8_t *of_spot,
                   db_observed_moments *seen) {
    const size_t first = b * boxes->pixels;
    sums peak = { 0 }, whole = { 0 };
    mark_spot(boxes, first, of_spot);
    for (int s = 0; s < boxes->width; s++)
        for (int f = 0; f < boxes->width; f++) {
            const size_t i = first + (size_t)(s * boxes->width + f);
            if (!boxes->own[i] || !of_spot[i - first]) continue;
            const double excess = (double)boxes->value[i] - (double)boxes->background[i];
            add_counts(excess, f, s, &whole);
            if (boxes->strong[i]) add_counts(excess, f, s, &peak);
        }
    *seen = (db_observed_moments){ 0 };
    if (!(peak.counts > 0)) return 0;
    seen->place[0] = boxes->region[b].fast_start + 0.5 + peak.first[0] / peak.counts;
    seen->place[1] = boxes->region[b].slow_start + 0.5 + peak.first[1] / peak.counts;
    if (!(whole.counts > 0)) return 1;
    const double mean[2] = { whole.first[0] / whole.counts, whole.first[1] / whole.counts };
    double *const v = seen->covariance;
    v[0] = whole.second[0] / whole.counts - mean[0] * mean[0];
    v[1] = whole.second[1] / whole.counts - mean[1] * mean[1];
    v[2] = whole.second[2] / whole.counts - mean[0] * mean[1];
    widen(v);
    return 1;
}

/* Does a reflection belong to the first half of all reflections, seen or not? */
static int is_first_half(const int hkl[3]) {
    uint32_t key =
        (uint32_t)hkl[0] * 73856093u ^ (uint32_t)hkl[1] * 19349663u ^ (uint32_t)hkl[2] * 83492791u;
    key = (key ^ key >> 15) * 0x2c1b3c6du;
    key = (key ^ key >> 12) * 0x297a2d39u;
    return (int)((key ^ key >> 15) & 1u);
}

static void take_half(const db_shoeboxes *boxes, int first, uint8_t *of_spot, db_moments *m) {
    for (size_t b = 0; b < boxes->count; b++) {
        const int *const hkl = boxes->reflection[b].hkl;
        if (is_first_half(hkl) != first || !observe(boxes, b, of_spot, &m->observed[m->count]))
            continue;
        memcpy(m->spot[m->count].hkl, hkl, 3 * sizeof *hkl);
        m->spot[m->count++].panel = boxes->region[b].panel;
    }
}

db_status db_moments_allocate(db_context *context, const db_experiment *experiment, size_t count,
                              const db_variables *variables, double blur, db_moments *m) {
    *m = (db_moments){
        .context = context, .variables = variables, .blur = blur, .experiment = *experiment
    };
    m->experiment.structure_factors = (db_structure_factors){ .default_F = 1 };
    m->spot = calloc(count + 1, sizeof *m->spot);
    m->observed = calloc(count + 1, sizeof *m->observed);
    m->rows = calloc(count * ROWS * variables->count + 1, sizeof *m->rows);
    m->jumped = calloc(2 * count + 1, 1);
    m->last = calloc(count + 1, sizeof *m->last);
    m->last_value = calloc(variables->count + 1, sizeof *m->last_value);
    if (m->spot && m->observed && m->rows && m->jumped && m->last && m->last_value) return DB_OK;
    db_moments_clear(m);
    return db_fail_memory(context, "the moments of spots");
}

db_status db_moments_make(db_context *context, const db_experiment *experiment,
                          const db_shoeboxes *boxes, const db_variables *variables, double blur,
                          db_moments *m) {
    DB_TRY(db_moments_allocate(context, experiment, boxes->count, variables, blur, m));
    uint8_t *const of_spot = malloc(boxes->pixels + 1);
    if (!of_spot) {
        db_moments_clear(m);
        return db_fail_memory(context, "the moments of spots");
    }
    take_half(boxes, 1, of_spot, m);
    m->half = m->count;
    take_half(boxes, 0, of_spot, m);
    m->to = m->count;
    free(of_spot);
    return DB_OK;
}

void db_moments_clear(db_moments *m) {
    free(m->spot);
    free(m->observed);
    free(m->rows);
    free(m->jumped);
    free(m->last);
    free(m->last_value);
    *m = (db_moments){ 0 };
}

void db_moments_take_all(db_moments *m) {
    memset(m->jumped, 0, 2 * m->count);
    m->has_last = 0;
}

/* A predicted spot, whitened: V = L L^T. */
typedef struct white {
    double l00, l10, l11;
    double off[2];   /* observed minus predicted, by L^-1 */
    double shape[3]; /* observed covariance, by L^-1 on both sides */
    double trust;    /* weight of the spot, lower if it is unlike the model */
} white;

static void whiten(const white *w, const double v[2], double out[2]) {
    out[0] = v[0] / w->l00;
    out[1] = (v[1] - w->l10 * out[0]) / w->l11;
}

static void whiten_tensor(const white *w, const double t[3], double out[3]) {
    const double a[2] = { t[0] / w->l00, (t[2] - w->l10 * (t[0] / w->l00)) / w->l11 };
    const double b[2] = { t[2] / w->l00, (t[1] - w->l10 * (t[2] / w->l00)) / w->l11 };
    /* L^-1 T by columns (a: first, b: second); then L^-1 from the right */
    out[0] = a[0] / w->l00;
    out[2] = a[1] / w->l00;
    const double c0 = (b[0] - w->l10 * out[0]) / w->l11;
    out[1] = (b[1] - w->l10 * out[2]) / w->l11;
    out[2] = 0.5 * (out[2] + c0);
}

/* Do widths of a spot count? Not with a blurred model. */
static int has_shape(const db_moments *m, size_t i) {
    return m->observed[i].covariance[0] > 0 && !(m->blur > 0);
}

/* Loss of a spot. */
static double look_at(const db_moments *m, size_t i, white *w) {
    const db_spot *const s = &m->spot[i];
    const double v[3] = { s->covariance[0] + m->blur, s->covariance[1] + m->blur,
                          s->covariance[2] };
    const double determinant = v[0] * v[1] - v[2] * v[2];
    memset(w, 0, sizeof *w);
    if (!(determinant > 0) || !isfinite(s->position[0])) return INFINITY;
    w->l00 = sqrt(v[0]);
    w->l10 = v[2] / w->l00;
    w->l11 = sqrt(v[1] - w->l10 * w->l10);
    const double off[2] = { m->observed[i].place[0] - s->position[0],
                            m->observed[i].place[1] - s->position[1] };
    whiten(w, off, w->off);
    double unlike = INDEPENDENT * (w->off[0] * w->off[0] + w->off[1] * w->off[1]) +
                    s->excitation * s->excitation;
    double numbers = 3;
    if (has_shape(m, i)) {
        double *const t = w->shape;
        whiten_tensor(w, m->observed[i].covariance, t);
        unlike += INDEPENDENT * (t[0] + t[1] - 2 - log(t[0] * t[1] - t[2] * t[2]));
        numbers = 6;
    }
    w->trust = (DB_STUDENT_FREEDOM + numbers) / (DB_STUDENT_FREEDOM + unlike);
    return (DB_STUDENT_FREEDOM + numbers) * log1p(unlike / DB_STUDENT_FREEDOM) + log(determinant) +
           2 * log(s->width);
}

/* Slopes of the parts of a spot's loss by a variable: rows whose products are the normal matrix. Returns the slope
 * of the loss. */
static double slopes_of(const db_moments *m, size_t i, const white *w, const db_spot *ahead,
                        double step, double row[ROWS]) {
    const db_spot *const s = &m->spot[i];
    const double d[2] = { (ahead->position[0] - s->position[0]) / step,
                          (ahead->position[1] - s->position[1]) / step };
    double dv[3], u[2], b[3] = { 0 }, slope = 0;
    for (int k = 0; k < 3; k++) dv[k] = (ahead->covariance[k] - s->covariance[k]) / step;
    whiten(w, d, u);
    whiten_tensor(w, dv, b);
    const double share = INDEPENDENT * w->trust, root = sqrt(share);
    double by_shape = 0;
    slope += b[0] + b[1] -
             share * (2 * (w->off[0] * u[0] + w->off[1] * u[1]) + w->off[0] * w->off[0] * b[0] +
                      w->off[1] * w->off[1] * b[1] + 2 * w->off[0] * w->off[1] * b[2]);
    if (has_shape(m, i)) {
        by_shape = share;
        slope += share *
                 (b[0] + b[1] - b[0] * w->shape[0] - b[1] * w->shape[1] - 2 * b[2] * w->shape[2]);
    }
    const double half = sqrt(0.5 * (by_shape + 1));
    row[0] = root * u[0];
    row[1] = root * u[1];
    row[2] = half * b[0];
    row[3] = half * b[1];
    row[4] = half * sqrt(2.0) * b[2];
    /* of excitation: by the distance and by the width */
    const double moved = (ahead->turn - s->turn) / (step * s->width),
                 wider = (ahead->width - s->width) / (step * s->width), e = s->excitation;
    slope += w->trust * 2 * e * (moved - e * wider) + 2 * wider;
    row[5] = sqrt(w->trust) * moved;
    row[6] = sqrt(2.0) * wider;
    return slope;
}

static int jumps(const db_spot *s, const db_spot *ahead) {
    const double far = STEP * FARTHEST, by[2] = { ahead->position[0] - s->position[0],
                                                  ahead->position[1] - s->position[1] };
    return !(fabs(by[0]) + fabs(by[1]) <= far) && hypot(by[0], by[1]) > far;
}

/* The slopes of a spot's numbers by a variable. */
static double *row_of(const db_moments *m, size_t variable, size_t spot) {
    return m->rows + (variable * m->count + spot) * ROWS;
}

/* Memory of one thread. */
typedef struct ahead_room {
    db_context context; /* of one thread */
    db_experiment experiment;
    double values[DB_FIT_MOST_PARAMETERS];
    db_spot *spot;
} ahead_room;

/* Rows of the spots in use for variable k, and the slope of their loss. */
static db_status derive_by(const db_moments *m, const double *x, size_t k, const white *seen,
                           ahead_room *room, double *slope) {
    const db_variables *const v = m->variables;
    const double usual = STEP * db_parameter_describe(v->parameter[k])->scale;
    const double step = x[k] + usual <= v->upper[k] ? usual : -usual;
    db_spot *const ahead = room->spot;
    memcpy(room->values, x, v->count * sizeof *x);
    for (size_t i = m->from; i < m->to; i++) ahead[i] = m->spot[i];
    room->values[k] += step;
    db_variables_set(v, room->values, &room->experiment);
    DB_TRY(db_spots_place(&room->context, &room->experiment, 0, ahead + m->from, m->to - m->from));
    int region = 0;
    *slope = 0;
    for (size_t i = m->from; i < m->to; i++) {
        if (jumps(&m->spot[i], &ahead[i])) {
#if defined(_OPENMP)
#pragma omp atomic write
#endif
            m->jumped[m->count + i] = 1;
            ahead[i] = m->spot[i];
        }
        if (m->jumped[i]) ahead[i] = m->spot[i];
        const double of_spot = slopes_of(m, i, &seen[i], &ahead[i], step, row_of(m, k, i));
        *slope += of_spot;
        if (!m->of_region) continue;
        while (i >= db_region_start(m->count, m->regions, region + 1)) region++;
        m->of_region[(size_t)region * v->count + k] += of_spot;
    }
    return DB_OK;
}

static db_moment_slopes slopes_at_last(const db_spot *s, const white *w) {
    return (db_moment_slopes){ .place = { s->position[0], s->position[1] },
                               .factor = { w->l00, w->l10, w->l11 },
                               .root = sqrt(INDEPENDENT * w->trust) };
}

static void open_room(const db_moments *m, db_spot *spot, ahead_room *room) {
    room->context =
        (db_context){ .threads = 1, .isa = m->context->isa, .device = { .name = "cpu" } };
    room->experiment = m->experiment;
    room->spot = spot;
}

/* Rows and slopes of the loss for some variables. Each thread does whole variables, because the spots of one are
 * too little work for several. */
static db_status derive(db_moments *m, const double *x, const size_t *variable, size_t count,
                        double *slope) {
    const int threads =
        db_threads_worth(m->context, (long)count, SPOT_NS * (double)(m->to - m->from));
    white *const seen = malloc((m->count + 1) * sizeof *seen);
    ahead_room *const rooms = malloc((size_t)threads * sizeof *rooms);
    db_spot *const spots = malloc((size_t)threads * (m->count + 1) * sizeof *spots);
    db_status status = DB_OK;
    long failed = (long)count;
    if (!seen || !rooms || !spots) {
        status = db_fail_memory(m->context, "the slopes of moments");
    } else {
        for (int t = 0; t < threads; t++)
            open_room(m, spots + (size_t)t * (m->count + 1), &rooms[t]);
        for (size_t i = m->from; i < m->to; i++) {
            (void)look_at(m, i, &seen[i]);
            m->last[i] = slopes_at_last(&m->spot[i], &seen[i]);
        }
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
#endif
        for (long k = 0; k < (long)count; k++) {
            ahead_room *const own = &rooms[db_thread_number()];
            const db_status ended =
                derive_by(m, x, variable ? variable[k] : (size_t)k, seen, own, &slope[k]);
            if (ended == DB_OK) continue;
#if defined(_OPENMP)
#pragma omp critical(db_moments)
#endif
            if (k < failed) { /* the first failure, as one thread would find it */
                failed = k;
                status = db_fail(m->context, ended, "%s", db_context_message(&own->context));
            }
        }
    }
    free(seen);
    free(rooms);
    free(spots);
    return status;
}

/* How far a step moves a spot at most by its slopes at the last evaluation, pixels. */
static double reach_of(const db_moments *m, size_t i, const double *x) {
    const db_moment_slopes *const last = &m->last[i];
    double sum[2] = { 0, 0 };
    for (size_t k = 0; k < m->variables->table_count; k++) {
        const double step = (x[k] - m->last_value[k]) / last->root, *const u = row_of(m, k, i);
        sum[0] += fabs(last->factor[0] * u[0] * step);
        sum[1] += fabs((last->factor[1] * u[0] + last->factor[2] * u[1]) * step);
    }
    return hypot(sum[0], sum[1]);
}

/* Finds spots in use that have jumped since the last evaluation. */
static void find_jumps(db_moments *m, const double *x) {
    const double apart = 1,
                 bent = 10; /* pixels; over the reach: places do not move along straight lines */
    for (size_t i = m->from; m->has_last && i < m->to; i++) {
        const double *const now = m->spot[i].position, *const before = m->last[i].place,
                            moved = hypot(now[0] - before[0], now[1] - before[1]);
        if (moved > apart && moved > bent * reach_of(m, i, x)) m->jumped[m->count + i] = 1;
    }
}

/* Leaves out the spots that have jumped. */
static void leave_out_jumped(db_moments *m) {
    m->has_lost = 0;
    for (size_t i = m->from; i < m->to; i++) {
        m->has_lost |= m->jumped[m->count + i] && !m->jumped[i];
        m->jumped[i] |= m->jumped[m->count + i];
    }
}

/* Adds products of slopes. Those of a few spots at a time are laid side by side, near at hand; each sum goes from spot to
 * spot. */
static void add_products(const db_moments *m, double *normal) {
    enum { SIDE = 8, ROOM = 3072 };
    const size_t all = m->variables->count, n = m->variables->table_count, stride = n + SIDE,
                 fitting = ROOM / (stride * ROWS), block = fitting ? fitting : 1;
    double near[ROOM + ROWS * (DB_FIT_MOST_PARAMETERS + SIDE)] = { 0 };
    for (size_t from = m->from; from < m->to; from += block) {
        const size_t left = m->to - from, rows = (left < block ? left : block) * ROWS;
        for (size_t k = 0; k < n; k++) {
            const double *const row = row_of(m, k, from);
            for (size_t r = 0; r < rows; r++) near[r * stride + k] = row[r];
        }
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l <= k; l += SIDE) {
                const size_t side = k + 1 - l < SIDE ? k + 1 - l : SIDE;
                double sum[SIDE] = { 0 };
                memcpy(sum, normal + k * all + l, side * sizeof *sum);
                for (size_t r = 0; r < rows; r++) {
                    const double *const row = near + r * stride;
                    for (int i = 0; i < SIDE; i++) sum[i] += row[k] * row[l + (size_t)i];
                }
                memcpy(normal + k * all + l, sum, side * sizeof *sum);
            }
    }
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < k; l++) normal[l * all + k] = normal[k * all + l];
}

/* Loss without priors. */
static double loss_at(db_moments *m, const double *x) {
    double sum = 0;
    white w;
    m->held_out = 0;
    db_variables_set(m->variables, x, &m->experiment);
    if (!db_spread_is_possible(&m->experiment)) return INFINITY;
    m->status = db_spots_place(m->context, &m->experiment, 0, m->spot, m->count);
    if (m->status == DB_ERROR_INPUT) {
        m->status = DB_OK;
        return INFINITY;
    }
    for (size_t i = 0; i < m->count && m->status == DB_OK; i++) {
        const int is_used = i >= m->from && i < m->to;
        if (!(is_used && m->jumped[i])) *(is_used ? &sum : &m->held_out) += look_at(m, i, &w);
    }
    return m->status == DB_OK && isfinite(sum) ? sum : INFINITY;
}

db_status db_moments_slopes(db_moments *m, const double *x, const size_t *variable, size_t count,
                            double *loss, double *slope) {
    *loss = loss_at(m, x);
    m->has_last = 0; /* rows will be of some variables only */
    for (size_t k = 0; k < count; k++) slope[k] = 0;
    DB_TRY(m->status);
    if (!isfinite(*loss)) return DB_OK;
    db_variables_add_priors(m->variables, x, loss, NULL, NULL);
    return m->status = derive(m, x, variable, count, slope);
}

db_status db_moments_evaluate(db_moments *m, const double *x, double *loss, double *gradient,
                              double *normal) {
    const size_t all = m->variables->count;
    memset(gradient, 0, all * sizeof *gradient);
    memset(normal, 0, all * all * sizeof *normal);
    m->has_lost = 0;
    *loss = loss_at(m, x);
    if (!isfinite(*loss)) return m->status;
    find_jumps(m, x);
    m->status = derive(m, x, NULL, m->variables->table_count, gradient);
    add_products(m, normal);
    memcpy(m->last_value, x, all * sizeof *x);
    m->has_last = 1;
    leave_out_jumped(m);
    return m->status;
}
