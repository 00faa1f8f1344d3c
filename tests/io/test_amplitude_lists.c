/* Lists of reflections: repeated and equivalent entries, systematic absences, what the numbers of a file
 * are, and how that agrees with the crystal. Each is compared with a direct expansion of the list. */
#define _POSIX_C_SOURCE 200809L
#include "support/expect.h"
#include "files_for_tests.h"
#include "mtz_for_tests.h"
#include "support/space_groups.h"

#include <dualbragg/io.h>
#include <dualbragg/reflections.h>
#include <dualbragg/version.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/symmetry.h>

#include <math.h>
#include <stdlib.h>

static db_structure_factors factors;
static char chosen[64], told[4000];

static void keep_notice(void *user, const char *line) {
    (void)user;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", line);
}

static db_status read_with(const char *path, const db_structure_factor_options *options) {
    free(factors.amplitude);
    memset(&factors, 0, sizeof factors);
    *told = '\0';
    db_context_set_notices(test_context(), keep_notice, NULL);
    return db_read_structure_factors(test_context(), path, options, &factors, chosen,
                                     sizeof chosen);
}

static db_status read_as(const char *path, const char *columns, const char *group) {
    const db_structure_factor_options options = { .columns = columns, .space_group = group };
    return read_with(path, &options);
}

static double amplitude(int h, int k, int l) {
    const int index[3] = { h, k, l };
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int from = index[i] - factors.min[i];
        if (from < 0 || from >= factors.extent[i]) return 0;
        at = at * (size_t)factors.extent[i] + (size_t)from;
    }
    return factors.amplitude[at];
}

static void expect_amplitude(int h, int k, int l, double expected) {
    const double found = amplitude(h, k, l);
    if (!(fabs(found - expected) <= 1e-5 * fabs(expected)))
        fail_msg("%d %d %d: expected %.9g, found %.9g", h, k, l, expected, found);
}

static void expect_told(const char *text) {
    if (!strstr(told, text)) fail_msg("expected '%s' in the notices '%s'", text, told);
}

#define P212121                                                                                    \
    { "X,Y,Z", "-X+1/2,-Y,Z+1/2", "X+1/2,-Y+1/2,-Z", "-X,Y+1/2,-Z+1/2" }
#define CELL_60 "CELL 50 60 70 90 90 90"

/* ---- repeated entries */

static void repeated_lines_become_their_mean(void **state) {
    (void)state;
    static const char *const orders[] = { "1 2 3 50\n1 2 3 60\n2 0 0 7\n",
                                          "2 0 0 7\n1 2 3 60\n1 2 3 50\n" };
    for (int i = 0; i < 2; i++) {
        expect_ok(test_context(), read_as(folder_text("t.hkl", orders[i]), NULL, NULL));
        expect_amplitude(1, 2, 3, 55);
        expect_amplitude(2, 0, 0, 7);
        assert_int_equal(factors.listed, 2);
        expect_told("3 entries of 2 reflections");
    }
    expect_ok(test_context(), read_as(folder_text("once.hkl", "1 2 3 50\n2 0 0 7\n"), NULL, NULL));
    assert_string_equal(told, "");
}

/* Lines of text in the reference's way: the last one wins. */
static void the_reference_takes_the_last_line(void **state) {
    (void)state;
    free(factors.amplitude);
    factors = (db_structure_factors){ .default_F = 0 };
    expect_ok(test_context(),
              db_read_hkl(test_context(), folder_text("t.hkl", "1 2 3 50\n1 2 3 60\n"), &factors));
    expect_amplitude(1, 2, 3, 60);
}

