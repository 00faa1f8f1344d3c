/* Shots of another crystal, which agree with each other: the most win. */
#include "support/context.h"
#include "fit/made_up_shots.h"
#include "fit/merge/crystal_kinds.h"
#include "fit/merge/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double cell[6] = { 27, 31, 34, 90, 90, 90 };
static const double fine = 2.6; /* resolution (angstrom) */

typedef struct run {
    db_asu_list list;
    made_up set;
    db_scaling scaling;
    db_crystal_kinds kinds;
} run;

static size_t count_of(const run *r, bad_shot kind) {
    size_t count = 0;
    for (size_t s = 0; s < r->set.observations.shots; s++) count += r->set.kind[s] == kind;
    return count;
}

/* Those of this kind that were excluded for this reason. */
static size_t excluded_for(const run *r, bad_shot kind, db_exclusion reason) {
    size_t count = 0;
    for (size_t s = 0; s < r->set.observations.shots; s++)
        count += r->set.kind[s] == kind && r->scaling.shot[s].excluded == reason;
    return count;
}

static void begin(const made_up_options *options, int with_reference, run *r) {
    memset(r, 0, sizeof *r);
    assert_int_equal(db_asu_list_make(context, cell, "", fine, 1, &r->list), DB_OK);
    made_up_make(context, &r->list, options, &r->set);
    assert_int_equal(db_scaling_make(context, options->shots, &r->scaling), DB_OK);
    double *const given = malloc(r->list.count * sizeof *given); /* some are not known */
    for (size_t h = 0; h < r->list.count; h++) given[h] = h % 9 ? r->set.truth[h] : (double)NAN;
    assert_int_equal(db_find_other_crystals(context, &r->list, with_reference ? given : NULL,
                                            &r->set.observations, &r->scaling, &r->kinds),
                     DB_OK);
    free(given);
}

static void end(run *r) {
    db_scaling_clear(&r->scaling);
    made_up_clear(&r->set);
    db_asu_list_clear(&r->list);
}

/* What is left of them is merged. */
static void merge(run *r) {
    const db_scaling_options usual = DB_SCALING_OPTIONS_INIT;
    db_merged merged;
    assert_int_equal(db_merged_make(context, r->list.count, &merged), DB_OK);
    assert_int_equal(
        db_scale_shots(context, &r->list, &usual, 1, &r->set.observations, &r->scaling, &merged),
        DB_OK);
    db_merged_clear(&merged);
}

