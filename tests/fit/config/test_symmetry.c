/* Cells that keep their symmetry: the table, what names say, and configurations. */

#include "support/space_groups.h"
#include "support/unit_test.h"
#include "support/notices.h"
#include "fit/config/crystal_system.h"
#include "fit/config/config_refine.h"
#include "fit/config/listed_experiment.h"
#include "fit/scratch_file.h"
#include "fit/synthetic_result.h"

#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/io.h>
#include <dualbragg/version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static synthetic made_up;
static db_fit_config config;
static db_experiment start;
static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    return synthetic_make(context, &made_up) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    synthetic_clear(&made_up);
    db_context_destroy(&context);
    return 0;
}

static const double right[6] = { 10, 11, 12, 90, 90, 90 }, slanted[6] = { 10, 11, 12, 90, 97, 90 },
                    slanted_c[6] = { 10, 11, 12, 90, 90, 97 },
                    slanted_a[6] = { 10, 11, 12, 97, 90, 90 },
                    hexagonal[6] = { 10, 10, 12, 90, 90, 120 },
                    rhombohedral[6] = { 10, 10, 10, 80, 80, 80 };

static void names_mean_their_systems(void **state) {
    (void)state;
    static const struct {
        const char *symmetry;
        const double *cell;
        const char *name;
    } cases[] = {
        { "triclinic", right, "triclinic" },
        { "aP", right, "triclinic" },
        { "1", right, "triclinic" },
        { "P -1", right, "triclinic" },
        { "monoclinic", slanted, "monoclinic, unique axis b" },
        { "monoclinic", slanted_a, "monoclinic, unique axis a" },
        { "mC", slanted_c, "monoclinic, unique axis c" },
        { "4", right, "monoclinic, unique axis b" },
        { "P 21", slanted_c, "monoclinic, unique axis c" },
        { "P 1 21 1", slanted_c, "monoclinic, unique axis b" },
        { "P1211", slanted, "monoclinic, unique axis b" },
        { "C2", slanted, "monoclinic, unique axis b" },
        { "P 1 1 21", slanted, "monoclinic, unique axis c" },
        { "P 2 1 1", slanted, "monoclinic, unique axis a" },
        { "P 1 21/c 1", slanted, "monoclinic, unique axis b" },
        { "C c", slanted, "monoclinic, unique axis b" },
        { "orthorhombic", right, "orthorhombic" },
        { "oF", right, "orthorhombic" },
        { "19", right, "orthorhombic" },
        { "P 21 21 21", right, "orthorhombic" },
        { "P212121", right, "orthorhombic" },
        { "P 2 2 2", right, "orthorhombic" },
        { "P n a 21", right, "orthorhombic" },
        { "C m c m", right, "orthorhombic" },
        { "tetragonal", right, "tetragonal" },
        { "tI", right, "tetragonal" },
        { "96", right, "tetragonal" },
        { "P 43 21 2", right, "tetragonal" },
        { "P4322", right, "tetragonal" },
        { "P 43", right, "tetragonal" },
        { "I -4 2 d", right, "tetragonal" },
        { "trigonal", hexagonal, "hexagonal axes" },
        { "trigonal", rhombohedral, "rhombohedral axes" },
        { "152", hexagonal, "hexagonal axes" },
        { "P 31 2 1", rhombohedral, "hexagonal axes" },
        { "hR", rhombohedral, "rhombohedral axes" },
        { "hR", hexagonal, "hexagonal axes" },
        { "R 3 :H", rhombohedral, "hexagonal axes" },
        { "R 3 2 :R", hexagonal, "rhombohedral axes" },
        { "155", rhombohedral, "rhombohedral axes" },
        { "hexagonal", hexagonal, "hexagonal axes" },
        { "hP", hexagonal, "hexagonal axes" },
        { "178", hexagonal, "hexagonal axes" },
        { "P 61 2 2", hexagonal, "hexagonal axes" },
        { "P -6 m 2", hexagonal, "hexagonal axes" },
        { "cubic", right, "cubic" },
        { "cI", right, "cubic" },
        { "I 2 3", right, "cubic" },
        { "P 21 3", right, "cubic" },
        { "P 41 3 2", right, "cubic" },
        { "P4332", right, "cubic" },
        { "F m -3 m", right, "cubic" },
        { "I a -3 d", right, "cubic" },
        { "P -4 3 m", right, "cubic" },
        { "230", right, "cubic" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const db_cell_ties *const ties = db_cell_ties_of(cases[i].symmetry, cases[i].cell);
        if (!ties || strcmp(ties->name, cases[i].name) != 0)
            fail_msg("%s is %s, expected %s", cases[i].symmetry, ties ? ties->name : "nothing",
                     cases[i].name);
    }
    static const char *const nonsense[] = { "",           "0",   "231", "-3",  "tX",  "xP",
                                            "tetragonol", "P q", "P",   "R 4", "Z 2", "1e3" };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        if (db_cell_ties_of(nonsense[i], right)) fail_msg("'%s' means something", nonsense[i]);
}

/* The axis that is not 1 in "P 1 21 1": 0, 1, 2. */
static int unique_axis(const char *name) {
    int axis = 0;
    for (const char *c = strchr(name, ' ') + 1; c[0] == '1' && c[1] == ' '; c += 2) axis++;
    return axis;
}

/* Every symbol of gemmi's table, with and without blanks. */
static void symbols_of_all_groups_mean_their_systems(void **state) {
    (void)state;
    static const double cell[6] = { 50, 50, 50, 90, 90, 90 };
    static const char systems[] = "amotrhc";
    static const char *const expected[] = { "triclinic", "monoclinic", "orthorhombic", "tetragonal",
                                            "hexagonal", "hexagonal",  "cubic" };
    for (size_t g = 0; g < 2 * KNOWN_GROUPS; g++) {
        const known_group *const known = &known_groups[g / 2];
        char name[40], wanted[40];
        size_t n = 0;
        for (const char *c = known->name; *c; c++)
            if (g % 2 == 0 || *c != ' ') name[n++] = *c;
        name[n] = '\0';
        const db_cell_ties *const ties = db_cell_ties_of(name, cell);
        snprintf(wanted, sizeof wanted, "%s",
                 strstr(name, ":R") ? "rhombohedral"
                                    : expected[strchr(systems, known->system) - systems]);
        if (known->system == 'm')
            snprintf(wanted, sizeof wanted, "monoclinic, unique axis %c",
                     "abc"[unique_axis(known->name)]);
        if (!ties || strncmp(ties->name, wanted, strlen(wanted)) != 0)
            fail_msg("%s is %s, expected %s", name, ties ? ties->name : "nothing", wanted);
        for (int is_small = 0; is_small < 2; is_small++) {
            if (is_small) *name = (char)(*name - 'A' + 'a');
            if (db_cell_ties_of(name, cell) && db_lattice_letter(name) != *known->name)
                fail_msg("%s: lattice '%c'", name, db_lattice_letter(name));
        }
    }
}

static void cells_become_regular(void **state) {
    (void)state;
    double edge, angle, cell[6] = { 10.02, 9.98, 12, 90.1, 89.8, 119.7 };
    db_cell_regularize(db_cell_ties_of("P 61 2 2", cell), cell, &edge, &angle);
    const double expected[6] = { 10, 10, 12, 90, 90, 120 };
    for (int i = 0; i < 6; i++) assert_true(fabs(cell[i] - expected[i]) < 1e-12);
    assert_true(fabs(edge - 0.02 / 9.98) < 1e-9 && fabs(angle - 0.3) < 1e-9);
    double third[6] = { 10, 10.3, 9.7, 80, 80.3, 79.7 };
    db_cell_regularize(db_cell_ties_of("hR", third), third, &edge, &angle);
    for (int i = 0; i < 6; i++) assert_true(fabs(third[i] - (i < 3 ? 10 : 80)) < 1e-12);
}

/* Reads model and refinement, and starts; returns the status. */
static db_status begin(const char *model, const char *rest) {
    char text[1024];
    snprintf(text, sizeof text, "image: none.cbf\nmodel: {%s}\n%s\n", model, rest);
    db_experiment_clear(&start);
    notices[0] = '\0';
    const db_status status =
        db_fit_config_read(context, scratch_file("symmetry.yaml", text), NULL, 0, &config);
    if (status != DB_OK) fail_msg("%s", db_context_message(context));
    return db_fit_config_start(context, &config, &made_up.image, &start, keep_notice, NULL);
}

static const db_fit_parameter *refined(db_parameter p) {
    for (size_t i = 0; i < config.settings.parameter_count; i++)
        if (config.settings.parameters[i].parameter == p) return &config.settings.parameters[i];
    return NULL;
}

static void only_what_symmetry_leaves_free_is_refined(void **state) {
    (void)state;
    assert_int_equal(begin("cell: [58.1, 58.5, 152, 90, 90, 90.2], symmetry: P 43 21 2",
                           "refine: {cell_a: {range: 1}, cell_b: {range: 2}, cell_c: , "
                           "cell_gamma: {range: 1}, misset_x: }\n"
                           "stages: [{refine: [cell_a, cell_gamma], tolerance: 0.01}]"),
                     DB_OK);
    assert_true(fabs(start.crystal.cell[0] - 58.3) < 1e-9 &&
                start.crystal.cell[0] == start.crystal.cell[1] && start.crystal.cell[5] == 90);
    assert_int_equal(config.settings.parameter_count, 4);
    assert_int_equal(refined(DB_CELL_A)->follows.number, -1);
    assert_true(fabs(refined(DB_CELL_A)->lower - 57.3) < 1e-9);
    assert_int_equal(refined(DB_CELL_B)->follows.number, DB_CELL_A);
    assert_null(refined(DB_CELL_GAMMA));
    assert_true(db_fit_parameter_in_stage(refined(DB_CELL_B), 0));
    assert_false(db_fit_parameter_in_stage(refined(DB_CELL_C), 0));
    assert_non_null(strstr(notices, "made regular for P 43 21 2 (tetragonal)"));
    assert_non_null(strstr(notices, "cell_gamma: not refined, tetragonal fixes it at 90"));
    assert_non_null(strstr(notices, "cell_b: follows cell_a (tetragonal), so its own range, bounds "
                                    "and prior are not used; give them to cell_a"));
    assert_int_equal(begin("cell: [58, 58, 152, 90, 90, 90], symmetry: tP",
                           "refine: {cell_a: {prior: [58, 0.1]}, cell_b: {prior: [70, 0.1]}}"),
                     DB_OK);
    assert_non_null(strstr(notices, "cell_b: follows cell_a"));
    assert_int_equal(begin("cell: [58, 58, 152, 90, 90, 90], symmetry: tP",
                           "refine: {cell_a: {range: 2}, cell_b: {range: 2}, cell_c: }"),
                     DB_OK);
    assert_null(strstr(notices, "follows"));
}

static void ties_are_added_where_they_are_missing(void **state) {
    (void)state;
    assert_int_equal(begin("cell: [60, 60, 60, 85, 85, 85], symmetry: R 3 :R",
                           "refine: {cell_c: {range: 2}, cell_beta: {range: 3}}"),
                     DB_OK);
    assert_int_equal(config.settings.parameter_count, 6);
    assert_int_equal(refined(DB_CELL_A)->follows.number, -1);
    assert_true(fabs(refined(DB_CELL_A)->upper - 62) < 1e-9);
    assert_int_equal(refined(DB_CELL_B)->follows.number, DB_CELL_A);
    assert_int_equal(refined(DB_CELL_C)->follows.number, DB_CELL_A);
    assert_int_equal(refined(DB_CELL_ALPHA)->follows.number, -1);
    assert_true(fabs(refined(DB_CELL_ALPHA)->lower - 82) < 1e-9);
    assert_int_equal(refined(DB_CELL_GAMMA)->follows.number, DB_CELL_ALPHA);
    assert_null(strstr(notices, "cell"));

    assert_int_equal(begin("cell: [60, 61, 62, 90, 99, 90], symmetry: mP",
                           "refine: {cell_a: , cell_b: , cell_c: , cell_alpha: , cell_beta: }"),
                     DB_OK);
    assert_int_equal(config.settings.parameter_count, 4);
    assert_non_null(refined(DB_CELL_BETA));
    assert_null(refined(DB_CELL_ALPHA));

    /* nothing of the cell is refined: nothing is tied */
    assert_int_equal(
        begin("cell: [60, 60, 60, 90, 90, 90], symmetry: cubic", "refine: {misset_x: }"), DB_OK);
    assert_int_equal(config.settings.parameter_count, 1);
}

/* Where nothing is named to be refined, a right angle stays right, unless a named symmetry leaves it free. */
static void right_angles_are_free_if_the_symmetry_says_so(void **state) {
    (void)state;
    static const struct {
        const char *symmetry;
        int free[3];
    } cases[] = { { "triclinic", { 1, 1, 1 } },    { "P 1", { 1, 1, 1 } },
                  { "P 1 21 1", { 0, 1, 0 } },     { "P 1 1 2", { 0, 0, 1 } },
                  { "orthorhombic", { 0, 0, 0 } }, { "", { 0, 0, 0 } } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char model[150];
        snprintf(model, sizeof model,
                 "cell: [58, 63, 72, 90, 90, 90], misset: [1, 2, 3], find_orientation: no%s%s",
                 *cases[i].symmetry ? ", symmetry: " : "", cases[i].symmetry);
        if (begin(model, "") != DB_OK) fail_msg("%s: %s", model, db_context_message(context));
        for (int k = 0; k < 3; k++)
            assert_int_equal(refined((db_parameter)(DB_CELL_ALPHA + k)) != NULL, cases[i].free[k]);
    }
}

/* The letter of the lattice is the space group's, however its symbol is written. */
static void a_symbol_names_its_centring(void **state) {
    (void)state;
    static const char right_cell[] = "58, 63, 72, 90, 90, 90", cubic[] = "58, 58, 58, 90, 90, 90",
                      hexagonal_cell[] = "58, 58, 72, 90, 90, 120",
                      slanted_cell[] = "58, 63, 72, 90, 99, 90";
    static const struct {
        const char *symmetry, *cell;
        char letter;
    } cases[] = {
        { "I 2 2 2", right_cell, 'I' },
        { "i 2 2 2", right_cell, 'I' },
        { "i222", right_cell, 'I' },
        { "oI", right_cell, 'I' },
        { "P 2 2 2", right_cell, 'P' },
        { "f222", right_cell, 'F' },
        { "C2221a)", right_cell, 'C' },
        { "P21212(a)", right_cell, 'P' },
        { "I23a", cubic, 'I' },
        { "cF", cubic, 'F' },
        { "c2", slanted_cell, 'C' },
        { "mC", slanted_cell, 'C' },
        { "c 1 2 1", slanted_cell, 'C' },
        { "R 3", hexagonal_cell, 'R' },
        { "R 3 :H", hexagonal_cell, 'R' },
        { "H 3", hexagonal_cell, 'R' },
        { "h 3 2", hexagonal_cell, 'R' },
        { "H32", hexagonal_cell, 'R' },
        { "hR", hexagonal_cell, 'R' },
        { "hP", hexagonal_cell, 'P' },
        { "orthorhombic", right_cell, 0 },
        { "anorthic", slanted_cell, 0 },
        { "cubic", cubic, 0 },
        { "hexagonal", hexagonal_cell, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char model[150];
        snprintf(model, sizeof model, "cell: [%s], symmetry: \"%s\"", cases[i].cell,
                 cases[i].symmetry);
        if (begin(model, "refine: {misset_x: }") != DB_OK)
            fail_msg("%s: %s", model, db_context_message(context));
        if (config.settings.centring != cases[i].letter)
            fail_msg("%s: centring '%c', expected '%c'", cases[i].symmetry,
                     config.settings.centring, cases[i].letter);
    }
}

static void a_cell_that_contradicts_is_refused(void **state) {
    (void)state;
    assert_int_equal(begin("cell: [58, 60, 152, 90, 90, 90], symmetry: 96", "refine: {cell_a: }"),
                     DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "contradicts 96 (tetragonal)"));
    assert_int_equal(begin("cell: [58, 58, 152, 90, 90, 92], symmetry: tP", "refine: {cell_a: }"),
                     DB_ERROR_INPUT);
    assert_int_equal(
        begin("cell: [58, 60, 152, 90, 90, 90], symmetry: tetragonal", "refine: {cell_a: }"),
        DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "contradicts tetragonal: edges"));
    snprintf(config.symmetry, sizeof config.symmetry, "tY"); /* which reading would refuse */
    assert_int_equal(db_fit_config_start(context, &config, &made_up.image, &start, NULL, NULL),
                     DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "model.symmetry: 'tY' is no symmetry"));
    memset(&start, 0, sizeof start);
}