/* A pseudo-random list in every setting of a group, expanded one operator at a time. */
static void equivalent_entries_become_their_mean(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int rotation[4][9];
    } group = { "P 4",
                { { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
                  { 0, -1, 0, 1, 0, 0, 0, 0, 1 },
                  { -1, 0, 0, 0, -1, 0, 0, 0, 1 },
                  { 0, 1, 0, -1, 0, 0, 0, 0, 1 } } };
    enum { LINES = 300, MOST = 4, SIDE = 2 * MOST + 1 };
    static char text[LINES * 40];
    double sum[SIDE][SIDE][SIDE] = { 0 }, count[SIDE][SIDE][SIDE] = { 0 };
    unsigned seed = 1;
    size_t length = 0;
    for (int n = 0; n < LINES; n++) {
        int hkl[3];
        for (int i = 0; i < 3; i++) {
            seed = seed * 1103515245u + 12345u;
            hkl[i] = (int)(seed >> 16) % SIDE - MOST;
        }
        const int value = (int)(seed >> 20) % 1000;
        length += (size_t)snprintf(text + length, sizeof text - length, "%d %d %d %d\n", hkl[0],
                                   hkl[1], hkl[2], value);
        for (int o = 0; o < 4; o++) {
            const int *const r = group.rotation[o];
            int turned[3];
            for (int i = 0; i < 3; i++)
                turned[i] = hkl[0] * r[i] + hkl[1] * r[3 + i] + hkl[2] * r[6 + i] + MOST;
            sum[turned[0]][turned[1]][turned[2]] += value;
            count[turned[0]][turned[1]][turned[2]]++;
        }
    }
    expect_ok(test_context(), read_as(folder_text("p4.hkl", text), NULL, group.name));
    int compared = 0;
    for (int h = 0; h < SIDE; h++)
        for (int k = 0; k < SIDE; k++)
            for (int l = 0; l < SIDE; l++) {
                if (!(count[h][k][l] > 0)) continue;
                compared++;
                expect_amplitude(h - MOST, k - MOST, l - MOST, sum[h][k][l] / count[h][k][l]);
            }
    assert_true(compared > 400);
    expect_told("300 entries of");
}

/* Intensities are averaged, by weights of 1/sigma^2, before they become amplitudes. */
static void unmerged_intensities_are_weighted(void **state) {
    (void)state;
    static const float rows[] = { 1, 2, 3, 1, 1, 100, 1, /* of the mate: ISYM 2 */
                                  1, 2, 3, 1, 2, 400, 2, 1, 2, 3, 2, 3, 900, 3,
                                  1, 1, 1, 1, 4, -5,  1, 1, 1, 1, 1, 5, 9,   1 };
    const mtz_parts p = { .columns = "M/ISYM:Y BATCH:B I:J SIGI:Q",
                          .operators = P212121,
                          .width = 7,
                          .rows = rows,
                          .count = 5,
                          .records = { CELL_60 } };
    expect_ok(test_context(), read_as(mtz_file("unmerged.mtz", &p), NULL, NULL));
    expect_amplitude(1, 2, 3, sqrt((100 / 1. + 400 / 4.) / (1 / 1. + 1 / 4.)));
    expect_amplitude(-1, -2, -3, 30);
    expect_amplitude(-1, -2, 3, sqrt(160));
    expect_amplitude(1, -2, 3, 30);
    expect_amplitude(1, 1, 1, sqrt(2));
    expect_told("5 entries of 3 reflections: the repeated and equivalent entries of 2 of");
    expect_told("weighted");
    static const float part[] = { 1, 2, 3, 257, 1, 100, 1 };
    const mtz_parts parts = { .columns = "M/ISYM:Y BATCH:B I:J SIGI:Q",
                              .operators = P212121,
                              .width = 7,
                              .rows = part,
                              .count = 1 };
    expect_failure(test_context(), DB_ERROR_INPUT,
                   read_as(mtz_file("parts.mtz", &parts), NULL, NULL), "parts.mtz", "merge");
}

/* ---- systematic absences */

