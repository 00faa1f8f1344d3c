/* Boxes on a device: coefficients and sums are those of the processor from the same images for every loss
 * and rule, what is there stays there, and whatever fails leaves a message or the processor. */
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

enum {
    FAST = 150,
    SLOW = 40,
    BOXES = 14,
    GAP = 600000,
    PIXELS = GAP + 3000,
    MOST = DB_BOXES_MOST_VARIABLES
};

static db_region region[BOXES];
static size_t pixels;
static float value[PIXELS], weight[PIXELS], shape_variance[PIXELS], offset[PIXELS];

/* Of several sizes, also larger than a tile, some with elements between their rows. */
static void place_boxes(void) {
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

static int start(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    open_both(FAST, SLOW, 12);
    experiment.structure_factors.default_F = 300;
    place_boxes();
    return 0;
}

static db_plan *plan_of(db_context *context, db_precision precision) {
    return small_plan(context, &experiment, precision, region, BOXES);
}

/* A number between 0 and 1 that follows from i. */
static double any(size_t i) { return (double)(i * 2654435761u % 65536) / 65536; }

/* Counts that differ from the model's in intensity, background and noise; some pixels do not count. */
static void measure(db_plan *plan) {
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

static void give_data(db_boxes *boxes) {
    db_box_data data = DB_BOX_DATA_INIT;
    data.value = value;
    data.weight = weight;
    data.shape_variance = shape_variance;
    data.offset = offset;
    assert_int_equal(db_boxes_set_data(boxes, &data), DB_OK);
}

static db_boxes *boxes_of(db_plan *plan) {
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
static const db_link far_links[] = { { 0, 3, 1 }, { 1, MOST - 1, 1 }, { 4, 50, 0.2 } };
static const db_box_links lists[] = { { own_links, 6, 6 }, { mixed_links, 4, 3 } };
static const db_box_links far_lists[] = { { far_links, 3, MOST }, { mixed_links, 4, 3 } };
static const db_loss losses[] = { { DB_LOSS_WEIGHTED, 1, 0, 0 },
                                  { DB_LOSS_GAUSSIAN, 1.3, 2, 0 },
                                  { DB_LOSS_POISSON, 1.3, 2, 0 },
                                  { DB_LOSS_HUBER, 1.3, 2, 2 },
                                  { DB_LOSS_STUDENT, 1.3, 2, 4 } };
enum { LOSSES = sizeof losses / sizeof *losses };

/* kind 0: intensities are free, 1: given, 2: of constant backgrounds */
static void fill_rules(int kind) {
    for (int b = 0; b < BOXES; b++) {
        rule[b] = (db_box_rule){ .ridge = b % 4 == 2 ? 1e-5 : 0,
                                 .held_at_zero = kind != 1,
                                 .links = (size_t)(b % 2) };
        for (int i = 0; i < DB_LINEAR; i++)
            rule[b].summed[i] = rule[b].solved[i] = kind != 2 || i < 2;
        if (kind == 1) rule[b].solved[0] = 0;
        first_solution[b] =
            (db_box_solution){ .linear = { b % 9 == 4 ? 0 : 20 + b, 7 + 0.1 * b, 0.05, -0.02 } };
    }
}

static db_boxes_request request_of(const db_loss *loss) {
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

static sums evaluate(db_boxes *boxes, const db_boxes_request *q) {
    sums s;
    memcpy(s.solution, first_solution, sizeof s.solution);
    s.result = calloc(BOXES * (db_boxes_room(q->most) + sizeof(db_block_sums)), sizeof(double));
    assert_non_null(s.result);
    assert_int_equal(db_boxes_evaluate(boxes, q, s.solution, s.result), DB_OK);
    return s;
}

static void near(const char *what, size_t b, double found, double expected, double scale,
                 double bound) {
    if (fabs(found - expected) <= bound * scale) return;
    fail_msg("%s of box %zu: %.17g instead of %.17g, off by %.2g of %g", what, b, found, expected,
             fabs(found - expected) / scale, scale);
}

/* whole: the sums without elimination, which say what cancels */
static void compare(const db_boxes_request *q, const sums *found, const sums *expected,
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

static void render(scene *s) {
    assert_int_equal(db_plan_gradient(s->plan, s->image, (void *const *)s->derivative), DB_OK);
}

static scene scene_of(db_context *context, db_precision precision) {
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

static void scene_clear(scene *s) {
    db_boxes_destroy(&s->boxes);
    db_plan_destroy(&s->plan);
    free(s->image);
    for (int k = 0; k < SOME; k++) free(s->derivative[k]);
}

/* From the images, box by box. */
static void sum_box(const scene *s, const db_boxes_request *q, size_t b, sums *to) {
    db_block block = { .region = region[b],
                       .value = value,
                       .weight = weight,
                       .shape_variance = shape_variance,
                       .shape = s->image,
                       .offset = offset,
                       .loss = q->loss,
                       .ridge = rule[b].ridge };
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

static sums sum_boxes(const scene *s, const db_boxes_request *q) {
    sums to;
    memcpy(to.solution, first_solution, sizeof to.solution);
    to.result = calloc(BOXES * (db_boxes_room(q->most) + sizeof(db_block_sums)), sizeof(double));
    assert_non_null(to.result);
    for (size_t b = 0; b < BOXES; b++) sum_box(s, q, b, &to);
    return to;
}

static void compare_request(const scene *s, const db_boxes_request *q, double bound) {
    db_boxes_request all = *q;
    all.sums = DB_BOXES_NORMAL;
    all.kept = DB_LINEAR;
    sums expected = sum_boxes(s, q), found = evaluate(s->boxes, q), whole = sum_boxes(s, &all);
    compare(q, &found, &expected, &whole, bound);
    free(expected.result);
    free(found.result);
    free(whole.result);
}

static void compare_linear(const scene *s, const db_loss *loss, double bound) {
    db_boxes_request q = request_of(loss);
    q.sums = DB_BOXES_LINEAR;
    q.image = DB_BOXES_AS_BEFORE;
    sums expected = sum_boxes(s, &q), found = evaluate(s->boxes, &q);
    for (size_t b = 0; b < BOXES; b++) {
        const db_block_sums *const x = (db_block_sums *)(void *)found.result + b;
        const db_block_sums *const y = (db_block_sums *)(void *)expected.result + b;
        near("loss", b, x->value, y->value, fabs(y->value) + 100, bound);
        for (int k = 0; k < DB_LINEAR; k++) {
            const double own = sqrt(y->normal[k * DB_LINEAR + k]);
            near("slope", b, x->gradient[k], y->gradient[k], 100 * own + fabs(y->gradient[k]),
                 bound);
            for (int l = 0; l <= k; l++)
                near("bend", b, x->normal[k * DB_LINEAR + l], y->normal[k * DB_LINEAR + l],
                     own * sqrt(y->normal[l * DB_LINEAR + l]), bound);
        }
    }
    free(expected.result);
    free(found.result);
}

/* At given coefficients, then at the best ones, where iterations end within 1e-10 of the loss. */
static void compare_all(db_context *context, db_precision precision, double sum_bound,
                        double solution_bound) {
    static const size_t kept[] = { 0, 1, DB_LINEAR };
    scene s = scene_of(context, precision);
    assert_string_equal(db_plan_device(s.plan), context == device ? "cuda:0" : "cpu");
    for (int kind = 0; kind < 3; kind++) {
        fill_rules(kind);
        for (int loss = 0; loss < LOSSES; loss++) {
            db_boxes_request q = request_of(&losses[loss]);
            for (int sum = DB_BOXES_GRADIENT; sum <= DB_BOXES_NORMAL; sum++) {
                q.sums = (db_boxes_sums)sum;
                q.kept = kept[(kind + loss) % 3];
                q.solve = 0;
                compare_request(&s, &q, sum_bound);
                q.image = DB_BOXES_AS_BEFORE;
                q.solve = 1;
                compare_request(&s, &q, solution_bound);
            }
            compare_linear(&s, &losses[loss], sum_bound);
        }
    }
    scene_clear(&s);
}

static void sums_are_those_of_the_images(void **state) {
    (void)state;
    compare_all(device, DB_PRECISION_DOUBLE, 1e-12, 1e-9);
    compare_all(device, DB_PRECISION_MIXED, 1e-12, 1e-9);
}

static void sums_of_closed_spots_are_those_of_the_images(void **state) {
    (void)state;
    experiment.spread.spots = DB_SPOTS_CLOSED;
    experiment.spread.mosaic = 0.01;
    compare_all(device, DB_PRECISION_MIXED, 1e-12, 1e-9);
}

static void sums_of_the_processor_are_those_of_the_images(void **state) {
    (void)state;
    compare_all(processor, DB_PRECISION_MIXED, 0, 0);
}

/* A block's memory has no room for these. */
static void sums_of_many_variables_are_those_of_the_images(void **state) {
    (void)state;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.sums = DB_BOXES_NORMAL;
    q.links = far_lists;
    q.most = MOST;
    compare_request(&s, &q, 1e-12);
    scene_clear(&s);
}

/* What is rendered again, and what is measured anew. */
static void changes_are_seen(void **state) {
    (void)state;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[0]);
    const float *image;
    fill_rules(0);
    q.sums = DB_BOXES_NORMAL;
    compare_request(&s, &q, 1e-12);
    experiment.crystal.misset[0] += 0.3;
    assert_int_equal(db_plan_update(s.plan, &experiment), DB_OK);
    render(&s);
    compare_request(&s, &q, 1e-12);
    assert_int_equal(db_boxes_image_of(s.boxes, &image), DB_OK);
    for (size_t b = 0; b < BOXES; b++)
        for (int i = 0; i < region[b].slow_count; i++)
            assert_memory_equal(image + region[b].offset + (size_t)i * region[b].stride,
                                s.image + region[b].offset + (size_t)i * region[b].stride,
                                (size_t)region[b].fast_count * sizeof *image);
    for (size_t i = 0; i < pixels; i++) {
        value[i] += 3;
        offset[i] = 0;
    }
    db_box_data data = DB_BOX_DATA_INIT;
    data.value = value;
    data.weight = weight;
    data.shape_variance = shape_variance;
    assert_int_equal(db_boxes_set_data(s.boxes, &data), DB_OK);
    q.image = DB_BOXES_AS_BEFORE;
    q.solve = 1;
    compare_request(&s, &q, 1e-9);
    scene_clear(&s);
}

/* Boxes that come after others of the same plan have data of their own. */
static void later_boxes_have_their_own_data(void **state) {
    (void)state;
    for (int much = 0; much < 2; much++) {
        if (much) {
            region[BOXES - 1].offset += GAP;
            pixels += GAP;
        }
        scene s = scene_of(device, DB_PRECISION_DOUBLE);
        db_boxes_request q = request_of(&losses[1]);
        fill_rules(0);
        q.sums = DB_BOXES_NORMAL;
        compare_request(&s, &q, 1e-12);
        db_boxes_destroy(&s.boxes);
        for (size_t i = 0; i < pixels; i++) value[i] += 3;
        s.boxes = boxes_of(s.plan);
        compare_request(&s, &q, 1e-12);
        scene_clear(&s);
    }
}

/* Two boxes of a plan have data of their own; an image that the other ones took is rendered again, or missed. */
static void boxes_of_one_plan_are_told_apart(void **state) {
    (void)state;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    db_box_solution solution[BOXES];
    static float other[PIXELS];
    const float *image;
    db_boxes *second;
    db_box_data data = DB_BOX_DATA_INIT;
    data.value = other;
    data.weight = weight;
    data.shape_variance = shape_variance;
    assert_int_equal(db_boxes_create(s.plan, &second), DB_OK);
    assert_int_equal(db_boxes_set_data(second, &data), DB_OK);
    fill_rules(0);
    memcpy(solution, first_solution, sizeof solution);
    q.sums = DB_BOXES_NORMAL;
    compare_request(&s, &q, 1e-12);
    q.image = DB_BOXES_IMAGE;
    q.sums = DB_BOXES_NO_SUMS;
    q.solve = 1;
    assert_int_equal(db_boxes_evaluate(second, &q, solution, NULL), DB_OK);
    q.image = DB_BOXES_AS_BEFORE;
    q.sums = DB_BOXES_NORMAL;
    q.solve = 0;
    compare_request(&s, &q, 1e-12);
    q.image = DB_BOXES_DERIVATIVES;
    compare_request(&s, &q, 1e-12);
    experiment.crystal.misset[0] += 0.3;
    assert_int_equal(db_plan_update(s.plan, &experiment), DB_OK);
    q.image = DB_BOXES_IMAGE;
    q.sums = DB_BOXES_NO_SUMS;
    q.solve = 1;
    assert_int_equal(db_boxes_evaluate(second, &q, solution, NULL), DB_OK);
    q.image = DB_BOXES_AS_BEFORE;
    assert_int_equal(db_boxes_evaluate(s.boxes, &q, solution, NULL), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(device), "other boxes of the plan"));
    assert_int_equal(db_boxes_image_of(s.boxes, &image), DB_ERROR_DEVICE);
    db_boxes_destroy(&second);
    scene_clear(&s);
}

/* Arrays that are too long to be copied with all else. */
static void much_data_are_copied_on_their_own(void **state) {
    (void)state;
    region[BOXES - 1].offset += GAP;
    pixels += GAP;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.sums = DB_BOXES_NORMAL;
    compare_request(&s, &q, 1e-12);
    for (size_t i = 0; i < pixels; i++) value[i] += 2;
    give_data(s.boxes);
    q.image = DB_BOXES_AS_BEFORE;
    compare_request(&s, &q, 1e-12);
    scene_clear(&s);
}

static void what_cannot_be_is_said(void **state) {
    (void)state;
    db_plan *own = plan_of(device, DB_PRECISION_DOUBLE);
    db_boxes *boxes;
    db_box_solution solution[BOXES];
    static double sum[BOXES * 200];
    db_box_data data = DB_BOX_DATA_INIT;
    db_boxes_request q = request_of(&losses[0]);
    fill_rules(0);
    memcpy(solution, first_solution, sizeof solution);
    assert_int_equal(db_boxes_create(own, &boxes), DB_OK);
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, NULL), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "expected data, found none"));
    assert_int_equal(db_boxes_set_data(boxes, &data), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "found NULL for the values"));
    db_boxes_destroy(&boxes);
    boxes = boxes_of(own);
    q.image = DB_BOXES_AS_BEFORE;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, NULL), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "nothing has been rendered"));
    q.image = DB_BOXES_IMAGE;
    q.sums = DB_BOXES_NORMAL;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, sum), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "need derivatives"));
    q.image = DB_BOXES_DERIVATIVES;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, NULL), DB_ERROR_USAGE);
    q.link_lists = 1;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, sum), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "a list of links that there is not"));
    q.link_lists = 2;
    q.most = 5;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, sum), DB_ERROR_USAGE);
    db_boxes_destroy(&boxes);
    db_plan_destroy(&own);
    db_plan_options wide = DB_PLAN_OPTIONS_INIT;
    wide.pixel_type = DB_FLOAT64;
    assert_int_equal(db_plan_create(device, &experiment, &wide, &own), DB_OK);
    assert_int_equal(db_boxes_create(own, &boxes), DB_ERROR_USAGE);
    assert_null(boxes);
    db_plan_destroy(&own);
}