/* Clear shots of one other crystal all go, and no good one; faint ones nearly so. */
static void the_most_are_kept_slow(void **state) {
    (void)state;
    static const struct {
        size_t shots, each;
        double other, photons;
    } cases[] = { { 34, 300, 0.3, 400 },   { 34, 300, 0.3, 40 },    { 60, 300, 0.42, 400 },
                  { 60, 300, 0.42, 20 },   { 300, 300, 0.43, 400 }, { 300, 300, 0.05, 40 },
                  { 300, 100, 0.42, 400 }, { 30, 700, 0.3, 1000 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed < 5; seed++) {
            made_up_options options = MADE_UP_OPTIONS_INIT;
            char line[DB_KINDS_LINE];
            run r;
            const int faint = cases[i].photons < 100;
            options.shots = cases[i].shots;
            options.each = cases[i].each;
            options.photons = cases[i].photons;
            options.seed = seed;
            options.bad[OTHER_CRYSTAL] = cases[i].other;
            begin(&options, 0, &r);
            const size_t others = count_of(&r, OTHER_CRYSTAL), good = count_of(&r, GOOD_SHOT),
                         known = excluded_for(&r, OTHER_CRYSTAL, DB_EXCLUDED_OTHER_CRYSTAL);
            merge(&r);
            const size_t left = excluded_for(&r, OTHER_CRYSTAL, DB_NOT_EXCLUDED);
            db_crystal_kinds_line(&r.kinds, line);
            if (left)
                print_message("%zu of %zu in use, of %zu shots; %s\n", left, others, good + others,
                              line);
            assert_true(excluded_for(&r, GOOD_SHOT, DB_NOT_EXCLUDED) + (size_t)faint >= good);
            assert_true(left <= (size_t)faint * 2);
            assert_int_equal(r.kinds.clear, 1);
            if (others < 10) {
                end(&r);
                continue;
            }
            assert_true(known == others || (faint && known + 2 >= others));
            assert_int_equal(r.kinds.count, 2);
            assert_non_null(strstr(line, "the largest and is kept"));
            end(&r);
        }
}

/* Of one crystal none goes, be they faint, few, or beside shots that agree with nothing. */
static void one_crystal_stays_together(void **state) {
    (void)state;
    static const size_t shots[] = { 1, 2, 8, 30, 300 };
    static const double photons[] = { 4, 40, 400 };
    for (size_t i = 0; i < sizeof shots / sizeof *shots; i++)
        for (int k = 0; k < 12; k++) {
            made_up_options options = MADE_UP_OPTIONS_INIT;
            run r;
            options.shots = shots[i];
            options.each = k % 2 ? 300 : 60;
            options.photons = photons[k % 3];
            options.seed = 1 + (uint64_t)k;
            options.relative = k % 4 == 3 ? 0.4 : 0.1;
            options.outliers = k % 4 == 2 ? 0.03 : 0;
            if (k > 5) options.bad[BLANK] = options.bad[SCATTERED] = 0.1;
            begin(&options, 0, &r);
            assert_int_equal(excluded_for(&r, GOOD_SHOT, DB_EXCLUDED_OTHER_CRYSTAL), 0);
            assert_int_equal(r.kinds.count, 1);
            end(&r);
        }
}

/* As many of each: it is said, and a reference decides. */
static void halves_are_told(void **state) {
    (void)state;
    size_t told = 0;
    for (uint64_t seed = 1; seed < 12; seed++)
        for (int known = 0; known < 2; known++) {
            made_up_options options = MADE_UP_OPTIONS_INIT;
            char line[DB_KINDS_LINE];
            run r;
            options.shots = 40;
            options.seed = seed;
            options.bad[OTHER_CRYSTAL] = 0.5;
            begin(&options, known, &r);
            const double good = (double)count_of(&r, GOOD_SHOT),
                         other = (double)count_of(&r, OTHER_CRYSTAL);
            db_crystal_kinds_line(&r.kinds, line);
            assert_int_equal(r.kinds.count, 2);
            assert_int_equal(r.kinds.by_reference, known);
            if (known) {
                assert_int_equal(excluded_for(&r, GOOD_SHOT, DB_NOT_EXCLUDED),
                                 count_of(&r, GOOD_SHOT));
                assert_int_equal(excluded_for(&r, OTHER_CRYSTAL, DB_NOT_EXCLUDED), 0);
                assert_non_null(strstr(line, "agrees with the reference"));
            } else {
                const double least = fmin(good, other), most = fmax(good, other);
                assert_int_equal(r.kinds.clear, most >= 1.1 * least);
                assert_int_equal(strstr(line, "no group is clearly the largest") != NULL,
                                 !r.kinds.clear);
                told += !r.kinds.clear;
            }
            end(&r);
        }
    assert_true(told > 0);
}

/* Where models describe shots badly, measurements of one crystal differ from shot to shot by 40 to 80 %. */
static void badly_described_shots_stay_together(void **state) {
    (void)state;
    static const struct {
        size_t shots, each;
        double relative;
    } cases[] = { { 150, 30, 0.8 }, { 150, 60, 0.8 }, { 400, 30, 0.4 }, { 400, 30, 0.8 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            made_up_options options = MADE_UP_OPTIONS_INIT;
            run r;
            options.shots = cases[i].shots;
            options.each = cases[i].each;
            options.relative = cases[i].relative;
            options.seed = seed;
            begin(&options, 0, &r);
            assert_int_equal(r.kinds.count, 1);
            assert_int_equal(excluded_for(&r, GOOD_SHOT, DB_NOT_EXCLUDED), options.shots);
            end(&r);
        }
}

/* Noise, and errors of models, are not taken for errors so large that two crystals are one. */
static void two_crystals_are_two(void **state) {
    (void)state;
    static const struct { double photons, relative; } cases[] = { { 40, 0.1 }, { 400, 0.4 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_up_options options = MADE_UP_OPTIONS_INIT;
        run r;
        options.shots = 150;
        options.each = 60;
        options.photons = cases[i].photons;
        options.relative = cases[i].relative;
        options.bad[OTHER_CRYSTAL] = 0.4;
        begin(&options, 0, &r);
        const size_t others = count_of(&r, OTHER_CRYSTAL),
                     known = excluded_for(&r, OTHER_CRYSTAL, DB_EXCLUDED_OTHER_CRYSTAL);
        print_message("%zu of %zu are known\n", known, others);
        assert_int_equal(r.kinds.count, 2);
        assert_true((double)known > 0.8 * (double)others); /* the faintest are of no kind */
        assert_int_equal(excluded_for(&r, GOOD_SHOT, DB_EXCLUDED_OTHER_CRYSTAL), 0);
        end(&r);
    }
}

/* Intensities that differ by less than half of their spread are those of one crystal. */
static void crystals_that_are_alike_stay_together(void **state) {
    (void)state;
    for (int more = 0; more < 6; more++) {
        made_up_options options = MADE_UP_OPTIONS_INIT;
        run r;
        options.shots = 80;
        options.bad[OTHER_CRYSTAL] = 0.4;
        options.alike = more % 2 ? 0.45 : 0.2; /* correlations of 0.63 and 0.24 */
        options.seed = 1 + (uint64_t)more / 2;
        begin(&options, 0, &r);
        assert_int_equal(r.kinds.count, more % 2 ? 1 : 2);
        end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_are_kept_slow),
        cmocka_unit_test(one_crystal_stays_together),
        cmocka_unit_test(badly_described_shots_stay_together),
        cmocka_unit_test(two_crystals_are_two),
        cmocka_unit_test(crystals_that_are_alike_stay_together),
        cmocka_unit_test(halves_are_told),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