static void forbidden_reflections_are_dark(void **state) {
    (void)state;
    const char *const list = folder_text("absent.hkl", "0 0 4 5\n0 0 1 9000\n0 0 2 9\n1 1 1 3\n");
    const db_structure_factor_options options = { .space_group = "P 43 21 2" };
    expect_ok(test_context(), read_with(list, &options));
    expect_amplitude(0, 0, 1, 0);
    expect_amplitude(0, 0, -2, 0);
    expect_amplitude(0, 0, -4, 5);
    expect_amplitude(-1, 1, 1, 3);
    expect_told("2 of 4 reflections are systematically absent in P 43 21 2");
    factors.default_F = 8;
    expect_ok(test_context(), db_read_structure_factors(test_context(), list, &options, &factors,
                                                        chosen, sizeof chosen));
    expect_amplitude(0, 0, 3, 0);
    expect_amplitude(1, 1, 2, 8);
    static const float rows[] = { 1, 0, 0, 50, 1, 2, 0, 0, 60, 1, 1, 2, 3, 70, 1 };
    const mtz_parts p = {
        .columns = "F:F SIGF:Q", .operators = P212121, .width = 5, .rows = rows, .count = 3
    };
    expect_ok(test_context(), read_as(mtz_file("absent.mtz", &p), NULL, NULL));
    expect_amplitude(1, 0, 0, 0);
    expect_amplitude(2, 0, 0, 60);
    expect_told("1 of 3 reflections");
}

static void every_group_of_the_table_is_known(void **state) {
    (void)state;
    db_space_group *const group = malloc(sizeof *group);
    assert_non_null(group);
    for (size_t g = 0; g < KNOWN_GROUPS; g++) {
        const known_group *const known = &known_groups[g];
        int absent = 0, hkl[3];
        long sum = 0;
        expect_ok(test_context(), db_space_group_find(test_context(), known->name, group));
        assert_string_equal(group->name, known->name);
        assert_int_equal(group->number, known->number);
        assert_int_equal(group->symmetry.count, known->rotations);
        assert_int_equal(group->centring_count, known->points);
        for (hkl[0] = -6; hkl[0] <= 6; hkl[0]++)
            for (hkl[1] = -6; hkl[1] <= 6; hkl[1]++)
                for (hkl[2] = -6; hkl[2] <= 6; hkl[2]++) {
                    if (!db_space_group_absent(group, hkl)) continue;
                    absent++;
                    sum += hkl[0] * hkl[0] + 13 * hkl[1] * hkl[1] + 169 * hkl[2] * hkl[2];
                }
        if (absent != known->absent || sum != known->sum)
            fail_msg("%s: %d absences, expected %d", known->name, absent, known->absent);
    }
    free(group);
}

/* ---- groups and cells */

static void the_cell_chooses_what_a_name_leaves_open(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double cell[6];
        const char *setting;
    } cases[] = { { "R 3", { 80, 80, 80, 70, 70, 70 }, "R 3:R" },
                  { "R 3", { 80, 80, 200, 90, 90, 120 }, "R 3:H" },
                  { "R32", { 80, 80, 80, 100, 100, 100 }, "R 3 2:R" },
                  { "155", { 80, 80, 80, 100, 100, 100 }, "R 3 2:R" },
                  { "P 21", { 40, 50, 60, 90, 90, 104 }, "P 1 1 21" },
                  { "P 21", { 40, 50, 60, 90, 104, 90 }, "P 1 21 1" },
                  { "4", { 40, 50, 60, 104, 90, 90 }, "P 21 1 1" },
                  { "P 4 3 2", { 50, 50.2, 50, 90, 90, 90 }, "P 4 3 2" },
                  { "P 6", { 50, 50, 70, 90, 90, 120 }, "P 6" } };
    db_space_group *const group = malloc(sizeof *group);
    assert_non_null(group);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_ok(test_context(),
                  db_space_group_of_cell(test_context(), cases[i].name, cases[i].cell, group));
        assert_string_equal(group->name, cases[i].setting);
    }
    static const double oblong[6] = { 40, 50, 60, 90, 90, 90 };
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_space_group_of_cell(test_context(), "P432", oblong, group), "P 4 3 2",
                   "40 50 60", "50.0 %");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_space_group_of_cell(test_context(), "R 3:H", cases[0].cell, group), "R 3:H");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_space_group_of_cell(test_context(), "P 1 21 1", cases[4].cell, group),
                   "28.0 degree");
    const db_structure_factor_options contradicted = { .space_group = "P432", .cell = oblong };
    expect_failure(test_context(), DB_ERROR_INPUT,
                   read_with(folder_text("a.hkl", "1 2 3 4\n"), &contradicted), "P 4 3 2",
                   "40 50 60");
    const db_structure_factor_options rhombohedral = { .space_group = "R 3",
                                                       .cell = cases[0].cell };
    expect_ok(test_context(), read_with(folder_text("a.hkl", "1 2 3 4\n1 0 0 5\n"), &rhombohedral));
    expect_amplitude(3, 1, 2, 4);
    expect_amplitude(0, 0, -1, 5);
    free(group);
}

