/* Boxes in a measured image, whose image is rendered here or on a device: their results agree with an independent
 * calculation from these pixels; a failure leaves a message, or the processor does the work. */
#define SMALL_CRYSTAL_PARAMETERS DB_CELL_A
#include "support/small_crystal.h"
#include "two_contexts.h"
#include "takes_all.h"

#include <dualbragg/expert/boxes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 160, SLOW = 90, SLOW_2 = 60, ROWS = SLOW + SLOW_2, PIXELS = FAST * ROWS };
enum { MANY = 1200, MOST = 1 << 20 };
static const double GAIN = 1.3, READOUT = 1.7, MODEL_ERROR = 0.08, RIDGE = 2e-7;

static db_measured_image image;
static db_image_panel panel[2];
static float counts[PIXELS], background[PIXELS];
static unsigned char strong[PIXELS], *own;
static db_region region[MANY];
static db_box_rule rule[MANY];
static size_t order[MANY], boxes_count, elements;

/* A number between 0 and 1 that follows from i. */
static double any(size_t i) { return (double)(i * 2654435761u % 65536) / 65536; }

static void two_panels(void) {
    db_panel both[2] = { experiment.detector.panels[0], experiment.detector.panels[0] };
    both[0].slow_pixels = SLOW;
    both[1].slow_pixels = SLOW_2;
    for (int i = 0; i < 3; i++)
        both[1].origin[i] += SLOW * both[1].pixel_size[1] * both[1].slow_axis[i];
    assert_int_equal(db_experiment_set_panels(processor, &experiment, both, 2), DB_OK);
    panel[0] = (db_image_panel){ .first_row = 0, .slow_pixels = SLOW };
    panel[1] = (db_image_panel){ .first_row = SLOW, .slow_pixels = SLOW_2 };
    image = (db_measured_image){
        .fast_pixels = FAST, .slow_pixels = ROWS, .panel_count = 2, .panels = panel, .value = counts
    };
}

/* Of all sizes, some with elements between their rows, some at the edges of their panels. */
static void place_boxes(size_t count) {
    static const int size[][2] = {
        { 17, 17 }, { 5, 5 }, { 9, 12 }, { 41, 41 }, { 17, 17 }, { 1, 3 }
    };
    elements = 0;
    boxes_count = count;
    for (size_t b = 0; b < count; b++) {
        const int fast = size[b % 6][0], slow = size[b % 6][1], rows = b % 5 == 1 ? SLOW_2 : SLOW,
                  x = FAST - fast, y = rows - slow, edge = b % 11 == 0;
        region[b] =
            (db_region){ .panel = b % 5 == 1,
                         .fast_start = edge ? (b % 2 ? 0 : x) : (int)(any(b) * (x + 1)),
                         .slow_start = edge ? (b % 4 < 2 ? 0 : y) : (int)(any(7 * b) * (y + 1)),
                         .fast_count = fast,
                         .slow_count = slow,
                         .offset = elements,
                         .stride = (size_t)fast + (b % 7 == 3 ? 2 : 0) };
        elements += region[b].stride * (size_t)slow;
        rule[b] = (db_box_rule){ .ridge = b % 3 ? RIDGE : 0, .expected = b % 5 ? 0 : 30 };
        for (int i = 0; i < DB_LINEAR; i++) rule[b].solved[i] = b % 8 != 5 || i < 2;
        order[b] = (b * 7) % count; /* count is no multiple of 7 */
    }
    assert_true(elements < MOST);
}

static int start(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    open_both(FAST, SLOW, 12);
    two_panels();
    experiment.structure_factors.default_F = 300;
    experiment.spread.spots = DB_SPOTS_CLOSED; /* there is no light far from spots */
    experiment.spread.mosaic = 0.01;
    place_boxes(120);
    own = malloc(MOST);
    return own ? 0 : -1;
}

static int finish_all(void **state) {
    free(own);
    return finish(state);
}

static size_t element_of(size_t b, int f, int s) {
    return region[b].offset + (size_t)s * region[b].stride + (size_t)f;
}
static size_t pixel_of(size_t b, int f, int s) {
    return (size_t)(panel[region[b].panel].first_row + region[b].slow_start + s) * FAST +
           (size_t)(region[b].fast_start + f);
}

