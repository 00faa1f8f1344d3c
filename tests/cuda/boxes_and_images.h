/* Shoeboxes of a small crystal with data, their coefficients and sums by a plan's boxes and by the processor from its
 * images. */
#ifndef DB_TESTS_CUDA_BOXES_AND_IMAGES_H
#define DB_TESTS_CUDA_BOXES_AND_IMAGES_H

#define SMALL_CRYSTAL_PARAMETERS                                                                   \
    DB_CELL_A, DB_MISSET_Y, DB_CELLS_B, DB_SCALE, DB_DISTANCE, DB_BEAM_FAST
#include "support/small_crystal.h"
#include "two_contexts.h"
#include "takes_all.h"

#include "loss/block.h"
#include "loss/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 150, SLOW = 40, BOXES = 14, GAP = 600000, PIXELS = GAP + 3000 };

static db_region region[BOXES];
static size_t pixels;
static float value[PIXELS], weight[PIXELS], shape_variance[PIXELS], offset[PIXELS];

/* Of several sizes, also larger than a tile, some with elements between their rows. */
static inline void place_boxes(void) {
    pixels = 0;
    for (int b = 0; b < BOXES; b++) {
        const int fast = b == 7 ? 70 : 5 + b % 7, slow = b == 7 ? 20 : 4 + b % 5,
                  stride = fast + (b % 3 == 1) * 2;
        region[b] = (db_region){ .fast_start = (b * 37) % (FAST - fast),
                                 .slow_start = (b * 11) % (SLOW - slow),
                                 .fast_count = fast,
                                 .slow_count = slow,
                                 .offset = pixels,
                                 .stride = (size_t)stride };
        pixels += (size_t)(stride * slow);
    }
    assert_true(pixels <= PIXELS - GAP);
}

static inline int start(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    open_both(FAST, SLOW, 12);
    experiment.structure_factors.default_F = 300;
    place_boxes();
    return 0;
}

static inline db_plan *plan_of(db_context *context, db_precision precision) {
    return small_plan(context, &experiment, precision, region, BOXES);
}

/* A number between 0 and 1 that follows from i. */
static inline double any(size_t i) { return (double)(i * 2654435761u % 65536) / 65536; }

/* Counts that differ from the model's in intensity, background and noise; some pixels do not count. */
static inline void measure(db_plan *plan) {
    assert_int_equal(db_plan_forward(plan, value), DB_OK);
    double brightest = 0;
    for (size_t i = 0; i < pixels; i++) brightest = fmax(brightest, (double)value[i]);
    for (size_t i = 0; i < pixels; i++) {
        const double model = 900 * (double)value[i] / brightest + 8 + 3 * any(i);
        offset[i] = (float)(2 * any(i + 5));
        value[i] = (float)fmax(0, floor(model + sqrt(model) * (3 * any(i + 77) - 1.5)));
        shape_variance[i] = (float)(0.001 * model);
        weight[i] = i % 17 == 3 ? 0 : (float)(1 / (model + 1));
    }
}

static inline void give_data(db_boxes *boxes) {
    db_box_data data = DB_BOX_DATA_INIT;
    data.value = value;
    data.weight = weight;
    data.shape_variance = shape_variance;
    data.offset = offset;
    assert_int_equal(db_boxes_set_data(boxes, &data), DB_OK);
}

static inline db_boxes *boxes_of(db_plan *plan) {
    db_boxes *boxes;
    assert_int_equal(db_boxes_create(plan, &boxes), DB_OK);
    give_data(boxes);
    return boxes;
}

static db_box_rule rule[BOXES];
static db_box_solution first_solution[BOXES];
static const db_link own_links[] = { { 0, 0, 1 }, { 1, 1, 2 }, { 2, 2, 0.5 },
                                     { 3, 3, 1 }, { 4, 4, 1 }, { 5, 5, 1 } };