#if !defined(DB_ON_GPU)
/* An evaluation copies parameters there and sums back, nothing else. */
static void evaluations_make_one_copy(void **state) {
    (void)state;
    db_plan *own = plan_of(device, DB_PRECISION_MIXED);
    measure(own);
    db_boxes *boxes = boxes_of(own);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.solve = 1;
    q.sums = DB_BOXES_NORMAL;
    sums s = evaluate(boxes, &q);
    free(s.result);
    experiment.crystal.misset[1] += 0.1;
    assert_int_equal(db_plan_update(own, &experiment), DB_OK);
    const stand_in_state before = stand_in;
    s = evaluate(boxes, &q);
    assert_int_equal(stand_in.copies_to_host - before.copies_to_host, 1);
    assert_int_equal(stand_in.copies_to_device - before.copies_to_device, 2); /* for each launch */
    assert_int_equal(stand_in.waits - before.waits, 1);
    assert_int_equal(stand_in.launches - before.launches, 2); /* images, boxes */
    assert_int_equal(stand_in.allocations, before.allocations);
    free(s.result);
    /* what was measured comes with what the boxes are told */
    value[3] += 1;
    give_data(boxes);
    const stand_in_state old = stand_in;
    s = evaluate(boxes, &q);
    assert_int_equal(stand_in.copies_to_device - old.copies_to_device, 1);
    assert_true(stand_in.bytes_to_device - old.bytes_to_device >= 4 * pixels * sizeof(float));
    assert_int_equal(stand_in.waits - old.waits, 1);
    free(s.result);
    db_boxes_destroy(&boxes);
    db_plan_destroy(&own);
}