/* Counts of the model over a background, with noise; which pixels are strong, and whose they are. */
static void measure(void) {
    db_plan *plan;
    float *const model = calloc(PIXELS, sizeof *model);
    double brightest = 0;
    assert_non_null(model);
    assert_int_equal(db_plan_create(processor, &experiment, NULL, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, model), DB_OK);
    db_plan_destroy(&plan);
    for (size_t i = 0; i < PIXELS; i++) brightest = fmax(brightest, (double)model[i]);
    for (size_t i = 0; i < PIXELS; i++) {
        const double level = 6 + 2 * any(i / 16),
                     mean = level + 3000 * (double)model[i] / brightest;
        background[i] = (float)level;
        counts[i] = (float)fmax(0, floor(mean + sqrt(mean) * (3 * any(i + 77) - 1.5)));
        strong[i] = (double)counts[i] > level + 9;
    }
    free(model);
    memset(own, 0, MOST);
    for (size_t b = 0; b < boxes_count; b++)
        for (int s = 0; s < region[b].slow_count; s++)
            for (int f = 0; f < region[b].fast_count; f++) {
                const size_t at = element_of(b, f, s);
                own[at] = b % 13 == 6   ? 0              /* masked all over */
                          : b % 13 == 7 ? f < 2          /* but for two columns */
                                        : any(at) < 0.9; /* here and there */
                if (b % 13 == 8 && strong[pixel_of(b, f, s)]) own[at] = s == f; /* few strong */
            }
    memset(own + elements, 1, 16);
}

static db_box_frame frame_of(int fixed, int whole) {
    db_box_frame frame = DB_BOX_FRAME_INIT;
    frame.image = &image;
    frame.background = background;
    frame.strong = strong;
    frame.own = own;
    frame.order = order;
    frame.gain = GAIN;
    frame.readout_noise = READOUT;
    frame.model_error = MODEL_ERROR;
    frame.background_fixed = fixed;
    frame.whole = whole;
    return frame;
}

/* By itself: sums in the order of the pixels, a matrix that is solved with pivots. */

static double weight_of(size_t b, int f, int s) {
    double sum = 0, level = (double)background[pixel_of(b, f, s)];
    int number = 0;
    if (!own[element_of(b, f, s)]) return 0;
    for (int y = s - 1; y <= s + 1; y++)
        for (int x = f - 1; x <= f + 1; x++)
            if (x >= 0 && y >= 0 && x < region[b].fast_count && y < region[b].slow_count &&
                own[element_of(b, x, y)]) {
                sum += (double)counts[pixel_of(b, x, y)];
                number++;
            }
    const double excess = fmax(0, sum / number - level), expected = fmax(level + excess, GAIN / 2);
    const double variance = GAIN * expected + READOUT * READOUT + pow(MODEL_ERROR * excess, 2);
    return (double)(float)(1 / variance);
}

/* Best values of the unknowns that are `used`, and the inverse's first element; 0: they are not determined. */
static int solve(const double matrix[4][4], const double *right, const int *used, double *x,
                 double *variance) {
    double m[4][6];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) m[i][j] = used[i] && used[j] ? matrix[i][j] : i == j;
        m[i][4] = used[i] ? right[i] : 0;
        m[i][5] = i == 0;
    }
    for (int k = 0; k < 4; k++) {
        int best = k;
        for (int i = k; i < 4; i++)
            if (fabs(m[i][k]) > fabs(m[best][k])) best = i;
        if (!(fabs(m[best][k]) > 1e-9 * matrix[1][1]) && k > 0) return 0;
        if (!(fabs(m[best][k]) > 0)) return 0;
        for (int j = 0; j < 6; j++) {
            const double kept = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = kept;
        }
        for (int i = 0; i < 4; i++) {
            const double factor = i == k ? 0 : m[i][k] / m[k][k];
            for (int j = 0; j < 6; j++) m[i][j] -= factor * m[k][j];
        }
    }
    for (int i = 0; i < 4; i++) x[i] = m[i][4] / m[i][i];
    *variance = m[0][5] / m[0][0];
    return 1;
}

typedef struct {
    db_box_measured m;
    int determined;
    double scale; /* of the loss */
} answer;

