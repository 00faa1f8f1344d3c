/* Intensities of many shots as reflections of one asymmetric unit. */
#include "support/context.h"
#include "fit/merge/observations.h"

#include <dualbragg/version.h>
#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tetragonal[6] = { 21, 21, 13, 90, 90, 90 },
                    cubic[6] = { 17, 17, 17, 90, 90, 90 },
                    monoclinic[6] = { 14, 11, 17, 90, 104, 90 },
                    triclinic[6] = { 9, 11, 13, 82, 95, 101 },
                    hexagonal[6] = { 18, 18, 23, 90, 90, 120 };

static int is_same(const int a[3], const int b[3], int sign) {
    return a[0] == sign * b[0] && a[1] == sign * b[1] && a[2] == sign * b[2];
}

/* Does an operator turn a into b (sign 1) or into its Friedel mate (-1)? */
static int are_equivalent(const db_symmetry *symmetry, const int a[3], const int b[3], int sign) {
    for (int o = 0; o < symmetry->count; o++) {
        int turned[3];
        db_symmetry_turn(symmetry, o, a, turned);
        if (is_same(turned, b, sign)) return 1;
    }
    return 0;
}

/* Spacing of planes of any cell (International Tables C, 1.1). */
static double spacing_of(const double cell[6], const int h[3]) {
    double c[3], s[3];
    for (int i = 0; i < 3; i++) {
        c[i] = cos(cell[3 + i] / 57.295779513082320877);
        s[i] = sin(cell[3 + i] / 57.295779513082320877);
    }
    const double volume = 1 - c[0] * c[0] - c[1] * c[1] - c[2] * c[2] + 2 * c[0] * c[1] * c[2];
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double own = h[i] * s[i] / cell[i];
        sum += own * own + 2 * h[j] * h[k] * (c[j] * c[k] - c[i]) / (cell[j] * cell[k]);
    }
    return sqrt(volume / sum);
}

/* All that is said of a list, against what the operators say of pairs of indices. */
static void check_list(const db_asu_list *list) {
    const db_symmetry *const symmetry = &list->group->symmetry;
    uint64_t random = 1;
    for (uint32_t n = 0; n < list->count; n++) {
        const int *const hkl = list->hkl[n];
        const uint32_t mate = list->mate[n];
        const int centric = are_equivalent(symmetry, hkl, hkl, -1);
        assert_int_equal(db_asu_number(list, hkl), n);
        assert_true(list->d[n] >= (float)list->d_min);
        assert_true(fabs((double)list->d[n] / spacing_of(list->cell, hkl) - 1) < 1e-6);
        assert_int_equal(list->centric[n], centric);
        assert_int_equal(mate != n, list->anomalous && !centric);
        assert_true(mate == n || is_same(list->hkl[mate], hkl, -1));
        assert_int_equal(list->mate[mate], n);
        assert_int_equal(db_asu_pair(list, n), db_asu_pair(list, mate));
        for (int o = 0; o < symmetry->count; o++) {
            int turned[3];
            db_symmetry_turn(symmetry, o, hkl, turned);
            assert_int_equal(db_asu_number(list, turned), n);
            for (int i = 0; i < 3; i++) turned[i] = -turned[i];
            assert_int_equal(db_asu_number(list, turned), mate);
        }
        for (int trial = 0; trial < 20; trial++) { /* no two are equivalent */
            random = random * 6364136223846793005u + 1442695040888963407u;
            const uint32_t other = (uint32_t)((random >> 33) % list->count);
            if (other == n) continue;
            assert_false(are_equivalent(symmetry, hkl, list->hkl[other], 1));
            assert_true(other == mate || !are_equivalent(symmetry, hkl, list->hkl[other], -1));
        }
    }
}

static size_t count_of(const double cell[6], const char *group, double d_min, int anomalous) {
    db_asu_list list;
    assert_int_equal(db_asu_list_make(context, cell, group, d_min, anomalous, &list), DB_OK);
    check_list(&list);
    const size_t count = list.count;
    db_asu_list_clear(&list);
    return count;
}

static int lacks_gemmi(void) {
    db_asu_list list;
    return db_asu_list_make(context, tetragonal, "P1", 5, 1, &list) == DB_ERROR_UNSUPPORTED ||
           (db_asu_list_clear(&list), 0);
}

