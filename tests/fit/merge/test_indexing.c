/* Which way shots were indexed, where a lattice has more rotations than its crystal. */
#include "support/context.h"
#include "fit/made_up_shots.h"
#include "fit/merge/indexing.h"
#include "fit/merge/scaling.h"

#include <dualbragg/expert/symmetry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double cubic[6] = { 30, 30, 30, 90, 90, 90 },
                    tetragonal[6] = { 30, 30, 38, 90, 90, 90 },
                    hexagonal[6] = { 32, 32, 40, 90, 90, 120 },
                    nearly[6] = { 30, 30.3, 44, 90, 90, 90 }, apart[6] = { 30, 33, 44, 90, 90, 90 },
                    slanted[6] = { 30, 41, 52, 90, 104, 90 },
                    rhombic[6] = { 30, 51.96152, 40, 90, 90, 90 };

/* Counted in the tables of twinning by merohedry, or by hand. */
static void ways_are_those_of_the_lattice(void **state) {
    (void)state;
    static const struct {
        const double *cell;
        const char *group, *second; /* a second way */
        int count;
    } cases[] = { { tetragonal, "P4", "k,h,-l", 2 },   { tetragonal, "P41212", NULL, 1 },
                  { hexagonal, "P3", "k,h,-l", 4 },    { hexagonal, "P6", "k,h,-l", 2 },
                  { hexagonal, "P321", "-h,-k,l", 2 }, { hexagonal, "P622", NULL, 1 },
                  { cubic, "P23", "-h,l,k", 2 },       { cubic, "F23", "-h,l,k", 2 },
                  { cubic, "P432", NULL, 1 },          { cubic, "I213", "-h,l,k", 2 },
                  { nearly, "P212121", "-k,h,l", 2 },  { apart, "P212121", NULL, 1 },
                  { slanted, "P1211", NULL, 1 },       { hexagonal, "R3:H", "k,h,-l", 2 },
                  { rhombic, "C2221", NULL, 3 },       { apart, "P1", NULL, 4 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_space_group group;
        db_indexings ways;
        char text[DB_INDEXING_TEXT];
        const db_status status = db_space_group_find(context, cases[i].group, &group);
        if (status == DB_ERROR_UNSUPPORTED) skip();
        assert_int_equal(status, DB_OK);
        db_indexings_find(cases[i].cell, &group, 0.015, &ways);
        assert_int_equal(ways.count, cases[i].count);
        assert_string_equal(db_indexing_text(&ways.way[0], text), "h,k,l");
        for (int w = 0; w < ways.count; w++) {
            int inverses = 0;
            for (int v = 0; v < ways.count; v++)
                inverses += db_indexings_product(&ways, &group, w, v) == 0;
            assert_int_equal(inverses, 1);
        }
        int found = !cases[i].second;
        for (int w = 1; w < ways.count; w++)
            found |= cases[i].second &&
                     strcmp(db_indexing_text(&ways.way[w], text), cases[i].second) == 0;
        assert_true(found);
    }
}

/* A set whose shots were indexed in all ways by chance. */
typedef struct run {
    db_asu_list list;
    made_up set;
    db_scaling scaling;
    db_indexing_result result;
    db_crystal_kinds kinds;
    int operators[DB_MOST_INDEXINGS][9];
} run;

static int begin(const double *cell, const char *group, double d_min, made_up_options *options,
                 run *r) {
    db_indexings ways;
    memset(r, 0, sizeof *r);
    if (db_asu_list_make(context, cell, group, d_min, 1, &r->list) != DB_OK) return 0;
    db_indexings_find(cell, r->list.group, 0.015, &ways);
    for (int w = 0; w < ways.count; w++)
        for (int i = 0; i < 9; i++) r->operators[w][i] = ways.way[w].matrix[i] / 24;
    options->operators = (const int(*)[9])r->operators;
    options->operator_count = (size_t)ways.count;
    made_up_make(context, &r->list, options, &r->set);
    assert_int_equal(db_scaling_make(context, options->shots, &r->scaling), DB_OK);
    return 1;
}

static void resolve(run *r, const double *reference) {
    const db_indexing_options options = { .crystal = NULL };
    assert_int_equal(db_indexing_resolve(context, &r->list, &options, reference,
                                         &r->set.observations, &r->scaling, &r->result, &r->kinds),
                     DB_OK);
}

static void end(run *r) {
    db_indexing_result_clear(&r->result);
    db_scaling_clear(&r->scaling);
    made_up_clear(&r->set);
    db_asu_list_clear(&r->list);
}

/* How many good shots in use have the way that undoes theirs, then one common to all; and how many are in
 * use. */
static size_t count_right(const run *r, size_t *used) {
    size_t count[DB_MOST_INDEXINGS] = { 0 }, best = 0;
    *used = 0;
    for (size_t s = 0; s < r->set.observations.shots; s++) {
        if (r->scaling.shot[s].excluded != DB_NOT_EXCLUDED || r->set.kind[s] != GOOD_SHOT) continue;
        const int common = db_indexings_product(&r->result.ways, r->list.group, r->set.operator[s],
                                                r->result.way[s]);
        assert_true(common >= 0);
        count[common]++;
        ++*used;
    }
    for (size_t w = 0; w < DB_MOST_INDEXINGS; w++)
        if (count[w] > best) best = count[w];
    return best;
}

static void check(const double *cell, const char *group, double d_min, made_up_options *options,
                  double fewest_used) {
    run r;
    size_t used;
    if (!begin(cell, group, d_min, options, &r)) skip();
    resolve(&r, NULL);
    if (r.result.end != DB_INDEXING_RESOLVED) print_message("%s: not resolved\n", group);
    db_lower_symmetry lower;
    assert_int_equal(
        db_lower_symmetry_find(context, &r.list, &r.set.observations, &r.scaling, &lower), DB_OK);
    assert_true(lower.gain == 0);
    const size_t right = count_right(&r, &used);
    assert_true((double)used >= fewest_used * (double)options->shots);
    assert_true((double)right >= 0.99 * (double)used);
    for (size_t i = 0; i < r.set.observations.first[options->shots]; i++) {
        const db_observation *const o = &r.set.observations.list[i]; /* turned as it says */
        const int hkl[3] = { o->hkl[0], o->hkl[1], o->hkl[2] };
        assert_int_equal(o->reflection, db_asu_number(&r.list, hkl));
    }
    end(&r);
}

static void shots_are_brought_to_one_way(void **state) {
    (void)state;
    made_up_options options = MADE_UP_OPTIONS_INIT;
    options.shots = 150;
    options.each = 120;
    check(tetragonal, "P4", 2.2, &options, 0.97);
    check(hexagonal, "P3", 2.2, &options, 0.97);
    check(cubic, "P23", 2, &options, 0.97);
    check(nearly, "P212121", 2, &options, 0.97);
}

/* Four ways in P 1 of an orthorhombic lattice, which needs no table of groups. */
static void no_group_has_ways_too(void **state) {
    (void)state;
    made_up_options options = MADE_UP_OPTIONS_INIT;
    options.shots = 200;
    options.each = 200;
    check(apart, "", 3, &options, 0.97);
}

/* 7 reflections in common of two shots, noise of the size of the mean, and 30 % that are no use. */
static void weak_shots_are_brought_to_one_way(void **state) {
    (void)state;
    made_up_options options = MADE_UP_OPTIONS_INIT;
    options.shots = 600;
    options.each = 150;
    options.photons = 60;
    options.background = 8;
    options.relative = 0.3;
    options.bad[OTHER_CRYSTAL] = 0.15;
    options.bad[BLANK] = 0.15;
    check(tetragonal, "P4", 1.9, &options, 0.5);
}

/* Where edges agree by chance, spots have told shots' ways: those that are too weak to tell stay. */
static void weak_shots_are_kept_where_edges_differ(void **state) {
    (void)state;
    made_up_options options = MADE_UP_OPTIONS_INIT;
    run r;
    size_t weak = 0;
    options.shots = 300;
    options.each = 20;
    options.photons = 100;
    options.background = 8;
    options.relative = 0.3;
    if (!begin(nearly, "P212121", 2.4, &options, &r)) skip();
    resolve(&r, NULL);
    assert_int_equal(r.result.end, DB_INDEXING_RESOLVED);
    for (size_t s = 0; s < options.shots; s++) {
        if (!(r.result.probability[s] < 0.95)) continue;
        assert_true(r.result.way[s] == 0 && r.scaling.shot[s].excluded == DB_NOT_EXCLUDED);
        weak++;
    }
    assert_true(weak > 0);
    assert_int_equal(r.result.undecided, 0);
    end(&r);
}

/* Intensities that have the rotation themselves, and noise, do not tell ways apart. */
static void shots_that_do_not_tell_stay_as_they_are(void **state) {
    (void)state;
    for (int weak = 0; weak < 2; weak++) {
        made_up_options options = MADE_UP_OPTIONS_INIT;
        run r;
        options.shots = 100;
        options.each = weak ? 12 : 150;
        options.photons = weak ? 60 : 400;
        options.twins = !weak;
        if (!begin(tetragonal, "P4", weak ? 1.6 : 2.2, &options, &r)) skip();
        resolve(&r, NULL);
        assert_int_equal(r.result.end, DB_INDEXING_ALIKE);
        assert_int_equal(r.result.changed, 0);
        assert_int_equal(r.result.undecided, 0);
        end(&r);
    }
}

static void a_reference_says_which_way(void **state) {
    (void)state;
    for (int other = 0; other < 2; other++) {
        made_up_options options = MADE_UP_OPTIONS_INIT;
        run r;
        options.shots = 100;
        options.each = 150;
        if (!begin(tetragonal, "P4", 2.2, &options, &r)) skip();
        double *const reference = malloc(r.list.count * sizeof *reference);
        for (size_t n = 0; n < r.list.count; n++) {
            const int *const hkl = r.list.hkl[n], turned[3] = { hkl[1], hkl[0], -hkl[2] };
            reference[n] = r.set.truth[other ? db_asu_number(&r.list, turned) : n];
            if (n % 11 == 0) reference[n] = NAN; /* not known */
        }
        resolve(&r, reference);
        size_t used = 0, right = 0;
        for (size_t s = 0; s < options.shots; s++) {
            if (r.scaling.shot[s].excluded != DB_NOT_EXCLUDED) continue;
            right += (size_t)(r.result.way[s] == (r.set.operator[s] ^ other));
            used++;
        }
        assert_true(used >= 95 && right + 1 >= used);
        free(reference);
        end(&r);
    }
}

/* Frames that are too weak by themselves tell the ways of their crystals together; a single crystal follows a reference. */
static void frames_of_a_crystal_have_one_way(void **state) {
    (void)state;
    for (int crystals = 1; crystals < 3; crystals++) {
        made_up_options options = MADE_UP_OPTIONS_INIT;
        run r;
        options.shots = 100;
        options.each = 30;
        options.background = 2;
        options.relative = 0.3;
        if (!begin(tetragonal, "P4", 2.2, &options, &r)) skip();
        size_t *const crystal = calloc(options.shots, sizeof *crystal);
        assert_non_null(crystal);
        for (size_t s = 0; s < options.shots; s++) {
            crystal[s] = crystals == 1 ? 0 : (size_t)r.set.operator[s];
            if (crystals == 1 && r.set.operator[s] != 1)
                r.scaling.shot[s].excluded = DB_EXCLUDED_BEFORE;
        }
        const db_indexing_options how = { crystal, (size_t)crystals };
        assert_int_equal(db_indexing_resolve(context, &r.list, &how,
                                             crystals == 1 ? r.set.truth : NULL,
                                             &r.set.observations, &r.scaling, &r.result, NULL),
                         DB_OK);
        size_t used, turned = 0;
        const size_t right = count_right(&r, &used);
        for (size_t s = 0; s < options.shots; s++)
            turned += r.result.way[s] == 1 && r.scaling.shot[s].excluded == DB_NOT_EXCLUDED;
        print_message("%d crystals: %zu of %zu right, %zu turned\n", crystals, right, used, turned);
        assert_int_equal(r.result.end, DB_INDEXING_RESOLVED);
        assert_int_equal(right, used);
        assert_true(used > 30 && (crystals == 2 ? turned < options.shots : turned == used));
        assert_int_equal(turned, r.result.changed);
        free(crystal);
        end(&r);
    }
}

/* Shots of one other crystal, indexed in all ways, too: they go, and none because of its hand. */
static void other_crystals_do_not_confuse(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        made_up_options options = MADE_UP_OPTIONS_INIT;
        size_t used, others = 0;
        run r;
        options.shots = 60;
        options.each = 300;
        options.anomalous = 0.3;
        options.seed = seed;
        options.bad[OTHER_CRYSTAL] = 0.4;
        if (!begin(tetragonal, "P4", 2.2, &options, &r)) skip();
        resolve(&r, NULL);
        const size_t right = count_right(&r, &used);
        for (size_t s = 0; s < options.shots; s++) {
            assert_true((r.set.kind[s] == GOOD_SHOT) ==
                        (r.scaling.shot[s].excluded == DB_NOT_EXCLUDED));
            others += r.set.kind[s] != GOOD_SHOT;
        }
        assert_int_equal(used, options.shots - others);
        assert_int_equal(right, used);
        assert_int_equal(r.kinds.count, 2);
        end(&r);
    }
}