static double chi2_of(size_t b, const float *shape, int fixed, const double *x) {
    double sum = 0;
    for (int s = 0; s < region[b].slow_count; s++)
        for (int f = 0; f < region[b].fast_count; f++) {
            const double y = f - 0.5 * (region[b].fast_count - 1),
                         z = s - 0.5 * (region[b].slow_count - 1),
                         level = fixed ? (double)background[pixel_of(b, f, s)] : 0,
                         off = (double)counts[pixel_of(b, f, s)] - level - x[1] - x[2] * y -
                               x[3] * z - x[0] * (double)shape[element_of(b, f, s)];
            sum += weight_of(b, f, s) * off * off;
        }
    return sum;
}

static void add_pixels(size_t b, const float *shape, int fixed, db_box_measured *m) {
    const double *const x = m->solution.linear;
    double light = 0, fast = 0, slow = 0, noise[2] = { 0, 0 }, inside = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            m->observed[0] = region[b].fast_start + 0.5 + fast / light;
            m->observed[1] = region[b].slow_start + 0.5 + slow / light;
        }
        for (int s = 0; s < region[b].slow_count; s++)
            for (int f = 0; f < region[b].fast_count; f++) {
                const size_t at = pixel_of(b, f, s), to = element_of(b, f, s);
                const double weight = weight_of(b, f, s), y = (double)counts[at],
                             excess = y - (double)background[at], j = x[0] * (double)shape[to],
                             plane = x[1] + x[2] * (f - 0.5 * (region[b].fast_count - 1)) +
                                     x[3] * (s - 0.5 * (region[b].slow_count - 1));
                if (!own[to]) continue;
                if (pass && strong[at]) {
                    noise[0] += pow(region[b].fast_start + f + 0.5 - m->observed[0], 2) / weight;
                    noise[1] += pow(region[b].slow_start + s + 0.5 - m->observed[1], 2) / weight;
                    inside += excess;
                }
                if (pass) continue;
                m->pixels++;
                m->shape += (double)shape[to];
                const double below = plane + (fixed ? (double)background[at] : 0);
                m->background += below;
                m->sum += y - below;
                m->sum_variance += 1 / weight;
                if (!strong[at]) continue;
                m->strong++;
                m->explained += 2 * j > excess && j < 2 * excess;
                light += excess;
                fast += excess * f;
                slow += excess * s;
            }
    }
    if (!m->strong) m->observed[0] = m->observed[1] = (double)NAN;
    for (int k = 0; k < 2 && m->strong; k++)
        m->observed_variance[k] = noise[k] / inside / inside + 1 / (12.0 * m->strong);
}

static answer answer_of(size_t b, const float *shape, int fixed) {
    answer a = { .determined = 1 };
    double matrix[4][4] = { { 0 } }, right[4] = { 0 }, x[4], unused;
    int used[4];
    for (int i = 0; i < 4; i++) used[i] = rule[b].solved[i];
    for (int s = 0; s < region[b].slow_count; s++)
        for (int f = 0; f < region[b].fast_count; f++) {
            const double weight = weight_of(b, f, s), y = (double)counts[pixel_of(b, f, s)],
                         level = fixed ? (double)background[pixel_of(b, f, s)] : 0,
                         column[4] = { (double)shape[element_of(b, f, s)], 1,
                                       f - 0.5 * (region[b].fast_count - 1),
                                       s - 0.5 * (region[b].slow_count - 1) };
            for (int i = 0; i < 4; i++) {
                right[i] += weight * column[i] * (y - level);
                for (int j = 0; j < 4; j++) matrix[i][j] += weight * column[i] * column[j];
            }
            a.scale += weight * (y - level) * (y - level);
        }
    a.determined = solve(matrix, right, used, x, &a.m.variance) && a.m.variance > 0;
    a.m.has_light = a.determined;
    a.m.intensity = x[0];
    a.m.chi2 = chi2_of(b, shape, fixed, x);
    matrix[0][0] += rule[b].ridge;
    right[0] += rule[b].ridge * rule[b].expected;
    if (a.determined) solve(matrix, right, used, a.m.solution.linear, &a.m.solution.variance);
    if (a.m.solution.linear[0] < 0) {
        used[0] = 0;
        solve(matrix, right, used, a.m.solution.linear, &unused);
        a.m.solution.linear[0] = a.m.solution.variance = 0;
    }
    a.m.solution.loss = chi2_of(b, shape, fixed, a.m.solution.linear) +
                        rule[b].ridge * pow(a.m.solution.linear[0] - rule[b].expected, 2);
    add_pixels(b, shape, fixed, &a.m);
    a.determined = a.determined && a.m.pixels >= 12; /* the fit is not but rounding */
    return a;
}

