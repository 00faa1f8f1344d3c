/* Shots of the other hand, by Bijvoet differences. */
#include "support/context.h"
#include "fit/made_up_shots.h"
#include "fit/merge/scaling.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of shots: in all, that are excluded for their hand, and those of them that should not be. */
typedef struct hands {
    size_t others, noticed, wrongly;
} hands;

static hands look(const made_up_options *options, int asked) {
    static const double cell[6] = { 30, 30, 38, 90, 90, 90 };
    db_scaling_options scaling_options = DB_SCALING_OPTIONS_INIT;
    db_asu_list list;
    made_up set;
    db_scaling scaling;
    db_merged merged;
    hands found = { 0 };
    const db_status status = db_asu_list_make(context, cell, "P4", 2.2, 1, &list);
    if (status == DB_ERROR_UNSUPPORTED) skip();
    assert_int_equal(status, DB_OK);
    scaling_options.hands = asked;
    made_up_make(context, &list, options, &set);
    assert_int_equal(db_scaling_make(context, options->shots, &scaling), DB_OK);
    assert_int_equal(db_merged_make(context, list.count, &merged), DB_OK);
    assert_int_equal(
        db_scale_shots(context, &list, &scaling_options, 1, &set.observations, &scaling, &merged),
        DB_OK);
    for (size_t s = 0; s < options->shots; s++) {
        const int excluded = scaling.shot[s].excluded == DB_EXCLUDED_OTHER_HAND;
        found.others += set.kind[s] == OTHER_HAND;
        found.noticed += set.kind[s] == OTHER_HAND && excluded;
        found.wrongly += set.kind[s] != OTHER_HAND && excluded;
    }
    db_merged_clear(&merged);
    db_scaling_clear(&scaling);
    made_up_clear(&set);
    db_asu_list_clear(&list);
    return found;
}

/* Differences of 0.2 among poor measurements; of 0.1 and 0.05 among good ones of few shots; many of the
 * other hand; and shots beside them that are wrong in other ways. */
static void other_hands_are_noticed(void **state) {
    (void)state;
    static const struct {
        size_t shots, each;
        double anomalous, relative, photons, other, other_crystals;
    } cases[] = { { 250, 400, 0.2, 0.1, 400, 0.15, 0 },    { 120, 400, 0.1, 0.05, 4000, 0.1, 0 },
                  { 60, 400, 0.1, 0.02, 4000, 0.1, 0 },    { 100, 400, 0.05, 0.02, 4000, 0.1, 0 },
                  { 120, 400, 0.1, 0.02, 4000, 0.35, 0 },  { 15, 700, 0.2, 0.02, 4000, 0.1, 0 },
                  { 120, 400, 0.1, 0.05, 4000, 0.1, 0.1 }, { 60, 400, 0.1, 0.1, 40000, 0.1, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed < 3; seed++) {
            made_up_options options = MADE_UP_OPTIONS_INIT;
            options.shots = cases[i].shots;
            options.each = cases[i].each;
            options.anomalous = cases[i].anomalous;
            options.relative = cases[i].relative;
            options.photons = cases[i].photons;
            options.seed = seed;
            options.bad[OTHER_HAND] = cases[i].other;
            options.bad[OTHER_CRYSTAL] = cases[i].other_crystals;
            const hands found = look(&options, 1);
            print_message(
                "set %zu: %zu of %zu shots of the other hand are noticed, %zu of this one\n", i,
                found.noticed, found.others, found.wrongly);
            assert_int_equal(found.noticed, found.others);
            assert_int_equal(found.wrongly, 0);
            if (i == 2) assert_int_equal(look(&options, 0).noticed, 0);
        }
}

/* No hand is found without anomalous scatterers, or in differences far below what was measured. */
static void no_hand_is_found_where_none_shows_slow(void **state) {
    (void)state;
    static const double relative[] = { 0.02, 0.1, 0.3 }, photons[] = { 40, 400, 40000 };
    for (int i = 0; i < 9; i++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            made_up_options options = MADE_UP_OPTIONS_INIT;
            options.shots = seed == 3 ? 12 : 120;
            options.each = 400;
            options.anomalous = seed == 1 ? 0.005 : 0;
            options.relative = relative[i % 3];
            options.photons = photons[i / 3];
            options.seed = seed;
            assert_int_equal(look(&options, 1).wrongly, 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_hands_are_noticed),
        cmocka_unit_test(no_hand_is_found_where_none_shows_slow),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