static void hall_symbols_are_read(void **state) {
    (void)state;
    static const char *const cases[][2] = { { " P 4nw 2abw", "P 43 21 2" },
                                            { " P 2", "P 1 1 2" },
                                            { " P 61 2 (x,y,z-1/12)", "P 61 2 2" },
                                            { "P 3*", "R 3:R" } };
    db_space_group *const group = malloc(sizeof *group);
    assert_non_null(group);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const db_status status = db_space_group_of_list(test_context(), cases[i][0], group);
        expect_ok(test_context(), status);
        assert_string_equal(group->name, cases[i][1]);
    }
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_space_group_of_list(test_context(), "Q 7", group), "Q 7");
    free(group);
}

/* ---- MTZ */

static void columns_are_taken_by_type(void **state) {
    (void)state;
    static const float rows[] = { 50, 1, 1, 2, 3, 60, 1, 2, 0, 2 };
    static const float last[] = { 3, 2, 1, 50, 1, 2, 0, 2, 60, 1 };
    static const float free_rows[] = { 0, 1, 2, 3, 50, 1, 4, 2, 0, 2, 60, 1 };
    const mtz_parts orders[] = {
        { .columns = "F:F SIGF:Q H:H K:H L:H",
          .operators = P212121,
          .width = 5,
          .rows = rows,
          .count = 2,
          .all = 1 },
        { .columns = "L:H K:H H:H F:F SIGF:Q",
          .operators = P212121,
          .width = 5,
          .rows = last,
          .count = 2,
          .all = 1 },
        { .columns = "FREE:I H:H K:H L:H F:F SIGF:Q",
          .operators = P212121,
          .width = 6,
          .rows = free_rows,
          .count = 2,
          .all = 1 },
        { .columns = "FREE:I HA:H KA:H LA:H F:F SIGF:Q",
          .operators = P212121,
          .width = 6,
          .rows = free_rows,
          .count = 2,
          .all = 1 },
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        expect_ok(test_context(), read_as(mtz_file("order.mtz", &orders[i]), NULL, NULL));
        assert_string_equal(chosen, "F");
        expect_amplitude(1, 2, 3, 50);
        expect_amplitude(-1, 2, -3, 50);
        expect_amplitude(2, 0, 2, 60);
        assert_int_equal(factors.listed, 8 + 4);
    }
    const mtz_parts intensities = { .columns = "I:J SIGI:Q H:H K:H L:H",
                                    .operators = P212121,
                                    .width = 5,
                                    .rows = rows,
                                    .count = 2,
                                    .all = 1 };
    expect_ok(test_context(), read_as(mtz_file("i.mtz", &intensities), NULL, NULL));
    expect_amplitude(1, 2, 3, sqrt(50));
    const mtz_parts two = { .columns = "F:F SIGF:Q H:H K:H M:R",
                            .operators = P212121,
                            .width = 5,
                            .rows = rows,
                            .count = 2,
                            .all = 1 };
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(mtz_file("two.mtz", &two), NULL, NULL),
                   "two.mtz", "type H", "found 2");
}