static void near(const char *what, size_t b, double found, double expected, double bound) {
    if (fabs(found - expected) <= bound || (isnan(found) && isnan(expected))) return;
    fail_msg("%s of box %zu (%d x %d): %.15g instead of %.15g, bound %.2g", what, b,
             region[b].fast_count, region[b].slow_count, found, expected, bound);
}

static void compare_box(size_t b, const db_box_measured *m, const answer *a, double bound) {
    const db_box_measured *const e = &a->m;
    const double sigma = sqrt(e->variance), level = 10;
    assert_int_equal(m->pixels, e->pixels);
    assert_int_equal(m->strong, e->strong);
    for (int k = 0; k < 2; k++) {
        near("centroid", b, m->observed[k], e->observed[k], 10 * bound);
        near("variance of the centroid", b, m->observed_variance[k], e->observed_variance[k],
             bound * (1 + e->observed_variance[k]));
    }
    near("sum of variances", b, m->sum_variance, e->sum_variance, 1e3 * bound);
    near("light in use", b, m->shape, e->shape, bound * (1 + e->shape));
    if (!a->determined) return;
    assert_int_equal(m->has_light, 1);
    assert_int_equal(m->explained, e->explained);
    near("J", b, m->solution.linear[0], e->solution.linear[0],
         bound * (sigma + fabs(e->intensity)));
    for (int i = 1; i < DB_LINEAR; i++)
        near("plane", b, m->solution.linear[i], e->solution.linear[i], level * bound);
    near("variance of J", b, m->solution.variance, e->solution.variance,
         bound * e->solution.variance);
    near("loss", b, m->solution.loss, e->solution.loss, bound * a->scale);
    near("intensity", b, m->intensity, e->intensity, bound * (sigma + fabs(e->intensity)));
    near("variance of the intensity", b, m->variance, e->variance, bound * e->variance);
    near("chi2", b, m->chi2, e->chi2, bound * a->scale);
    near("background", b, m->background, e->background, level * e->pixels * bound);
    near("sum", b, m->sum, e->sum, level * e->pixels * bound);
}

static db_plan *plan_of(db_context *context) {
    return small_plan(context, &experiment, DB_PRECISION_MIXED, region, boxes_count);
}

static db_box_measured *measured_by(db_boxes *boxes) {
    db_box_measured *const m = calloc(boxes_count, sizeof *m);
    assert_non_null(m);
    assert_int_equal(db_boxes_measure(boxes, rule, m), DB_OK);
    return m;
}

static void compare_light(db_boxes *boxes) {
    const float *shape;
    double *const light = calloc(boxes_count, sizeof *light);
    assert_non_null(light);
    assert_int_equal(db_boxes_light(boxes, light), DB_OK);
    assert_int_equal(db_boxes_image_of(boxes, &shape), DB_OK);
    for (size_t b = 0; b < boxes_count; b++) {
        double sum = 0;
        for (int s = 0; s < region[b].slow_count; s++)
            for (int f = 0; f < region[b].fast_count; f++)
                sum += (double)shape[element_of(b, f, s)];
        near("light", b, light[b], sum, 1e-12 * sum);
    }
    free(light);
}

/* How many boxes were determined, and how many of these had no room for a negative J. */
static void compare_boxes(db_boxes *boxes, int fixed, size_t *determined, size_t *bound) {
    const float *shape;
    db_box_measured *const m = measured_by(boxes);
    assert_int_equal(db_boxes_image_of(boxes, &shape), DB_OK);
    for (size_t b = 0; b < boxes_count; b++) {
        const answer a = answer_of(b, shape, fixed);
        compare_box(b, &m[b], &a, 1e-6);
        *determined += (size_t)a.determined;
        *bound += a.determined && !(a.m.solution.linear[0] > 0);
    }
    free(m);
}