/* An experiment list of the synthetic detector, with this cell and Hall symbol. */
static const char *list_with(const double cell[6], const char *hall) {
    const char *const path = scratch_path("list.expt");
    assert_int_equal(begin("cell: [60, 60, 60, 90, 90, 90]", "refine: {cell_a: }"), DB_OK);
    memcpy(start.crystal.cell, cell, sizeof start.crystal.cell);
    if (db_write_expt(context, path, &start, NULL) != DB_OK)
        fail_msg("%s", db_context_message(context));
    char *const text = read_whole_file(path);
    assert_non_null(text);
    char *const symbol = strstr(text, "\" P 1\"");
    assert_non_null(symbol);
    const size_t room = strlen(text) + strlen(hall) + 3;
    char *const changed = malloc(room);
    assert_non_null(changed);
    snprintf(changed, room, "%.*s\"%s\"%s", (int)(symbol - text), text, hall, symbol + 6);
    scratch_file("list.expt", changed);
    free(changed);
    free(text);
    return path;
}

static db_status begin_listed(const char *more) {
    char model[200];
    snprintf(model, sizeof model, "expt: list.expt%s", more);
    return begin(model, "refine: {cell_a: , cell_b: , cell_c: }");
}

static void the_group_of_a_list_is_taken(void **state) {
    (void)state;
    static const double square[6] = { 58, 58, 152, 90, 90, 90 },
                        oblong[6] = { 58, 63, 152, 90, 90, 90 };
    db_context_set_notices(context, keep_notice, NULL);
    list_with(square, " P 4nw 2abw");
    if (begin_listed("") != DB_OK) fail_msg("%s", db_context_message(context));
    assert_string_equal(config.symmetry, "P 43 21 2");
    assert_non_null(strstr(notices, "symmetry: P 43 21 2, as "));
    const size_t b = db_fit_parameter_index(
        &config.settings,
        db_fit_quantity_of(&(db_fit_parameter){ .parameter = DB_CELL_B, .group = -1 }));
    assert_true(b < config.settings.parameter_count);
    assert_true(db_fit_parameter_is_tied(&config.settings.parameters[b]));
    list_with(square, "96"); /* as XPARM.XDS says it */
    assert_int_equal(begin_listed(""), DB_OK);
    assert_string_equal(config.symmetry, "P 43 21 2");
    assert_int_equal(config.settings.centring, 'P');
    list_with(square, " I 4");
    assert_int_equal(begin_listed(""), DB_OK);
    assert_int_equal(config.settings.centring, 'I');
    static const double trigonal[6] = { 58, 58, 152, 90, 90, 120 };
    list_with(trigonal, " R 3");
    assert_int_equal(begin_listed(""), DB_OK);
    assert_int_equal(config.settings.centring, 'R');
    list_with(square, "96");
    /* another one that the user names */
    assert_int_equal(begin_listed(", symmetry: triclinic"), DB_OK);
    assert_string_equal(config.symmetry, "triclinic");
    /* one that the cell cannot have, and none */
    list_with(oblong, " P 4nw 2abw");
    assert_int_equal(begin_listed(""), DB_OK);
    assert_string_equal(config.symmetry, "");
    assert_non_null(strstr(notices, "list.expt: its space group ' P 4nw 2abw' is not used"));
    assert_non_null(strstr(notices, "58 63 152"));
    /* written lists keep one of no table */
    list_with(square, " P 2 (x+1/12,y,z)");
    assert_int_equal(begin_listed(""), DB_OK);
    assert_string_equal(config.symmetry, "");
    assert_string_equal(db_listed_group(&config), " P 2 (x+1/12,y,z)");
    assert_int_equal(begin_listed(", symmetry: triclinic"), DB_OK);
    assert_string_equal(db_listed_group(&config), "triclinic");
    list_with(oblong, " P 1");
    assert_int_equal(begin_listed(""), DB_OK);
    assert_string_equal(config.symmetry, "");
    assert_null(strstr(notices, "symmetry"));
    db_context_set_notices(context, NULL, NULL);
}

