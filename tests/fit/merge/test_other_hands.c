/* Shots of the other hand, by Bijvoet differences. */
#include "support/context.h"
#include "fit/made_up_shots.h"
#include "fit/merge/scaling.h"
#include "fit/merge/scaling_work.h"

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

enum { ROWS = 12, PAIRS = 40, MATES = 2 * PAIRS };

/* Sums over shots that measure both mates of all pairs. `wrong`: a shot that alone shows the true intensity of a mate, which
 * is much too bright in the others, and not the other mate; `other`: a shot of the other hand. */
static size_t hands_of_sums(int wrong, int other, db_shot_scale shot[ROWS]) {
    static uint32_t mate[MATES];
    static unsigned char none[MATES], one[MATES], joins[ROWS];
    static float d[MATES], share[ROWS * MATES];
    static double sum[MATES], weight[MATES], next_sum[MATES], next_weight[MATES];
    static db_observation list[ROWS * MATES];
    static size_t first[ROWS + 1];
    const double certain = 400; /* 1/variance of a measurement */
    db_shot_scale added[ROWS];
    const db_asu_list asu = {
        .count = MATES, .mate = mate, .centric = none, .epsilon = one, .d = d
    };
    const db_observations observations = { .shots = ROWS, .first = first, .list = list };
    db_scaling_work w = { .list = &asu,
                          .observations = &observations,
                          .mean = { 1 },
                          .shell = none,
                          .sum = sum,
                          .weight = weight,
                          .next_sum = next_sum,
                          .next_weight = next_weight,
                          .share = share,
                          .shot = shot,
                          .added = added,
                          .joins = joins };
    uint64_t random = 1;
    db_status status = DB_OK;
    size_t at = 0;
    memset(sum, 0, sizeof sum);
    memset(weight, 0, sizeof weight);
    for (uint32_t r = 0; r < MATES; r++) {
        mate[r] = r ^ 1;
        one[r] = 1;
        d[r] = 2;
    }
    for (int s = 0; s < ROWS; s++) {
        shot[s] = added[s] = (db_shot_scale){ .scale = 1 };
        joins[s] = 1;
        first[s] = at;
        for (uint32_t r = 0; r < MATES; r++) {
            const int is_alone = s == wrong && r < 2, hand = s == other ? -1 : 1;
            if (is_alone && r == 1) continue;
            const double half = r % 2 ? -0.1 : 0.1,
                         bright = wrong >= 0 && r == 0 && !is_alone ? 4 : 0,
                         J = 1 + hand * half + bright + 0.02 * made_up_normal(&random);
            list[at] = (db_observation){ .reflection = r, .intensity = (float)J };
            sum[r] += certain * J;
            weight[r] += certain;
            share[at++] = (float)certain;
        }
    }
    first[ROWS] = at;
    const size_t found = db_scaling_find_other_hands(context, &w, &status);
    assert_int_equal(status, DB_OK);
    return found;
}

/* A bright mate that is wrong in all other shots puts no shot into another hand; all its other mates do. */
static void one_reflection_makes_no_hand(void **state) {
    db_shot_scale shot[ROWS];
    (void)state;
    assert_int_equal(hands_of_sums(5, -1, shot), 0);
    assert_int_equal(hands_of_sums(-1, 7, shot), 1);
    assert_int_equal(shot[7].excluded, DB_EXCLUDED_OTHER_HAND);
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
        cmocka_unit_test(one_reflection_makes_no_hand),
        cmocka_unit_test(no_hand_is_found_where_none_shows_slow),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