static void compare_all(db_context *context, size_t count) {
    size_t determined = 0, bound = 0;
    place_boxes(count);
    measure();
    for (int fixed = 0; fixed < 2; fixed++) {
        const db_box_frame frame = frame_of(fixed, 1);
        db_plan *plan = plan_of(context);
        db_boxes *boxes;
        assert_int_equal(db_boxes_create_in(plan, &frame, &boxes), DB_OK);
        assert_string_equal(db_plan_device(plan), context == device ? "cuda:0" : "cpu");
        compare_light(boxes);
        compare_boxes(boxes, fixed, &determined, &bound);
        db_boxes_destroy(&boxes);
        db_plan_destroy(&plan);
    }
    assert_in_range(determined, count / 4, 2 * count - 2);
    assert_in_range(bound, 1, determined / 2);
}

static void boxes_of_the_processor_are_measured(void **state) {
    (void)state;
    compare_all(processor, MANY);
}

static void boxes_of_a_device_are_measured(void **state) {
    (void)state;
    compare_all(device, MANY);
}

/* 1: every number of one is that of the other. */
static int is_same(const db_box_measured *x, const db_box_measured *y) {
    return memcmp(x, y, sizeof *x) == 0;
}

/* The same bits in any order and for any number of threads; on a device from call to call. */
static void bits_stay(void **state) {
    (void)state;
    measure();
    db_box_frame frame = frame_of(0, 1);
    db_box_measured *first[2] = { NULL, NULL };
    for (int round = 0; round < 2; round++) {
        frame.order = round ? NULL : order;
        for (int there = 0; there < 2; there++) {
            db_context *const context = there ? device : processor;
            assert_int_equal(db_context_set_threads(context, 1 + round), DB_OK);
            db_plan *plan = plan_of(context);
            db_boxes *boxes;
            double *const light = calloc(boxes_count, sizeof *light);
            assert_non_null(light);
            assert_int_equal(db_boxes_create_in(plan, &frame, &boxes), DB_OK);
            assert_int_equal(db_boxes_light(boxes, light), DB_OK);
            db_box_measured *const m = measured_by(boxes);
            for (size_t b = 0; b < boxes_count && round; b++)
                assert_true(is_same(&m[b], &first[there][b]));
            if (round)
                free(m);
            else
                first[there] = m;
            free(light);
            db_boxes_destroy(&boxes);
            db_plan_destroy(&plan);
        }
    }
    free(first[0]);
    free(first[1]);
}

/* Coefficients and explained pixels alone are the same, and all else is 0. */
static void less_is_said(void **state) {
    (void)state;
    measure();
    for (int there = 0; there < 2; there++) {
        db_plan *plan = plan_of(there ? device : processor);
        db_box_measured *m[2];
        for (int whole = 0; whole < 2; whole++) {
            const db_box_frame frame = frame_of(0, whole);
            db_boxes *boxes;
            double *const light = calloc(boxes_count, sizeof *light);
            assert_non_null(light);
            assert_int_equal(db_boxes_create_in(plan, &frame, &boxes), DB_OK);
            assert_int_equal(db_boxes_light(boxes, light), DB_OK);
            m[whole] = measured_by(boxes);
            free(light);
            db_boxes_destroy(&boxes);
        }
        for (size_t b = 0; b < boxes_count; b++) {
            db_box_measured few = { .solution = m[1][b].solution, .explained = m[1][b].explained };
            assert_true(is_same(&m[0][b], &few));
        }
        free(m[0]);
        free(m[1]);
        db_plan_destroy(&plan);
    }
}

static void refused(db_plan *plan, const db_box_frame *frame, const char *message) {
    db_boxes *boxes;
    assert_int_equal(db_boxes_create_in(plan, frame, &boxes), DB_ERROR_USAGE);
    assert_null(boxes);
    if (!strstr(db_context_message(device), message))
        fail_msg("'%s' does not say '%s'", db_context_message(device), message);
}