static void another_crystal_or_beam_is_named(void **state) {
    (void)state;
    static const float rows[] = { 1, 2, 3, 50, 1 };
    static const double near[6] = { 50.2, 59.8, 70, 90, 90.3, 90 },
                        far[6] = { 50, 60, 77, 90, 90, 90 };
    const mtz_parts p = { .columns = "F:F SIGF:Q",
                          .operators = P212121,
                          .width = 5,
                          .rows = rows,
                          .count = 1,
                          .records = { CELL_60, "PROJECT 1 p", "DCELL 1 50 60 70 90 90 90",
                                       "DWAVEL 1 0.9795" } };
    const char *const path = mtz_file("other.mtz", &p);
    db_structure_factor_options options = { .cell = near, .beam = 0.98 };
    expect_ok(test_context(), read_with(path, &options));
    assert_string_equal(told, "");
    options.cell = far;
    expect_ok(test_context(), read_with(path, &options));
    expect_told("other.mtz: its cell is 50 60 70 90 90 90, the crystal's is 50 60 77 90 90 90");
    options = (db_structure_factor_options){ .cell = near, .beam = 1.1 };
    expect_ok(test_context(), read_with(path, &options));
    expect_told("a wavelength of 0.9795 A, the beam's is 1.1 A");
    const char *const cif = folder_text(
        "other.cif", "data_x\n_cell.length_a 50\n_cell.length_b 60\n_cell.length_c 70\n"
                     "_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n"
                     "_diffrn_radiation_wavelength.wavelength 0.9795\n"
                     "_symmetry.space_group_name_H-M 'P 21 21 21'\nloop_\n_refln.index_h\n"
                     "_refln.index_k\n_refln.index_l\n_refln.F_meas_au\n1 2 3 50\n");
    options.cell = far;
    expect_ok(test_context(), read_with(cif, &options));
    expect_told("other.cif: its cell is");
    expect_told("a wavelength of 0.9795 A");
    const char *const cubic =
        folder_text("cubic.cif", "data_x\n_cell.length_a 50\n_cell.length_b 60\n_cell.length_c 70\n"
                                 "_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n"
                                 "_symmetry.space_group_name_H-M 'P 4 3 2'\nloop_\n_refln.index_h\n"
                                 "_refln.index_k\n_refln.index_l\n_refln.F_meas_au\n1 2 3 50\n");
    options = (db_structure_factor_options){ .cell = NULL };
    expect_ok(test_context(), read_with(cubic, &options));
    expect_told("cubic.cif: its space group P 4 3 2 contradicts its own cell");
    options.cell = near;
    expect_ok(test_context(), read_with(cubic, &options));
    expect_told("cubic.cif: its space group P 4 3 2 contradicts the crystal's cell");
}

/* ---- CIF */

#define HEAD                                                                                       \
    "_symmetry.space_group_name_H-M 'P 21 21 21'\nloop_\n_refln.index_h\n_refln.index_k\n"         \
    "_refln.index_l\n"

static void a_cif_list_is_merged(void **state) {
    (void)state;
    const char *const path =
        folder_text("dup.cif", "data_x\n" HEAD "_refln.F_meas_au\n_refln.F_meas_sigma_au\n"
                               "1 1 1 100 1\n1 2 3 50 1\n1 2 3 60 2\n-1 -2 3 90 1\n");
    expect_ok(test_context(), read_as(path, NULL, NULL));
    expect_amplitude(1, 2, 3, (50 + 60 / 4. + 90) / 2.25);
    expect_amplitude(1, -2, 3, (50 + 60 / 4. + 90) / 2.25);
    expect_amplitude(1, 1, 1, 100);
    expect_told("4 entries of 2 reflections");
    const char *const tiny =
        folder_text("tiny.cif", "data_x\n" HEAD "_refln.F_meas_au\n_refln.F_meas_sigma_au\n"
                                "1 2 3 50 1e-200\n1 2 3 60 1e-200\n");
    expect_ok(test_context(), read_as(tiny, NULL, NULL));
    expect_amplitude(1, 2, 3, 55);
}