/* A crystal of one group is taken for one of another, whose further rotations are ways of indexing: kept and lost rotations. */
static void too_high_a_symmetry_is_found(void **state) {
    (void)state;
    static const struct {
        const double *cell;
        const char *group, *taken;
        int rotations; /* 0: the group is right, or lower */
    } cases[] = { { tetragonal, "P4", "P422", 4 },   { tetragonal, "P222", "P422", 4 },
                  { hexagonal, "P6", "P622", 6 },    { hexagonal, "P321", "P622", 6 },
                  { hexagonal, "P3", "P321", 3 },    { cubic, "P23", "P432", 12 },
                  { tetragonal, "P4", "P4", 0 },     { tetragonal, "P422", "P422", 0 },
                  { tetragonal, "P422", "P222", 0 }, { hexagonal, "P622", "P622", 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_up_options options = MADE_UP_OPTIONS_INIT;
        db_asu_list taken;
        run r;
        options.shots = 60;
        options.each = 200;
        if (!begin(cases[i].cell, cases[i].group, 2.2, &options, &r)) skip();
        assert_int_equal(db_asu_list_make(context, cases[i].cell, cases[i].taken, 2.2, 1, &taken),
                         DB_OK);
        for (size_t k = 0; k < r.set.observations.first[options.shots]; k++) {
            db_observation *const o = &r.set.observations.list[k];
            const int hkl[3] = { o->hkl[0], o->hkl[1], o->hkl[2] };
            o->reflection = db_asu_number(&taken, hkl);
        }
        const db_asu_list own = r.list;
        r.list = taken;
        resolve(&r, NULL);
        db_lower_symmetry lower;
        assert_int_equal(
            db_lower_symmetry_find(context, &r.list, &r.set.observations, &r.scaling, &lower),
            DB_OK);
        print_message("%s as %s: %d rotations, gain %.1f\n", cases[i].group, cases[i].taken,
                      lower.rotations, lower.gain);
        assert_int_equal(lower.rotations, cases[i].rotations);
        assert_int_equal(lower.gain > 0, cases[i].rotations > 0);
        db_asu_list_clear(&taken);
        r.list = own;
        end(&r);
    }
}

/* Gain of a subgroup by mates of two crystals, each indexed by itself; measurements have a relative error beside counts. */
static db_lower_symmetry symmetry_of_mates(const double *cell, const char *group,
                                           const char *taken_group, double relative) {
    enum { SHOTS = 20 };
    const db_scaling_options held = { .held = 1 };
    db_indexing_options options = { .crystal = NULL };
    made_up_options set = MADE_UP_OPTIONS_INIT;
    db_lower_symmetry lower;
    db_merged merged;
    db_asu_list taken;
    size_t crystal[SHOTS];
    run r;
    set.shots = SHOTS;
    set.each = 150;
    set.scale_spread = set.b_spread = 0;
    set.relative = relative;
    if (!begin(cell, group, 2.2, &set, &r)) skip();
    made_up_clear(&r.set);
    set.operators = NULL;
    made_up_make(context, &r.list, &set, &r.set);
    assert_int_equal(db_asu_list_make(context, cell, taken_group, 2.2, 1, &taken), DB_OK);
    for (size_t s = 0; s < SHOTS; s++) {
        const int *const turn = r.operators[s % 2];
        crystal[s] = s % 2;
        for (size_t k = r.set.observations.first[s]; k < r.set.observations.first[s + 1]; k++) {
            db_observation *const o = &r.set.observations.list[k];
            const int from[3] = { o->hkl[0], o->hkl[1], o->hkl[2] };
            int hkl[3];
            for (int i = 0; i < 3; i++)
                hkl[i] =
                    turn[3 * i] * from[0] + turn[3 * i + 1] * from[1] + turn[3 * i + 2] * from[2];
            for (int i = 0; i < 3; i++) o->hkl[i] = (int16_t)hkl[i];
            o->reflection = db_asu_number(&taken, hkl);
        }
    }
    options.crystal = crystal;
    options.crystals = 2;
    assert_int_equal(db_merged_make(context, taken.count, &merged), DB_OK);
    assert_int_equal(
        db_scale_shots(context, &taken, &held, 1, &r.set.observations, &r.scaling, &merged), DB_OK);
    assert_int_equal(db_lower_symmetry_of_mates(context, &taken, &options, &r.set.observations,
                                                merged.intensity, &lower),
                     DB_OK);
    print_message("%s as %s, relative error %.1f: %d rotations, gain %.1f\n", group, taken_group,
                  relative, lower.rotations, lower.gain);
    db_merged_clear(&merged);
    db_asu_list_clear(&taken);
    end(&r);
    return lower;
}

/* Mates of a crystal show it by themselves, where it has few of the lower symmetry, too. Right groups are never refused,
 * however wrong the measurements are. */
static void mates_show_too_high_a_symmetry(void **state) {
    (void)state;
    static const struct {
        const double *cell;
        const char *group, *taken;
        int rotations; /* 0: the group is right, or lower */
    } cases[] = { { tetragonal, "P4", "P422", 4 },   { tetragonal, "P222", "P422", 4 },
                  { hexagonal, "P6", "P622", 6 },    { hexagonal, "P321", "P622", 6 },
                  { hexagonal, "P3", "P321", 3 },    { cubic, "P23", "P432", 12 },
                  { slanted, "P1", "P2", 1 },        { tetragonal, "P4", "P4", 0 },
                  { tetragonal, "P422", "P422", 0 }, { tetragonal, "P422", "P222", 0 },
                  { hexagonal, "P622", "P622", 0 },  { cubic, "P432", "P432", 0 } };
    static const double relative[] = { 0.1, 0.3, 1 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 3; k++) {
            const db_lower_symmetry lower =
                symmetry_of_mates(cases[i].cell, cases[i].group, cases[i].taken, relative[k]);
            if (cases[i].rotations > 0 && relative[k] > 0.3) continue; /* may be told, or not */
            assert_int_equal(lower.rotations, cases[i].rotations);
            assert_int_equal(lower.gain > 0, cases[i].rotations > 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_are_those_of_the_lattice),
        cmocka_unit_test(shots_are_brought_to_one_way),
        cmocka_unit_test(no_group_has_ways_too),
        cmocka_unit_test(weak_shots_are_brought_to_one_way),
        cmocka_unit_test(weak_shots_are_kept_where_edges_differ),
        cmocka_unit_test(shots_that_do_not_tell_stay_as_they_are),
        cmocka_unit_test(a_reference_says_which_way),
        cmocka_unit_test(frames_of_a_crystal_have_one_way),
        cmocka_unit_test(other_crystals_do_not_confuse),
        cmocka_unit_test(too_high_a_symmetry_is_found),
        cmocka_unit_test(mates_show_too_high_a_symmetry),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
