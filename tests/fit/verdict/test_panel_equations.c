/* What shots ask for of the panels that they share, from equations that are written out here. */
#include "support/context.h"
#include "fit/verdict/panel_equations.h"

#include <math.h>
#include <stdlib.h>

enum { PANELS = 3, SPOTS = 200, SHOTS = 40, NOBODY = -1 };
static const double PLACE = 0.5, SHIFT[2] = { 1.8, -2.4 };

/* Adds a shot whose spots lie with some width (pixels) about their places, on panel 2 shifted by SHIFT times `far`; its own
 * quantity, with an error of 1, moves by a tenth of shifts along fast. Panel 0 has most spots, and one panel may have few. */
static void add_shot(const db_panel_equations *of, double far, int few, double *sum) {
    db_panel_sums s = db_panel_sums_of(of, sum);
    for (int p = 0; p < PANELS; p++) {
        const double spots = p == few ? 0.1 : p == 0 ? SPOTS : SPOTS / 2;
        s.on[p] += spots;
        *s.spots += spots;
        *s.squares += spots * 2 * PLACE * PLACE;
        for (size_t k = 2 * (size_t)p; k < 2 * (size_t)p + 2; k++) {
            const double weight = spots / (PLACE * PLACE);
            s.matrix[k * (k + 1) / 2 + k] += weight;
            s.slope[k] -= p == 2 ? weight * far * SHIFT[k - 4] : 0;
            s.own[k * (k + 1) / 2 + k] += k % 2 ? 0 : 0.01;
            s.usual[k] += 12;
        }
    }
    ++*s.owned;
    ++*s.shots;
}

static db_displaced_panel solved(int shots, double far, int few, double *place) {
    const db_panel_equations of = db_panel_equations_of(PANELS, 0.1, 4);
    const db_fit_estimates none = { .count = 0 };
    db_displaced_panel rival;
    double *const sum = calloc(of.size, sizeof *sum);
    assert_non_null(sum);
    for (int i = 0; i < shots; i++) add_shot(&of, far, few, sum);
    assert_int_equal(db_panel_equations_solve(context, &of, sum, &none, &rival, place), DB_OK);
    free(sum);
    return rival;
}

/* Half the square of the shift in widths of its mean, less what the restraint takes (12 pixels), and half the ln of the number of
 * spots for each of four shifts. */
static void a_displaced_panel_is_found_by_all_shots(void **state) {
    (void)state;
    for (int shots = 1; shots <= SHOTS; shots *= 2) {
        double place, gain = 0;
        const db_displaced_panel rival = solved(shots, 1, NOBODY, &place);
        for (int d = 0; d < 2; d++) {
            const double weight = shots * SPOTS / 2 / (PLACE * PLACE),
                         part = weight / (weight + 1. / 144);
            assert_true(fabs(rival.shift[d] - SHIFT[d] * part) < 1e-9);
            gain += weight * SHIFT[d] * SHIFT[d] * part / 2;
        }
        assert_int_equal(rival.panel, 2);
        assert_true(fabs(rival.margin - 2 * log(shots * 2. * SPOTS) + gain) < 1e-6 * gain);
        assert_true(fabs(place - PLACE * sqrt(2)) < 1e-9);
        assert_true(fabs(rival.errors - 0.1 * rival.shift[0]) < 1e-6);
        assert_true(db_panel_is_displaced(&rival, place, 0.1));
        assert_false(db_panel_is_displaced(&rival, place, 0.3)); /* no quantity moves by this */
    }
}

static void panels_in_place_are_likelier(void **state) {
    (void)state;
    double place;
    const db_displaced_panel rival = solved(SHOTS, 0, NOBODY, &place);
    assert_true(rival.margin > 0 && hypot(rival.shift[0], rival.shift[1]) < 1e-9);
    assert_false(db_panel_is_displaced(&rival, place, -1));
    const db_displaced_panel near = solved(SHOTS, 0.45, NOBODY, &place); /* 1.35 pixels */
    assert_true(near.margin < -32);
    assert_false(db_panel_is_displaced(&near, place, -1));
}

/* A shared quantity makes up for a panel that is held. Its error beside shifts is 0.05, whatever the panel has made of the model's. */
static void widened_errors_do_not_hide_a_panel(void **state) {
    (void)state;
    const double normal = 400, across = 40, error[2] = { 10, 0.01 };
    for (int k = 0; k < 2; k++) {
        const db_panel_equations of = db_panel_equations_of(PANELS, 0.1, 4);
        db_fit_estimate list[2] = {
            { .name = "own" },
            { .name = "shared", .parameter = DB_DISTANCE, .shared = 1, .error = error[k] }
        };
        const db_fit_estimates estimates = { .list = list, .count = 2 };
        const size_t u = 2 * PANELS + 1, row = u * (u + 1) / 2;
        db_displaced_panel rival;
        double place, *const sum = calloc(of.size, sizeof *sum);
        assert_non_null(sum);
        for (int i = 0; i < SHOTS; i++) add_shot(&of, 1, NOBODY, sum);
        db_panel_sums s = db_panel_sums_of(&of, sum);
        s.matrix[row + u] += normal;
        s.matrix[row + 4] += across;
        s.slope[u] -= across * SHIFT[0];
        s.usual[u] += SHOTS;
        assert_int_equal(db_panel_equations_solve(context, &of, sum, &estimates, &rival, &place),
                         DB_OK);
        assert_string_equal(rival.name, "shared");
        const double move = across * SHIFT[0] / normal, least = fmin(error[k], 1 / sqrt(normal));
        assert_true(fabs(rival.errors - move / least) < 0.01 * move / least);
        free(sum);
    }
}

/* A panel with few spots does not shift, and neither does anything in a detector of one panel or of very many. */
static void panels_without_spots_are_not_asked(void **state) {
    (void)state;
    double place;
    const db_displaced_panel rival = solved(SHOTS, 1, 2, &place);
    assert_true(rival.margin > 0 && rival.shift[0] == 0 && rival.shift[1] == 0);
    assert_int_equal(db_panel_equations_of(1, 0.1, 4).size, 0);
    assert_int_equal(db_panel_equations_of(257, 0.1, 4).size, 0);
    assert_true(db_panel_equations_of(256, 0.1, 4).size > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_displaced_panel_is_found_by_all_shots),
        cmocka_unit_test(panels_in_place_are_likelier),
        cmocka_unit_test(widened_errors_do_not_hide_a_panel),
        cmocka_unit_test(panels_without_spots_are_not_asked),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