static void one_of_several_wavelengths_is_asked_for(void **state) {
    (void)state;
    const char *const path =
        folder_text("mad.cif", "data_x\nloop_\n_diffrn_radiation_wavelength.id\n"
                               "_diffrn_radiation_wavelength.wavelength\n1 0.9\n2 1.2\n" HEAD
                               "_refln.wavelength_id\n_refln.crystal_id\n"
                               "_refln.F_meas_au\n_refln.F_calc\n1 2 3 1 1 50 5\n1 2 3 2 1 70 7\n"
                               "1 2 3 2 2 74 7\n");
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(path, NULL, NULL), "mad.cif",
                   "wavelength_id 1, 2", "-hkl_columns @1");
    expect_ok(test_context(), read_as(path, "@1", NULL));
    expect_amplitude(1, 2, 3, 50);
    const db_structure_factor_options options = { .columns = "@2", .beam = 0.9 };
    expect_ok(test_context(), read_with(path, &options));
    expect_amplitude(1, 2, 3, 72);
    expect_told("1.2 A");
    expect_told("reflections differ by crystal_id");
    expect_ok(test_context(), read_as(path, "x/F_calc@1", NULL));
    expect_amplitude(1, 2, 3, 5);
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(path, "@3", NULL), "wavelength_id 3",
                   "none");
}

static void what_was_not_observed_is_left_out(void **state) {
    (void)state;
    const char *const path =
        folder_text("status.cif", "data_x\n" HEAD "_refln.F_meas_au\n_refln.status\n1 1 1 100 o\n"
                                  "1 2 3 999 x\n2 1 1 888 -\n2 2 1 777 <\n2 2 2 666 h\n"
                                  "2 3 2 555 l\n3 3 2 ? ?\n3 3 3 . o\n3 1 2 44 f\n3 1 3 33 .\n");
    expect_ok(test_context(), read_as(path, NULL, NULL));
    assert_int_equal(factors.listed, 3 * 8);
    expect_amplitude(1, 1, 1, 100);
    expect_amplitude(3, 1, 2, 44);
    expect_amplitude(3, 1, 3, 33);
    expect_told("5 of 10 reflections are left out");
    expect_told("1 of status <");
}

static void what_is_no_number_in_a_list_is_named(void **state) {
    (void)state;
    static const struct {
        const char *row, *message;
    } bad[] = {
        { "1 2 3 1o0.0 1", "reflection 2: expected a number as F_meas_au, found '1o0.0'" },
        { "1 2 3 50,5 1", "expected a number as F_meas_au, found '50,5'" },
        { "1 2 3 1e999 1", "expected a number as F_meas_au, found '1e999'" },
        { "1 2 3 nan 1", "expected a number as F_meas_au, found 'nan'" },
        { "1 2 3 50 *****", "expected a number as F_meas_sigma_au, found '*****'" },
        { "1 2 3 ? *****", "expected a number as F_meas_sigma_au, found '*****'" },
        { "1 2.5 3 50 1", "reflection 2: expected a whole number as index_k, found '2.5'" },
        { "1 2 ? 50 1", "expected a whole number as index_l, found ''" },
    };
    char text[400];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "data_x\n" HEAD "_refln.F_meas_au\n_refln.F_meas_sigma_au\n1 1 1 100 1\n%s\n",
                 bad[i].row);
        expect_failure(test_context(), DB_ERROR_INPUT,
                       read_as(folder_text("bad.cif", text), NULL, NULL), "bad.cif",
                       bad[i].message);
    }
    const char *const fine =
        folder_text("fine.cif", "data_x\n" HEAD "_refln.F_meas_au\n_refln.F_meas_sigma_au\n"
                                "1 1 1 100(2) 1\n1 2 3 . .\n2 1 1 50 ?\n");
    expect_ok(test_context(), read_as(fine, NULL, NULL));
    expect_amplitude(1, 1, 1, 100);
    expect_amplitude(2, 1, 1, 50);
    assert_int_equal(factors.listed, 2 * 8);
}

#define CELL_WITH(b)                                                                               \
    "data_x\n_cell.length_a 30\n_cell.length_b " b "\n_cell.length_c 50\n_cell.angle_alpha 90\n"   \
    "_cell.angle_beta 90\n_cell.angle_gamma 90\n" HEAD "_refln.F_meas_au\n1 1 1 100\n"