static void what_cannot_be_is_said(void **state) {
    (void)state;
    measure();
    db_plan *plan = plan_of(device);
    db_box_frame frame = frame_of(0, 1);
    db_box_measured m[1];
    db_boxes *boxes;
    frame.size--;
    refused(plan, &frame, "DB_BOX_FRAME_INIT");
    frame = frame_of(0, 1);
    frame.own = NULL;
    refused(plan, &frame, "found NULL");
    frame = frame_of(0, 1);
    frame.gain = 0;
    refused(plan, &frame, "a gain above 0");
    frame = frame_of(0, 1);
    order[3] = boxes_count;
    refused(plan, &frame, "a box that there is not");
    frame.order = NULL;
    panel[1].slow_pixels--;
    refused(plan, &frame, "rows in all, found");
    panel[1].slow_pixels++;
    panel[1].first_row = -1;
    refused(plan, &frame, "expected one below the other");
    panel[1].first_row = SLOW;
    panel[0].slow_pixels--;
    panel[1].first_row--;
    panel[1].slow_pixels++;
    refused(plan, &frame, "is not within a panel");
    panel[0].slow_pixels++;
    panel[1].first_row++;
    panel[1].slow_pixels--;
    image.panel_count = 1;
    refused(plan, &frame, "is not within a panel");
    image.panel_count = 2;
    assert_int_equal(db_boxes_create_in(plan, &frame, &boxes), DB_OK);
    assert_int_equal(db_boxes_measure(boxes, rule, m), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "nothing has been rendered"));
    assert_int_equal(db_boxes_measure(boxes, NULL, m), DB_ERROR_USAGE);
    assert_int_equal(db_boxes_measure(boxes, rule, NULL), DB_ERROR_USAGE);
    db_boxes_destroy(&boxes);
    assert_int_equal(db_boxes_create(plan, &boxes), DB_OK);
    compare_light(boxes); /* of any boxes */
    assert_int_equal(db_boxes_measure(boxes, rule, m), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "db_boxes_create_in"));
    db_boxes_destroy(&boxes);
    db_plan_destroy(&plan);
}

#if !defined(DB_ON_GPU)
/* Whichever call of the runtime fails: a status and a message; with "auto" the processor's results. */
static void any_call_may_fail_slow(void **state) {
    (void)state;
    place_boxes(12);
    measure();
    const db_box_frame frame = frame_of(0, 1);
    for (int automatic = 0; automatic < 2; automatic++) {
        long failures = 0;
        for (long n = 0;; n++) {
            machine_begin_again(&device, automatic ? "auto" : "cuda");
            db_plan *plan = plan_of(device);
            db_boxes *boxes;
            db_box_measured *const m = calloc(boxes_count, sizeof *m);
            double *const light = calloc(boxes_count, sizeof *light);
            assert_true(m && light);
            assert_int_equal(db_boxes_create_in(plan, &frame, &boxes), DB_OK);
            stand_in.calls_until_failure = n;
            db_status status = db_boxes_light(boxes, light);
            if (status == DB_OK) status = db_boxes_measure(boxes, rule, m);
            const int unharmed = stand_in.calls_until_failure >= 0;
            stand_in.calls_until_failure = -1;
            failures += !unharmed;
            if (status == DB_OK) {
                const float *shape;
                assert_int_equal(db_boxes_image_of(boxes, &shape), DB_OK);
                for (size_t b = 0; b < boxes_count; b++) {
                    const answer a = answer_of(b, shape, 0);
                    compare_box(b, &m[b], &a, 1e-6);
                }
            } else {
                assert_true(!automatic && (status == DB_ERROR_MEMORY || status == DB_ERROR_DEVICE));
                assert_true(strlen(db_context_message(device)) > 10);
            }
            free(m);
            free(light);
            db_boxes_destroy(&boxes);
            db_plan_destroy(&plan);
            if (unharmed) break;
        }
        assert_true(failures > 5);
    }
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish_all)
    const struct CMUnitTest tests[] = {
        TEST(boxes_of_the_processor_are_measured),
        TEST(boxes_of_a_device_are_measured),
        TEST(bits_stay),
        TEST(less_is_said),
        TEST(what_cannot_be_is_said),
#if !defined(DB_ON_GPU)
        TEST(any_call_may_fail_slow),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
