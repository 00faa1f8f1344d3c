/* Steps and limits of quantities that have no bounds: spots stay in their shoeboxes in one step,
 * and near where they were in all. */

#include "support/unit_test.h"
#include "fit/search/stage_search.h"
#include "fit/config/physical_range.h"
#include "fit/pixels/predict.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <string.h>

enum { PIXELS = 600 };

static const db_parameter moving[] = {
    DB_CELL_A,
    DB_CELL_B,
    DB_CELL_C,
    DB_CELL_ALPHA,
    DB_CELL_GAMMA,
    DB_MISSET_X,
    DB_MISSET_Y,
    DB_MISSET_Z,
    DB_WAVELENGTH,
    DB_DISTANCE,
    DB_BEAM_FAST,
    DB_BEAM_SLOW,
    DB_DETECTOR_ROTX,
    DB_DETECTOR_ROTY,
    DB_DETECTOR_ROTZ,
    DB_TWOTHETA,
    DB_PHI,
    DB_BEAM_HORIZONTAL,
    DB_BEAM_VERTICAL,
    DB_PANEL_SHIFT_FAST,
    DB_PANEL_TURN_FAST,
    DB_PANEL_TURN_NORMAL,
};
enum { MOVING = sizeof moving / sizeof moving[0] };

static void no_step_moves_a_spot_out_of_its_box(void **state) {
    (void)state;
    db_context *context;
    db_experiment e;
    db_objective shot = { 0 };
    db_fit_settings settings;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(rendered_experiment(context, PIXELS, 1000, &e), DB_OK);
    db_fit_settings_init(&settings);
    settings.shoebox_half_width = 6;
    db_region all = {
        .fast_start = PIXELS - 1, .slow_start = PIXELS - 1, .fast_count = 1, .slow_count = 1
    };
    shot.context = context;
    shot.experiment = e;
    shot.settings = &settings;
    shot.blocks = (db_fit_blocks){ .count = 1, .region = &all };
    double farthest;
    assert_int_equal(db_farthest_block(&shot, &farthest), DB_OK);
    assert_true(farthest > 0.6 * PIXELS && farthest < 0.8 * PIXELS);
    for (size_t i = 0; i < MOVING; i++) {
        const db_prediction_range range = { 0, 0, 0.2, 0 };
        const db_fit_parameter p = db_fit_parameter_free(moving[i]);
        db_predicted_spots before, after;
        db_experiment there = e;
        const double step = db_longest_step(&shot, &p, farthest, INFINITY);
        db_parameter_set(&there, moving[i], db_parameter_get(&e, moving[i]) + step);
        assert_int_equal(db_predict(context, &e, &range, &before), DB_OK);
        assert_int_equal(db_predict(context, &there, &range, &after), DB_OK);
        double most = 0;
        size_t common = 0;
        for (size_t a = 0, b = 0; a < before.count; a++) {
            const db_spot *const r = &before.spot[a];
            for (b = 0; b < after.count; b++) {
                const db_spot *const s = &after.spot[b];
                if (memcmp(r->hkl, s->hkl, sizeof r->hkl) != 0) continue;
                common++;
                most = fmax(
                    most, hypot(r->position[0] - s->position[0], r->position[1] - s->position[1]));
            }
        }
        print_message("%s: %.4g moves spots by up to %.2f pixels\n",
                      db_parameter_describe(moving[i])->name, step, most);
        assert_true(common > 50);
        assert_true(most < settings.shoebox_half_width && most > 0.05);
        db_predicted_spots_clear(&before);
        db_predicted_spots_clear(&after);
    }
    db_experiment_clear(&e);
    db_context_destroy(&context);
}

static void open_bounds_are_closed_and_others_stay(void **state) {
    (void)state;
    const db_fit_starts one = { .count = 1 }, many = { .count = 9, .turn = 7 };
    db_context *context;
    db_experiment e;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(rendered_experiment(context, PIXELS, 1000, &e), DB_OK);
    for (size_t i = 0; i < MOVING; i++) {
        db_fit_parameter p = db_fit_parameter_free(moving[i]);
        const double value = db_parameter_get(&e, moving[i]);
        db_limit_bounds(&e, &one, &p);
        assert_true(isfinite(p.lower) && isfinite(p.upper) && p.lower < value && value < p.upper);
        const double upper = p.upper;
        p.lower = value - 1e-3;
        db_limit_bounds(&e, &one, &p);
        assert_true(p.lower == value - 1e-3 && p.upper == upper);
    }
    db_fit_parameter scale = db_fit_parameter_free(DB_SCALE);
    db_limit_bounds(&e, &one, &scale);
    assert_true(isinf(scale.upper));
    db_fit_parameter turn = db_fit_parameter_free(DB_MISSET_X);
    db_limit_bounds(&e, &many, &turn);
    assert_true(turn.upper - e.crystal.misset[0] > 7);
    db_fit_parameter a = db_fit_parameter_free(DB_CELL_A);
    db_limit_bounds(&e, &one, &a);
    assert_true(fabs(a.upper / e.crystal.cell[0] - 1.05) < 1e-9);
    db_experiment_clear(&e);
    db_context_destroy(&context);
}