static const db_link mixed_links[] = { { 1, 2, 0.3 }, { 0, 0, 1 }, { 2, 0, -0.1 }, { 5, 1, 1 } };
static const db_box_links lists[] = { { own_links, 6, 6 }, { mixed_links, 4, 3 } };
static const db_loss losses[] = {
    { .target = DB_LOSS_WEIGHTED, .gain = 1 },
    { .target = DB_LOSS_GAUSSIAN, .gain = 1.3, .readout_variance = 2 },
    { .target = DB_LOSS_POISSON, .gain = 1.3, .readout_variance = 2 },
    { .target = DB_LOSS_HUBER, .gain = 1.3, .readout_variance = 2, .tuning = 2 },
    { .target = DB_LOSS_STUDENT, .gain = 1.3, .readout_variance = 2, .tuning = 4 },
    { .target = DB_LOSS_POISSON, .gain = 1.3, .fewest = 0.001 }
};

/* kind 0: intensities are free, 1: given, 2: of constant backgrounds */
static inline void fill_rules(int kind) {
    for (int b = 0; b < BOXES; b++) {
        rule[b] = (db_box_rule){ .ridge = b % 4 == 2 ? 1e-5 : 0,
                                 .expected = b % 3 ? 0 : 400,
                                 .held_at_zero = kind != 1,
                                 .links = (size_t)(b % 2) };
        for (int i = 0; i < DB_LINEAR; i++)
            rule[b].summed[i] = rule[b].solved[i] = kind != 2 || i < 2;
        if (kind == 1) rule[b].solved[0] = 0;
        first_solution[b] =
            (db_box_solution){ .linear = { b % 9 == 4 ? 0 : 20 + b, 7 + 0.1 * b, 0.05, -0.02 } };
    }
}

static inline db_boxes_request request_of(const db_loss *loss) {
    db_boxes_request q = DB_BOXES_REQUEST_INIT;
    q.loss = loss;
    q.rule = rule;
    q.image = DB_BOXES_DERIVATIVES;
    q.links = lists;
    q.link_lists = 2;
    q.most = 6;
    return q;
}

typedef struct {
    db_box_solution solution[BOXES];
    double *result;
} sums;

static inline sums evaluate(db_boxes *boxes, const db_boxes_request *q) {
    sums s;
    memcpy(s.solution, first_solution, sizeof s.solution);
    s.result = calloc(BOXES * (db_boxes_room(q->most) + sizeof(db_block_sums)), sizeof(double));
    assert_non_null(s.result);
    assert_int_equal(db_boxes_evaluate(boxes, q, s.solution, s.result), DB_OK);
    return s;
}

static inline void near(const char *what, size_t b, double found, double expected, double scale,
                        double bound) {
    if (fabs(found - expected) <= bound * scale) return;
    fail_msg("%s of box %zu: %.17g instead of %.17g, off by %.2g of %g", what, b, found, expected,
             fabs(found - expected) / scale, scale);
}

/* whole: the sums without elimination, which say what cancels */
static inline void compare(const db_boxes_request *q, const sums *found, const sums *expected,
                           const sums *whole, double bound) {
    for (size_t b = 0; b < BOXES; b++) {
        const db_box_solution *const x = &found->solution[b];
        const db_box_solution *const y = &expected->solution[b];
        const size_t n = q->links[rule[b].links].variables, all = n + DB_LINEAR;
        for (int i = 0; i < DB_LINEAR; i++)
            near("coefficient", b, x->linear[i], y->linear[i],
                 fabs(y->linear[i]) + sqrt(fabs(y->linear[0])) + 1, bound);
        near("variance", b, x->variance, y->variance, y->variance, 100 * bound);
        near("loss", b, x->loss, y->loss, fabs(whole->solution[b].loss) + 100, bound);
        if (q->sums == DB_BOXES_NO_SUMS) continue;
        const double *const scale = db_boxes_normal_of(whole->result, q->most, b);
        for (size_t k = 0; k < n + q->kept; k++) {
            const double own = sqrt(scale[k * all + k]);
            const double expected_slope = db_boxes_gradient_of(expected->result, q->most, b)[k];
            near("gradient", b, db_boxes_gradient_of(found->result, q->most, b)[k], expected_slope,
                 100 * own + fabs(expected_slope), bound);
            for (size_t l = 0; l <= k && q->sums == DB_BOXES_NORMAL; l++)
                near("normal matrix", b, db_boxes_normal_of(found->result, q->most, b)[k * all + l],
                     db_boxes_normal_of(expected->result, q->most, b)[k * all + l],
                     own * sqrt(scale[l * all + l]), bound);
        }
    }
}

