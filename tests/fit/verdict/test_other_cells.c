/* Shots whose cells are longer or shorter than the others'. */
#include "support/context.h"
#include "fit/verdict/warnings.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };
static const double OFF = 0.015; /* the part by which wavelengths are wrong */

/* Marks lengths; returns bits of those that are none of the crowd's, by their numbers. */
static unsigned long long marked(size_t count, const double *value, const double *error) {
    db_length list[MOST];
    unsigned long long bits = 0;
    for (size_t i = 0; i < count; i++) list[i] = (db_length){ value[i], error[i], i, 1 };
    db_other_lengths_mark(list, count);
    for (size_t i = 0; i < count; i++)
        if (list[i].is_other) bits |= 1ULL << list[i].shot;
    return bits;
}

/* Draws lengths that scatter beside their errors; the last ones are longer. */
static void draw_lengths(gsl_rng *chance, size_t count, double scatter, double error, size_t longer,
                         double *value, double *errors) {
    for (size_t i = 0; i < count; i++) {
        errors[i] = error;
        value[i] = 4 + gsl_ran_gaussian(chance, scatter) + gsl_ran_gaussian(chance, error) +
                   (i + longer >= count ? OFF : 0);
    }
}

/* How often any of like crystals is marked, and how often all that are longer are, and no other, in so many lists. */
static void count_lists(size_t lists, size_t count, double scatter, size_t longer, size_t *right,
                        size_t *wrong) {
    double value[MOST], errors[MOST];
    gsl_rng *const chance = gsl_rng_alloc(gsl_rng_mt19937);
    const unsigned long long all = ((1ULL << count) - 1), like = (1ULL << (count - longer)) - 1;
    gsl_rng_set(chance, count);
    *right = *wrong = 0;
    for (size_t n = 0; n < lists; n++) {
        draw_lengths(chance, count, scatter, 1e-4, longer, value, errors);
        const unsigned long long found = marked(count, value, errors);
        *right += found == (all & ~like);
        *wrong += (found & like) != 0;
    }
    gsl_rng_free(chance);
}

static void shots_of_another_wavelength_are_marked(void **state) {
    (void)state;
    static const struct {
        size_t count, longer;
        double scatter;
    } lists[] = {
        { 5, 1, 1e-5 }, { 7, 1, 3e-4 }, { 8, 3, 1e-4 }, { 12, 3, 5e-4 }, { 30, 2, 1.5e-3 }
    };
    enum { LISTS = 200 };
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        size_t right, wrong;
        count_lists(LISTS, lists[k].count, lists[k].scatter, lists[k].longer, &right, &wrong);
        if (right < LISTS * 9 / 10 || wrong > 3)
            fail_msg("of %d lists of %zu, %zu of them longer, %zu are told right, in %zu like ones "
                     "are marked",
                     LISTS, lists[k].count, lists[k].longer, right, wrong);
    }
}

/* One list in a thousand should be; halves that lie close by chance make it a few. Ten in a thousand would be too many. */
static void crystals_of_one_kind_are_not_marked(void **state) {
    (void)state;
    enum { LISTS = 1000 };
    for (size_t count = 4; count <= MOST; count += count < 10 ? 1 : 10)
        for (int scatters = 0; scatters < 2; scatters++) {
            size_t right, wrong;
            count_lists(LISTS, count, scatters ? 3e-3 : 0, 0, &right, &wrong);
            if (wrong > LISTS / 100)
                fail_msg("%zu of %d lists of %zu like crystals, which scatter by %g, have others",
                         wrong, LISTS, count, scatters ? 3e-3 : 0.0);
        }
}

/* Errors that all have in common, such as that of a shared distance, do not hide a shot; its own large error does. */
static void errors_are_of_a_shot_or_of_all(void **state) {
    (void)state;
    double value[8] = { 4.00001, 4, 3.99998, 4.00003, 4.00002, 4.00001, 3.99999, 4 + OFF },
           errors[8];
    for (size_t i = 0; i < 8; i++) errors[i] = 0.01;
    assert_int_equal(marked(8, value, errors), 1 << 7);
    for (size_t i = 0; i < 7; i++) errors[i] = 2e-5;
    assert_int_equal(marked(8, value, errors), 0);
    errors[7] = 1e-4;
    assert_int_equal(marked(8, value, errors), 1 << 7);
    assert_int_equal(marked(3, value + 5, errors + 5), 0); /* too few to tell */
}

