/* Frames of a turning crystal: gradient and normal matrix of their loss, with an intensity of each
 * reflection for all of its parts, with a quantity that varies between knots, and with a scale of
 * each frame. */
#include "support/context.h"
#include "fit/objective/frames.h"
#include "fit/objective/stage_data.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 3, PIXELS = 600, QUANTITIES = 4, LINKS = 5, UNKNOWNS = 7 };
static const double width = 0.3; /* of a frame (degree) */

/* Two that all share, an angle with a knot at either end, and what each frame has of its own. */
static const db_parameter quantity[QUANTITIES] = { DB_MISSET_Y, DB_CELL_A, DB_CELLS_A, DB_SCALE };

typedef struct picture {
    db_experiment truth;
    db_measured_image image;
    db_strong_pixels strong;
    db_stage_data taken;
    db_objective objective;
    db_frame_link link[LINKS];
} picture;

static db_fit_settings settings;
static picture *pictures;
static db_frame frame[FRAMES];

static void link_frame(int k) {
    const double place = k / (double)(FRAMES - 1);
    const db_frame_link link[LINKS] = {
        { 0, 0, 1 - place }, { 0, 1, place }, { 1, 2, 1 }, { 2, 3, 1 }, { 3, 4 + (size_t)k, 1 }
    };
    picture *const p = &pictures[k];
    memcpy(p->link, link, sizeof link);
    frame[k] = (db_frame){ &p->objective, p->taken.boxes.reflection, p->link, LINKS, (size_t)k };
}

static void take_picture(int k, db_fit_target target) {
    picture *const p = &pictures[k];
    const db_objective_options request = { .stages = DB_FIT_ALL_STAGES,
                                           .target = target,
                                           .is_frame = 1 };
    assert_int_equal(rendered_experiment(context, PIXELS, 5000, &p->truth), DB_OK);
    p->truth.spread.spots = DB_SPOTS_CLOSED;
    p->truth.spread.mosaic = 0.01;
    p->truth.goniometer.phi = width * k;
    p->truth.goniometer.phi_steps = 2;
    p->truth.goniometer.phi_step = width / 2;
    assert_int_equal(rendered_image(context, &p->truth, 3 + (unsigned long)k, &p->image), DB_OK);
    const db_fit_data data = { &p->image, &p->strong, &settings };
    assert_int_equal(db_strong_pixels_find(context, &p->image, &settings, &p->strong), DB_OK);
    assert_int_equal(
        db_stage_data_take(context, &p->truth, &data, 0, 1, DB_SHOEBOXES_STRONG, &p->taken), DB_OK);
    assert_int_equal(
        db_stage_data_objective(context, &p->truth, &data, &p->taken, &request, &p->objective),
        DB_OK);
    assert_int_equal(p->objective.variables.count, QUANTITIES);
    link_frame(k);
}

static void drop_picture(int k) {
    picture *const p = &pictures[k];
    db_objective_destroy(&p->objective);
    db_stage_data_clear(&p->taken);
    db_strong_pixels_clear(&p->strong);
    db_measured_image_clear(&p->image);
    db_experiment_clear(&p->truth);
}

static double loss_at(db_frames *frames, const double *value, int u, double step) {
    double moved[UNKNOWNS];
    memcpy(moved, value, sizeof moved);
    moved[u] += step;
    assert_int_equal(db_frames_evaluate(frames, moved), DB_OK);
    return frames->loss;
}

static void compare_with_differences(db_frames *frames, const double *value) {
    double gradient[UNKNOWNS], curvature[UNKNOWNS];
    assert_int_equal(db_frames_evaluate(frames, value), DB_OK);
    for (int u = 0; u < UNKNOWNS; u++) {
        gradient[u] = frames->gradient[u];
        curvature[u] = frames->normal[u * UNKNOWNS + u];
        assert_true(curvature[u] > 0);
    }
    for (int u = 0; u < UNKNOWNS; u++) {
        const double h = 0.05 * sqrt(frames->degrees / curvature[u]);
        const double far = loss_at(frames, value, u, 2 * h) - loss_at(frames, value, u, -2 * h);
        const double near = loss_at(frames, value, u, h) - loss_at(frames, value, u, -h);
        const double difference = (8 * near - far) / (12 * h);
        const double scale = fabs(gradient[u]) + 0.05 * sqrt(curvature[u] * frames->degrees);
        print_message("unknown %d: gradient %.8g, by differences %.8g\n", u, gradient[u],
                      difference);
        assert_true(fabs(gradient[u] - difference) < 1e-2 * scale);
    }
}

static void has_parts(const db_frames *frames) {
    size_t several = 0;
    for (size_t r = 0; r < frames->reflections; r++) {
        const size_t from = frames->first[r], to = frames->first[r + 1];
        several += to > from + 1;
        for (size_t i = from + 1; i < to; i++) { /* one intensity, on frames in a row */
            const db_part *const a = &frames->part[i - 1];
            const db_part *const b = &frames->part[i];
            assert_true(b->frame == a->frame + 1);
            assert_true(a->objective->solution[a->block].linear[0] ==
                        b->objective->solution[b->block].linear[0]);
        }
    }
    print_message("%zu reflections, %zu of them in parts\n", frames->reflections, several);
    assert_true(several > 20);
}

static void look_at(db_fit_target target) {
    db_frames frames;
    db_fit_settings_init(&settings);
    settings.shoebox_half_width = 8;
    settings.max_shoeboxes = 80;
    settings.precision = DB_PRECISION_DOUBLE;
    for (int q = 0; q < QUANTITIES; q++) refine_parameter(&settings, quantity[q], -1);
    for (int k = 0; k < FRAMES; k++) take_picture(k, target);
    assert_int_equal(db_frames_make(context, frame, FRAMES, UNKNOWNS, &frames), DB_OK);
    const double *const start = pictures[0].objective.variables.start;
    const double value[UNKNOWNS] = {
        start[0] + 0.02, start[0] - 0.01, start[1] * 1.0002, start[2] * 1.1, 1, 0.8, 1.2
    };
    compare_with_differences(&frames, value);
    has_parts(&frames);
    db_frames_clear(&frames);
    for (int k = 0; k < FRAMES; k++) drop_picture(k);
    db_fit_settings_clear(&settings);
}

static void the_gradient_of_weighted_frames_is_that_of_differences(void **state) {
    (void)state;
    look_at(DB_FIT_WEIGHTED);
}

static void the_gradient_of_poisson_frames_is_that_of_differences(void **state) {
    (void)state;
    look_at(DB_FIT_POISSON);
}

int main(void) {
    pictures = calloc(FRAMES, sizeof *pictures);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_of_weighted_frames_is_that_of_differences),
        cmocka_unit_test(the_gradient_of_poisson_frames_is_that_of_differences),
    };
    const int failed = cmocka_run_group_tests(tests, open_context, close_context);
    free(pictures);
    return failed;
}