/* Data that are too many to come with all else, of boxes that are one behind the other: a copy for each
 * array by way of locked memory, not waited for before the kernels start. */
static void data_are_not_waited_for(void **state) {
    (void)state;
    pixels = GAP;
    for (int b = 0; b < BOXES; b++) {
        region[b].offset = pixels;
        region[b].stride = (size_t)region[b].fast_count;
        pixels += region[b].stride * (size_t)region[b].slow_count;
    }
    db_plan *own = plan_of(device, DB_PRECISION_MIXED);
    measure(own);
    db_boxes *boxes = boxes_of(own);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.solve = 1;
    q.sums = DB_BOXES_NORMAL;
    const stand_in_state before = stand_in;
    free(evaluate(boxes, &q).result);
    assert_in_range(stand_in.copies_to_device - before.copies_to_device, 5, 12);
    assert_in_range(stand_in.waits - before.waits, 1,
                    4); /* for halves of that memory, and results */
    db_boxes_destroy(&boxes);
    db_plan_destroy(&own);
}

/* Whichever call of the runtime fails: a status and a message; with "auto" the processor's results. */
static void any_call_may_fail_slow(void **state) {
    (void)state;
    scene s = scene_of(processor, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.solve = 1;
    q.sums = DB_BOXES_NORMAL;
    q.kept = DB_LINEAR;
    sums expected = sum_boxes(&s, &q);
    for (int automatic = 0; automatic < 2; automatic++) {
        long failures = 0;
        for (long n = 0;; n++) {
            db_context_destroy(&device);
            assert_int_equal(stand_in.live, 0);
            stand_in_reset();
            assert_int_equal(db_context_create(&device), DB_OK);
            assert_int_equal(db_context_set_device(device, automatic ? "auto" : "cuda"), DB_OK);
            db_plan *own = plan_of(device, DB_PRECISION_DOUBLE);
            db_boxes *boxes = boxes_of(own);
            sums found;
            const float *image;
            found.result = calloc(BOXES * db_boxes_room(q.most), sizeof(double));
            assert_non_null(found.result);
            stand_in.calls_until_failure = n;
            db_status status = DB_OK;
            for (int round = 0; round < 3 && status == DB_OK; round++) {
                db_boxes_request now = q;
                if (round == 1) now.image = DB_BOXES_AS_BEFORE;
                if (round == 2) give_data(boxes);
                memcpy(found.solution, first_solution, sizeof found.solution);
                status = db_boxes_evaluate(boxes, &now, found.solution, found.result);
            }
            if (status == DB_OK) status = db_boxes_image_of(boxes, &image);
            const int unharmed = stand_in.calls_until_failure >= 0;
            stand_in.calls_until_failure = -1;
            failures += !unharmed;
            if (status == DB_OK)
                compare(&q, &found, &expected, &expected, 1e-6); /* images are rounded to float */
            else
                assert_true(!automatic && (status == DB_ERROR_MEMORY || status == DB_ERROR_DEVICE));
            free(found.result);
            db_boxes_destroy(&boxes);
            db_plan_destroy(&own);
            if (unharmed) break;
        }
        assert_true(failures > 20);
    }
    free(expected.result);
    scene_clear(&s);
}
#endif

#if !defined(DB_ON_GPU)
/* Images that come to the host may be sooner made by the processor where sums of boxes are not. */
static void auto_asks_again_for_boxes(void **state) {
    (void)state;
    for (int faster = 0; faster < 2; faster++) {
        assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
        db_cuda_predicted = (db_cuda_pace){ .call = 1, .boxes = faster ? -1 : 1 };
        db_plan *plan = plan_of(device, DB_PRECISION_MIXED);
        assert_string_equal(db_plan_device(plan), "cpu");
        assert_non_null(strstr(db_context_device_note(device), "for an image"));
        db_boxes *boxes = boxes_of(plan);
        assert_string_equal(db_plan_device(plan), faster ? "cuda:0" : "cpu");
        if (!faster) assert_non_null(strstr(db_context_device_note(device), "2e+03 ms"));
        if (faster) assert_string_equal(db_context_device_note(device), "");
        db_boxes_destroy(&boxes);
        db_plan_destroy(&plan);
    }
    machine_takes_all();
}
#endif

#if !defined(DB_ON_GPU)
/* An image that was lost with its device is rendered again, unless the plan has other values since. */
static void a_lost_image_is_that_of_the_evaluation(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        const int moved = way == 1, asked = way == 2; /* for the image alone */
        const float *image;
        scene s = scene_of(processor, DB_PRECISION_DOUBLE);
        db_boxes_request q = request_of(&losses[0]);
        db_box_solution solution[BOXES];
        fill_rules(0);
        db_context_destroy(&device);
        stand_in_reset();
        assert_int_equal(db_context_create(&device), DB_OK);
        assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
        db_plan *own = plan_of(device, DB_PRECISION_DOUBLE);
        db_boxes *boxes = boxes_of(own);
        memcpy(solution, first_solution, sizeof solution);
        q.image = DB_BOXES_IMAGE;
        q.solve = 1;
        assert_int_equal(db_boxes_evaluate(boxes, &q, solution, NULL), DB_OK);
        assert_string_equal(db_plan_device(own), "cuda:0");
        db_experiment turned = experiment; /* borrows */
        turned.crystal.misset[0] += 0.1;
        if (moved) assert_int_equal(db_plan_update(own, &turned), DB_OK);
        q.image = DB_BOXES_AS_BEFORE;
        stand_in.calls_until_failure = 0;
        const db_status status =
            asked ? db_boxes_image_of(boxes, &image) : db_boxes_evaluate(boxes, &q, solution, NULL);
        stand_in.calls_until_failure = -1;
        assert_int_equal(status, moved ? DB_ERROR_DEVICE : DB_OK);
        assert_string_equal(db_plan_device(own), "cpu");
        if (moved) assert_non_null(strstr(db_context_message(device), "other values"));
        assert_int_equal(db_boxes_image_of(boxes, &image), moved ? DB_ERROR_DEVICE : DB_OK);
        for (int b = 0; b < BOXES && !moved; b++)
            assert_memory_equal(image + region[b].offset, s.image + region[b].offset,
                                (size_t)region[b].fast_count * sizeof *image);
        db_boxes_destroy(&boxes);
        db_plan_destroy(&own);
        scene_clear(&s);
    }
}
#endif