/* The images of a plan, wherever it renders, and its boxes. */
typedef struct {
    db_plan *plan;
    db_boxes *boxes;
    float *image, *derivative[SOME];
} scene;

static inline void render(scene *s) {
    assert_int_equal(db_plan_gradient(s->plan, s->image, (void *const *)s->derivative), DB_OK);
}

static inline scene scene_of(db_context *context, db_precision precision) {
    scene s = { .plan = plan_of(context, precision), .image = calloc(PIXELS, sizeof(float)) };
    assert_non_null(s.image);
    for (int k = 0; k < SOME; k++) {
        s.derivative[k] = calloc(PIXELS, sizeof(float));
        assert_non_null(s.derivative[k]);
    }
    measure(s.plan);
    s.boxes = boxes_of(s.plan);
    render(&s);
    return s;
}

static inline void scene_clear(scene *s) {
    db_boxes_destroy(&s->boxes);
    db_plan_destroy(&s->plan);
    free(s->image);
    for (int k = 0; k < SOME; k++) free(s->derivative[k]);
}

/* From the images, box by box. */
static inline void sum_box(const scene *s, const db_boxes_request *q, size_t b, sums *to) {
    db_block block = { .region = region[b],
                       .value = value,
                       .weight = weight,
                       .shape_variance = shape_variance,
                       .shape = s->image,
                       .offset = offset,
                       .loss = q->loss,
                       .ridge = rule[b].ridge,
                       .expected = rule[b].expected };
    const db_box_links *const list = &q->links[rule[b].links];
    const db_derivatives derivatives = { s->derivative, list->link, list->count, list->variables };
    db_box_solution *const own = &to->solution[b];
    const size_t all = list->variables + DB_LINEAR;
    for (int i = 0; i < DB_LINEAR; i++) block.used[i] = rule[b].solved[i];
    if (q->solve) own->loss = db_block_solve(&block, own->linear, &own->variance);
    for (int i = 0; i < DB_LINEAR; i++) block.used[i] = rule[b].summed[i];
    if (q->sums == DB_BOXES_LINEAR)
        db_block_sum(&block, own->linear, (db_block_sums *)(void *)to->result + b);
    if (q->sums < DB_BOXES_GRADIENT) return;
    if (rule[b].held_at_zero && !(own->linear[0] > 0)) block.used[0] = 0;
    double *const gradient = db_boxes_gradient_of(to->result, q->most, b);
    double *const normal = db_boxes_normal_of(to->result, q->most, b);
    own->loss = db_block_derive(&block, own->linear, &derivatives, gradient,
                                q->sums == DB_BOXES_NORMAL ? normal : NULL);
    if (q->sums == DB_BOXES_NORMAL)
        own->loss -= db_eliminate(all, list->variables + q->kept, gradient, normal, all);
}

static inline sums sum_boxes(const scene *s, const db_boxes_request *q) {
    sums to;
    memcpy(to.solution, first_solution, sizeof to.solution);
    to.result = calloc(BOXES * (db_boxes_room(q->most) + sizeof(db_block_sums)), sizeof(double));
    assert_non_null(to.result);
    for (size_t b = 0; b < BOXES; b++) sum_box(s, q, b, &to);
    return to;
}

static inline void compare_request(const scene *s, const db_boxes_request *q, double bound) {
    db_boxes_request all = *q;
    all.sums = DB_BOXES_NORMAL;
    all.kept = DB_LINEAR;
    sums expected = sum_boxes(s, q), found = evaluate(s->boxes, q), whole = sum_boxes(s, &all);
    compare(q, &found, &expected, &whole, bound);
    free(expected.result);
    free(found.result);
    free(whole.result);
}

#endif