/* Of two kinds of crystals the fewer are marked. */
static void the_crowd_has_more_than_half(void **state) {
    (void)state;
    double value[11], errors[11];
    gsl_rng *const chance = gsl_rng_alloc(gsl_rng_mt19937);
    draw_lengths(chance, 11, 2e-4, 1e-5, 5, value, errors);
    assert_int_equal(marked(11, value, errors), 0x7c0);
    draw_lengths(chance, 11, 2e-4, 1e-5, 6, value, errors);
    assert_int_equal(marked(11, value, errors), 0x01f);
    gsl_rng_free(chance);
}

enum { SHOTS = 8, EDGES = 3 };

/* A list whose shots have their own edges a and c, b follows a. */
static void make_list(db_fit_shots_result *r, db_fit_result *shots, db_fit_estimate *estimates) {
    static const db_parameter edges[EDGES] = { DB_CELL_A, DB_CELL_B, DB_CELL_C };
    static const char *const names[EDGES] = { "cell_a", "cell_b", "cell_c" },
                             *const shot_names[SHOTS] = { "s0", "s1", "s2", "s3",
                                                          "s4", "s5", "s6", "s7" };
    *r = (db_fit_shots_result){ .shot = shots, .shot_count = SHOTS };
    r->estimates = (db_fit_estimates){ .count = EDGES, .list = estimates + SHOTS * EDGES };
    for (size_t s = 0; s <= SHOTS; s++)
        for (size_t k = 0; k < EDGES; k++)
            estimates[s * EDGES + k] =
                (db_fit_estimate){ .name = names[k],
                                   .parameter = edges[k],
                                   .value = (k == 2 ? 90 : 60) * (1 + 1e-5 * (double)(s * 3 % 5)),
                                   .error = k == 1 ? NAN : 1e-3 };
    for (size_t s = 0; s < SHOTS; s++) {
        shots[s] = (db_fit_result){ .name = shot_names[s], .used = 1 };
        shots[s].verdict.usable = 1;
        shots[s].estimates = (db_fit_estimates){ .count = EDGES, .list = estimates + s * EDGES };
    }
}

static void check_warning(db_fit_shots_result *r, const char *expected) {
    assert_int_equal(db_fit_cells_warning_add(context, r), DB_OK);
    assert_int_equal(r->warning_count, expected ? 1 : 0);
    if (expected && !strstr(r->warnings[0], expected))
        fail_msg("'%s' is not in: %s", expected, r->warnings[0]);
    if (expected) assert_non_null(strstr(r->advice[0], "wavelength"));
    free(r->warnings);
    free((void *)r->advice);
    r->warnings = NULL;
    r->advice = NULL;
    r->warning_count = 0;
}

static void a_warning_names_the_shots(void **state) {
    (void)state;
    db_fit_shots_result r;
    db_fit_result shots[SHOTS];
    db_fit_estimate estimates[(SHOTS + 1) * EDGES];
    make_list(&r, shots, estimates);
    check_warning(&r, NULL);
    for (size_t k = 0; k < EDGES; k++) estimates[5 * EDGES + k].value *= 1 - OFF;
    check_warning(&r, "in 1 of 8 shots edges of the cell differ from the other shots, whose edges "
                      "scatter by 0.0014 %: s5 (cell_a -1.50 %, cell_c -1.50 %)");
    estimates[2 * EDGES + 2].value *= 1.03;
    check_warning(&r, "in 2 of 8 shots edges of the cell");
    check_warning(&r, " %: s2 (cell_a -0.00 %, cell_c +3.00 %), s5");
    /* shots that are not used, or whose edges have no errors, are not compared */
    shots[5].used = 0;
    check_warning(&r, "in 1 of 7 shots edges of the cell");
    check_warning(&r, " %: s2 (");
    estimates[2 * EDGES].error = NAN;
    check_warning(&r, NULL);
    /* shared edges tell nothing of a shot */
    estimates[2 * EDGES].error = 1e-3;
    for (size_t k = 0; k < EDGES; k++) estimates[SHOTS * EDGES + k].shared = 1;
    check_warning(&r, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shots_of_another_wavelength_are_marked),
        cmocka_unit_test(crystals_of_one_kind_are_not_marked),
        cmocka_unit_test(errors_are_of_a_shot_or_of_all),
        cmocka_unit_test(the_crowd_has_more_than_half),
        cmocka_unit_test(a_warning_names_the_shots),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