#if !defined(DB_ON_GPU)
/* What was to be rendered, and was not, is rendered by the evaluation that needs it. */
static void no_image_is_older_than_the_last_evaluation(void **state) {
    (void)state;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    db_box_solution solution[BOXES];
    const float *image;
    fill_rules(0);
    memcpy(solution, first_solution, sizeof solution);
    q.image = DB_BOXES_IMAGE;
    q.solve = 1;
    assert_int_equal(db_boxes_evaluate(s.boxes, &q, solution, NULL), DB_OK);
    for (int asked = 0; asked < 2; asked++) {
        experiment.crystal.misset[0] += 0.3;
        assert_int_equal(db_plan_update(s.plan, &experiment), DB_OK);
        q.image = DB_BOXES_DERIVATIVES;
        stand_in.calls_until_failure = 0;
        assert_int_not_equal(db_boxes_evaluate(s.boxes, &q, solution, NULL), DB_OK);
        stand_in.calls_until_failure = -1;
        render(&s);
        if (asked) assert_int_equal(db_boxes_image_of(s.boxes, &image), DB_OK);
        for (int b = 0; b < BOXES && asked; b++)
            assert_memory_equal(image + region[b].offset, s.image + region[b].offset,
                                (size_t)region[b].fast_count * sizeof *image);
        q.image = DB_BOXES_AS_BEFORE;
        q.sums = DB_BOXES_NORMAL;
        compare_request(&s, &q, 1e-9);
        q.sums = DB_BOXES_NO_SUMS;
    }
    scene_clear(&s);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(sums_are_those_of_the_images),
        TEST(sums_of_closed_spots_are_those_of_the_images),
        TEST(sums_of_the_processor_are_those_of_the_images),
        TEST(sums_of_many_variables_are_those_of_the_images),
        TEST(changes_are_seen),
        TEST(later_boxes_have_their_own_data),
        TEST(boxes_of_one_plan_are_told_apart),
        TEST(much_data_are_copied_on_their_own),
        TEST(what_cannot_be_is_said),
#if !defined(DB_ON_GPU)
        TEST(evaluations_make_one_copy),
        TEST(a_lost_image_is_that_of_the_evaluation),
        TEST(no_image_is_older_than_the_last_evaluation),
        TEST(data_are_not_waited_for),
        TEST(any_call_may_fail_slow),
        TEST(auto_asks_again_for_boxes),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