/* No refinement that nobody has bounded runs away; and its start is possible. */
static void what_is_refined_unasked_stays_near_its_start(void **state) {
    (void)state;
    const db_fit_starts one = { .count = 1 };
    db_context *context;
    db_experiment e;
    int chosen = 0;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(rendered_experiment(context, PIXELS, 1000, &e), DB_OK);
    for (int k = 0; k < DB_PARAMETER_COUNT; k++) {
        const db_parameter_facts *const facts = db_facts_of((db_parameter)k);
        const double value = db_parameter_get(&e, (db_parameter)k);
        db_fit_parameter p = db_fit_parameter_free((db_parameter)k);
        assert_true(facts->least < facts->most);
        if (!db_parameter_exists(&e, p.parameter)) continue;
        db_limit_bounds(&e, &one, &p);
        assert_true(p.lower <= p.upper && p.lower >= facts->least && p.upper <= facts->most);
        if (facts->choosing == DB_CHOOSING_ASKED) continue;
        chosen++;
        assert_true(isfinite(p.lower) && isfinite(p.upper) && p.lower <= value && value <= p.upper);
    }
    assert_true(chosen > 40);
    db_experiment_clear(&e);
    db_context_destroy(&context);
}

static void shots_share_detector_and_spindle(void **state) {
    (void)state;
    static const db_parameter shared[] = { DB_DISTANCE,         DB_BEAM_FAST,
                                           DB_TWOTHETA,         DB_PANEL_TURN_SLOW,
                                           DB_SENSOR_THICKNESS, DB_POINT_SPREAD_FF,
                                           DB_POINT_SPREAD_FS,  DB_SPINDLE_TILT_BEAM },
                              own[] = { DB_CELL_A, DB_MISSET_X, DB_SCALE, DB_FOOTPRINT_HH,
                                        DB_WAVELENGTH };
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const db_fit_parameter p = db_fit_parameter_free(shared[i]);
        if (!db_fit_parameter_is_shared(&p))
            fail_msg("%s is not", db_parameter_describe(shared[i])->name);
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const db_fit_parameter p = db_fit_parameter_free(own[i]);
        assert_false(db_fit_parameter_is_shared(&p));
    }
}

/* Known intensities of faint shots have scales of 1e-10, which are far above a bound of 1e-12. */
static void a_small_value_is_not_at_a_smaller_bound(void **state) {
    (void)state;
    static const struct {
        db_parameter parameter;
        double value, lower;
        int held;
    } cases[] = { { DB_SCALE, 2.4e-10, 1e-12, 0 },
                  { DB_SCALE, 1e-12, 1e-12, -1 },
                  { DB_MOSAIC_VARIANCE, 1e-12, 0, -1 },
                  { DB_SCALE, 1, 0.999, 0 } };
    const size_t index = 0;
    db_fit_settings settings;
    db_context *context;
    db_unknowns u;
    assert_int_equal(db_context_create(&context), DB_OK);
    db_fit_settings_init(&settings);
    refine_parameter(&settings, DB_SCALE, -1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        settings.parameters[0].parameter = cases[i].parameter;
        settings.parameters[0].lower = cases[i].lower;
        settings.parameters[0].upper = 1e30;
        assert_int_equal(db_unknowns_make(context, &settings, &index, 1, &u), DB_OK);
        assert_int_equal(db_unknown_held(&u, 0, cases[i].value, 1), cases[i].held);
        db_unknowns_clear(&u);
    }
    db_fit_settings_clear(&settings);
    db_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_step_moves_a_spot_out_of_its_box),
                                        cmocka_unit_test(
                                            what_is_refined_unasked_stays_near_its_start),
                                        cmocka_unit_test(shots_share_detector_and_spindle),
                                        cmocka_unit_test(a_small_value_is_not_at_a_smaller_bound),
                                        cmocka_unit_test(open_bounds_are_closed_and_others_stay) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