/* R 3 of a rhombohedral cell has the operators of those axes. */
static void the_group_of_amplitudes_suits_the_cell(void **state) {
    (void)state;
    scratch_file("some.hkl", "1 2 3 4\n");
    const char intensity[] = "refine: {cell_a: }\nintensity: {hkl: some.hkl, hkl_space_group: R 3}";
    const db_status status = begin("cell: [60, 60, 60, 85, 85, 85]", intensity);
    if (status != DB_OK) fail_msg("%s", db_context_message(context));
    assert_string_equal(config.settings.amplitude_group, "R 3:R");
    assert_int_equal(begin("cell: [60, 61, 70, 85, 95, 85]", intensity), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "contradicts the cell"));
    memset(&start, 0, sizeof start);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_mean_their_systems),
        cmocka_unit_test(symbols_of_all_groups_mean_their_systems),
        cmocka_unit_test(cells_become_regular),
        cmocka_unit_test(only_what_symmetry_leaves_free_is_refined),
        cmocka_unit_test(ties_are_added_where_they_are_missing),
        cmocka_unit_test(right_angles_are_free_if_the_symmetry_says_so),
        cmocka_unit_test(a_symbol_names_its_centring),
        cmocka_unit_test(a_cell_that_contradicts_is_refused),
    };
    const struct CMUnitTest with_tables[] = {
        cmocka_unit_test(the_group_of_a_list_is_taken),
        cmocka_unit_test(the_group_of_amplitudes_suits_the_cell),
    };
    const char *const features = db_features();
    if (strstr(features, "gemmi") && strstr(features, "JSON") &&
        cmocka_run_group_tests(with_tables, make, drop) != 0)
        return 1;
    return cmocka_run_group_tests(tests, make, drop);
}