static void a_cell_is_known_with_six_numbers(void **state) {
    (void)state;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   read_as(folder_text("cell.cif", CELL_WITH("abc")), NULL, NULL), "cell.cif",
                   "_cell.length_b: expected a number, found 'abc'");
    static const double cell[6] = { 60, 40, 50, 90, 90, 90 };
    const db_structure_factor_options options = { .cell = cell };
    expect_ok(test_context(), read_with(folder_text("cell.cif", CELL_WITH("40")), &options));
    expect_told("its cell is 30 40 50 90 90 90");
    expect_ok(test_context(), read_with(folder_text("cell.cif", CELL_WITH("?")), &options));
    assert_string_equal(told, "");
    expect_ok(test_context(), read_as(folder_path("cell.cif"), NULL, NULL));
    assert_string_equal(told, "");
}

static void one_of_several_blocks_is_asked_for(void **state) {
    (void)state;
    const char *const path =
        folder_text("two.cif", "data_first\n" HEAD "_refln.F_meas_au\n1 1 1 11\n1 2 3 12\n"
                               "data_second\n" HEAD "_refln.F_meas_au\n_refln.F_calc\n"
                               "1 1 1 100 101\n2 1 1 70 71\ndata_empty\n_cell.length_a 3\n");
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(path, NULL, NULL), "two.cif",
                   "first, second", "-hkl_columns");
    expect_ok(test_context(), read_as(path, "first/", NULL));
    expect_amplitude(1, 2, 3, 12);
    expect_ok(test_context(), read_as(path, "second/F_calc", NULL));
    expect_amplitude(1, 1, 1, 101);
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(path, "third/", NULL), "first, second");
}

/* Names of the core dictionary, as SHELXL writes them, the cell between them and a table of the same
 * beginning. */
static void small_molecules_are_read(void **state) {
    (void)state;
    const char *const path = folder_text(
        "small.fcf",
        "data_small\n_symmetry_space_group_name_H-M 'P 21/c'\n_cell_length_a 10\n_cell_length_b "
        "12\n_cell_length_c 14\n_cell_angle_alpha 90\n_cell_angle_beta 100\n_cell_angle_gamma "
        "90\n_diffrn_radiation_wavelength 0.71073\nloop_\n_space_group_symop_operation_xyz\n'x, y, "
        "z'\n'-x, y+1/2, -z+1/2'\n'-x, -y, -z'\n'x, -y-1/2, z-1/2'\nloop_\n _refln_index_h\n "
        "_refln_index_k\n _refln_index_l\n _refln_F_squared_calc\n _refln_F_squared_meas\n "
        "_refln_F_squared_sigma\n _refln_observed_status\n 2 0 0 100 104 2 o\n 0 2 0 49 48 2 o\n 1 "
        "1 1 25 26 2 o\n1 0 1 25 0.1 2 <\n0 3 0 1 5 1 o\n");
    static const double cell[6] = { 10, 12, 14, 90, 100, 90 };
    const db_structure_factor_options options = { .cell = cell, .beam = 1 };
    expect_ok(test_context(), read_with(path, &options));
    assert_string_equal(chosen, "F_squared_meas (intensities)");
    expect_amplitude(2, 0, 0, sqrt(104));
    expect_amplitude(-1, 1, -1, sqrt(26));
    expect_amplitude(0, 3, 0, 0);
    expect_told("1 of 4 reflections are systematically absent in P 21/c");
    expect_told("0.71073 A");
    assert_null(strstr(told, "cell"));
    expect_ok(test_context(), read_as(path, "F_squared_calc", NULL));
    expect_amplitude(2, 0, 0, 10);
    const char *const pairs =
        folder_text("pairs.cif", "data_x\n" HEAD "_refln.pdbx_F_plus\n_refln.pdbx_F_plus_sigma\n"
                                 "_refln.pdbx_F_minus\n_refln.pdbx_F_minus_sigma\n"
                                 "1 2 3 40 1 50 1\n");
    expect_ok(test_context(), read_as(pairs, NULL, NULL));
    expect_amplitude(1, 2, 3, 40);
    expect_amplitude(-1, -2, -3, 50);
}