static void reflections_are_numbered_by_the_group(void **state) {
    (void)state;
    static const struct {
        const double *cell;
        const char *group;
    } cases[] = { { tetragonal, "P43212" }, { tetragonal, "P4" },   { tetragonal, "I422" },
                  { cubic, "P23" },         { cubic, "F432" },      { monoclinic, "P1211" },
                  { monoclinic, "C121" },   { hexagonal, "P6122" }, { hexagonal, "P31" },
                  { hexagonal, "R3:H" },    { triclinic, "P-1" },   { triclinic, "P1" } };
    if (lacks_gemmi()) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int anomalous = 0; anomalous < 2; anomalous++)
            count_of(cases[i].cell, cases[i].group, 2, anomalous);
}

/* Counted by hand: the first reflections of P 4 3 21 2 and of a lattice with a centre. */
static void absences_are_left_out_where_the_group_is_known(void **state) {
    (void)state;
    static const struct {
        const char *group;
        int hkl[3], present;
    } cases[] = { { "P43212", { 0, 0, 3 }, 0 }, { "P43212", { 0, 0, 4 }, 1 },
                  { "P43212", { 3, 0, 0 }, 0 }, { "P43212", { 0, 2, 0 }, 1 },
                  { "P43212", { 3, 0, 1 }, 1 }, { "P422", { 0, 0, 3 }, 1 },
                  { "I422", { 1, 1, 1 }, 0 },   { "I422", { 1, 1, 2 }, 1 },
                  { "P4", { 0, 0, 0 }, 0 } };
    if (lacks_gemmi()) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_asu_list list;
        assert_int_equal(db_asu_list_make(context, tetragonal, cases[i].group, 2, 0, &list), DB_OK);
        assert_int_equal(db_asu_number(&list, cases[i].hkl) != DB_NO_REFLECTION, cases[i].present);
        db_asu_list_clear(&list);
    }
}

/* Where no group is given nothing of gemmi is needed; half of all indices within the sphere. */
static void no_group_is_p1(void **state) {
    (void)state;
    size_t all = 0;
    const double d_min = 2;
    for (int h = -9; h <= 9; h++)
        for (int k = -9; k <= 9; k++)
            for (int l = -9; l <= 9; l++)
                all +=
                    (h || k || l) && h * h + k * k + l * l <= cubic[0] * cubic[0] / d_min / d_min;
    assert_int_equal(count_of(cubic, "", d_min, 0), all / 2);
    assert_int_equal(count_of(cubic, "", d_min, 1), all);
    const int beyond[3] = { 9, 0, 0 }, far[3] = { 100, 0, -100 };
    db_asu_list list;
    assert_int_equal(db_asu_list_make(context, cubic, "", d_min, 1, &list), DB_OK);
    assert_int_equal(db_asu_number(&list, beyond), DB_NO_REFLECTION);
    assert_int_equal(db_asu_number(&list, far), DB_NO_REFLECTION);
    db_asu_list_clear(&list);
}

static void impossible_lists_are_refused(void **state) {
    (void)state;
    db_asu_list list;
    const double large[6] = { 5000, 5000, 5000, 90, 90, 90 };
    assert_int_equal(db_asu_list_make(context, large, "", 1, 1, &list), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "expected at most"));
    assert_int_equal(db_asu_list_make(context, cubic, "", 0, 1, &list), DB_ERROR_INPUT);
    assert_int_equal(db_asu_list_make(context, cubic, "", NAN, 1, &list), DB_ERROR_INPUT);
    if (!lacks_gemmi())
        assert_int_equal(db_asu_list_make(context, cubic, "tetragonal", 2, 1, &list),
                         DB_ERROR_INPUT);
    assert_null(list.hkl);
}

static void halves_are_drawn_by_chance(void **state) {
    (void)state;
    size_t second = 0, changes = 0;
    for (size_t shot = 0; shot < 4000; shot++) {
        second += (size_t)db_half_of_shot(7, shot);
        changes += db_half_of_shot(7, shot) != db_half_of_shot(7, shot + 1);
    }
    assert_in_range(second, 1900, 2100);
    assert_in_range(changes, 1900, 2100);
    assert_true(db_half_of_shot(7, 0) == db_half_of_shot(7, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reflections_are_numbered_by_the_group),
        cmocka_unit_test(absences_are_left_out_where_the_group_is_known),
        cmocka_unit_test(no_group_is_p1),
        cmocka_unit_test(impossible_lists_are_refused),
        cmocka_unit_test(halves_are_drawn_by_chance),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