/* ---- SHELX */

static void lists_of_shelx_are_intensities(void **state) {
    (void)state;
    static const char list[] =
        "  -1 -10 -12-9999.99 1000.00   1\n   1   0   2  100.00   10.00   1\n"
        "   1   0   2  400.00   20.00   2\n -10 -11 -12 5000.25  100.00   2\n";
    char text[400];
    snprintf(text, sizeof text, "%s   0   0   0    0.00    0.00   0\nTITL what follows\n", list);
    const char *const path = folder_text("shelx.hkl", text);
    expect_ok(test_context(), read_as(path, NULL, NULL));
    assert_string_equal(chosen, "a list of SHELX, intensities");
    expect_amplitude(1, 0, 2, sqrt(160));
    expect_amplitude(-10, -11, -12, sqrt(5000.25));
    expect_amplitude(-1, -10, -12, 0);
    assert_int_equal(factors.listed, 3);
    expect_ok(test_context(), read_as(path, "F", NULL));
    expect_amplitude(1, 0, 2, 160);
    expect_ok(test_context(), read_as(path, NULL, "P -1"));
    expect_amplitude(10, 11, 12, sqrt(5000.25));
    expect_failure(
        test_context(), DB_ERROR_INPUT,
        read_as(folder_text("far.hkl", "1e32   0   2  100.00   10.00   1\n"), NULL, NULL),
        "far.hkl:1", "for h, found '1e32'");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   read_as(folder_text("open.hkl", list), NULL, NULL), "open.hkl", "no end mark",
                   "-hkl_columns I");
    expect_ok(test_context(), read_as(folder_path("open.hkl"), "I", NULL));
    expect_amplitude(1, 0, 2, sqrt(160));
}

static void doubtful_lines_are_asked_for(void **state) {
    (void)state;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   read_as(folder_text("n.hkl", "1 2 3 50 2\n1 0 0 -3 2\n"), NULL, NULL), "n.hkl",
                   "negative", "-hkl_columns");
    expect_ok(test_context(), read_as(folder_path("n.hkl"), "I", NULL));
    expect_amplitude(1, 2, 3, sqrt(50));
    expect_amplitude(1, 0, 0, 0);
    expect_ok(test_context(), read_as(folder_text("f.hkl", "1 2 3 50 2\n"), NULL, NULL));
    expect_amplitude(1, 2, 3, 50);
    assert_string_equal(chosen, "");
}

int main(void) {
    const struct CMUnitTest without[] = {
        cmocka_unit_test(repeated_lines_become_their_mean),
        cmocka_unit_test(the_reference_takes_the_last_line),
        cmocka_unit_test(doubtful_lines_are_asked_for),
    };
    if (!strstr(db_features(), "gemmi"))
        return cmocka_run_group_tests(without, folder_setup, folder_teardown);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_lines_become_their_mean),
        cmocka_unit_test(the_reference_takes_the_last_line),
        cmocka_unit_test(equivalent_entries_become_their_mean),
        cmocka_unit_test(unmerged_intensities_are_weighted),
        cmocka_unit_test(forbidden_reflections_are_dark),
        cmocka_unit_test(every_group_of_the_table_is_known),
        cmocka_unit_test(the_cell_chooses_what_a_name_leaves_open),
        cmocka_unit_test(hall_symbols_are_read),
        cmocka_unit_test(columns_are_taken_by_type),
        cmocka_unit_test(another_crystal_or_beam_is_named),
        cmocka_unit_test(a_cif_list_is_merged),
        cmocka_unit_test(one_of_several_wavelengths_is_asked_for),
        cmocka_unit_test(what_was_not_observed_is_left_out),
        cmocka_unit_test(what_is_no_number_in_a_list_is_named),
        cmocka_unit_test(a_cell_is_known_with_six_numbers),
        cmocka_unit_test(one_of_several_blocks_is_asked_for),
        cmocka_unit_test(small_molecules_are_read),
        cmocka_unit_test(lists_of_shelx_are_intensities),
        cmocka_unit_test(doubtful_lines_are_asked_for),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
