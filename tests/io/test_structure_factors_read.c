/* Structure factors from MTZ and mmCIF files and from asymmetric units, on the whole sphere. */
#define _POSIX_C_SOURCE 200809L
#include "support/expect.h"
#include "files_for_tests.h"
#include "mtz_for_tests.h"
#include "io/reflections/gemmi_files.h"
#include "model/amplitude_box.h"

#include <dualbragg/io.h>
#include <dualbragg/version.h>
#include <dualbragg/expert/symmetry.h>

#include <math.h>
#include <stdlib.h>

static db_structure_factors factors;
static char chosen[64];

static db_status read_as(const char *path, const char *columns, const char *group) {
    const db_structure_factor_options options = { .columns = columns, .space_group = group };
    factors.default_F = -1;
    return db_read_structure_factors(test_context(), path, &options, &factors, chosen,
                                     sizeof chosen);
}

static double amplitude(int h, int k, int l) {
    const int index[3] = { h, k, l };
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int from = index[i] - factors.min[i];
        if (from < 0 || from >= factors.extent[i]) return -1;
        at = at * (size_t)factors.extent[i] + (size_t)from;
    }
    return factors.amplitude[at];
}

static void forget(void) {
    free(factors.amplitude);
    memset(&factors, 0, sizeof factors);
}

/* P 3: x,y,z; -y,x-y,z; -x+y,-x,z turns (h,k,l) to (k,-h-k,l) and (-h-k,h,l). */
static const float three_rows[] = { 1, 2, 3, 50, 1, -999, 7, 2, 0, 1, 70,  2, 33, NAN,
                                    0, 0, 4, 25, 1, 16,   9, 3, 1, 1, NAN, 1, 4,  5 };
#define P3                                                                                         \
    { "x,y,z", "-y, x-y, z", "-X+Y,-X,Z", NULL }

static void an_mtz_file_is_expanded_by_its_operators(void **state) {
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        const mtz_parts p = { .columns = "FP:F SIGFP:Q I:J M:R",
                              .operators = P3,
                              .width = 7,
                              .rows = three_rows,
                              .count = 4,
                              .big_endian = big_endian };
        const char *path = mtz_file("p3.mtz", &p);
        expect_ok(test_context(), read_as(path, NULL, NULL));
        assert_string_equal(chosen, "FP");
        assert_true(amplitude(1, 2, 3) == 50 && amplitude(2, -3, 3) == 50 &&
                    amplitude(-3, 1, 3) == 50);
        assert_true(amplitude(-1, -2, -3) == 50 && amplitude(3, -1, -3) == 50);
        assert_true(amplitude(2, 1, 3) == -1 && amplitude(1, 2, -3) == -1);
        assert_true(amplitude(0, 0, 4) == 25 && amplitude(0, 0, -4) == 25);
        assert_true(amplitude(3, 1, 1) == -1); /* no value */
        forget();
        expect_ok(test_context(), read_as(path, "I", NULL));
        assert_string_equal(chosen, "I (intensities)");
        assert_true(amplitude(0, 0, 4) == 4 && amplitude(3, 1, 1) == 2);
        assert_true(amplitude(1, 2, 3) == -1); /* marked as missing */
        forget();
    }
}

static void friedel_pairs_keep_their_own_values(void **state) {
    (void)state;
    static const float rows[] = { 1, 2, 3, 10, 20, 2, 0, 1, 30, NAN, 0, 1, 1, NAN, 40 };
    const mtz_parts p = {
        .columns = "F(+):G F(-):G", .operators = P3, .width = 5, .rows = rows, .count = 3
    };
    expect_ok(test_context(), read_as(mtz_file("pair.mtz", &p), NULL, NULL));
    assert_string_equal(chosen, "F(+), F(-)");
    assert_true(amplitude(1, 2, 3) == 10 && amplitude(-1, -2, -3) == 20);
    assert_true(amplitude(2, -3, 3) == 10 && amplitude(-2, 3, -3) == 20);
    assert_true(amplitude(2, 0, 1) == 30 && amplitude(-2, 0, -1) == 30);
    assert_true(amplitude(0, 1, 1) == 40 && amplitude(0, -1, -1) == 40);
    forget();
    expect_ok(test_context(), read_as(folder_path("pair.mtz"), "F(-),F(+)", NULL));
    assert_true(amplitude(1, 2, 3) == 20 && amplitude(-1, -2, -3) == 10);
    forget();
}

/* Map coefficients are passed over; amplitudes with sigmas come first, then pairs of mates. */
static void sensible_columns_are_chosen(void **state) {
    (void)state;
    static const float rows[] = { 1, 2, 3, 10, 20, 30, 1 };
    const mtz_parts first = {
        .columns = "FWT:F FC:F FP:F SIGFP:Q", .operators = P3, .width = 7, .rows = rows, .count = 1
    };
    expect_ok(test_context(), read_as(mtz_file("a.mtz", &first), NULL, NULL));
    assert_string_equal(chosen, "FP");
    forget();
    const mtz_parts second = { .columns = "FWT:F FC:F PHIC:P IMEAN:J",
                               .operators = P3,
                               .width = 7,
                               .rows = rows,
                               .count = 1 };
    expect_ok(test_context(), read_as(mtz_file("b.mtz", &second), NULL, NULL));
    assert_string_equal(chosen, "FC");
    forget();
    const mtz_parts third = { .columns = "FWT:F I(+):K I(-):K FREE:I",
                              .operators = P3,
                              .width = 7,
                              .rows = rows,
                              .count = 1 };
    expect_ok(test_context(), read_as(mtz_file("c.mtz", &third), NULL, NULL));
    assert_string_equal(chosen, "I(+), I(-) (intensities)");
    assert_true(fabs(amplitude(-1, -2, -3) - sqrt(30)) < 1e-12);
    forget();
    /* measured mates come before what is calculated, and differences of mates are no amplitudes */
    const mtz_parts fourth = { .columns = "ANOM:F FC:F F(+):G F(-):G",
                               .operators = P3,
                               .width = 7,
                               .rows = rows,
                               .count = 1 };
    expect_ok(test_context(), read_as(mtz_file("d.mtz", &fourth), NULL, NULL));
    assert_string_equal(chosen, "F(+), F(-)");
    forget();
    const mtz_parts fifth = { .columns = "ANOM:F DANO:F I(+):K I(-):K",
                              .operators = P3,
                              .width = 7,
                              .rows = rows,
                              .count = 1 };
    expect_ok(test_context(), read_as(mtz_file("e.mtz", &fifth), NULL, NULL));
    assert_string_equal(chosen, "I(+), I(-) (intensities)");
    forget();
}

static void what_an_mtz_file_lacks_is_named(void **state) {
    (void)state;
    db_context *context = test_context();
    const mtz_parts p = { .columns = "FP:F SIGFP:Q I:J M:R",
                          .operators = P3,
                          .width = 7,
                          .rows = three_rows,
                          .count = 4 };
    const char *path = mtz_file("p3.mtz", &p);
    expect_failure(context, DB_ERROR_INPUT, read_as(path, "FC", NULL), path, "FC", "FP I");
    expect_failure(context, DB_ERROR_INPUT, read_as(path, "SIGFP", NULL), "SIGFP");
    expect_failure(context, DB_ERROR_INPUT, read_as(path, "FP,I", NULL), "mates");
    expect_failure(context, DB_ERROR_USAGE, read_as(path, NULL, "P 3"), "own space group");
    const mtz_parts none = {
        .columns = "M:R N:I", .operators = P3, .width = 5, .rows = three_rows, .count = 4
    };
    expect_failure(context, DB_ERROR_INPUT, read_as(mtz_file("n.mtz", &none), NULL, NULL),
                   "amplitudes or intensities", "none");
    const mtz_parts alone = { .columns = "FP:F SIGFP:Q I:J M:R",
                              .operators = { NULL },
                              .width = 7,
                              .rows = three_rows,
                              .count = 4 };
    expect_failure(context, DB_ERROR_INPUT, read_as(mtz_file("o.mtz", &alone), NULL, NULL),
                   "0 operators");
    size_t size;
    char *bytes = load_file(folder_path("p3.mtz"), &size);
    for (size_t cut = 0; cut < size; cut += 7) {
        const db_status status = read_as(folder_file("cut.mtz", bytes, cut), NULL, NULL);
        if (status != DB_OK) assert_non_null(strstr(db_context_message(context), "cut.mtz"));
        forget();
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
        (void)read_as(folder_file("flip.mtz", bytes, size), NULL, NULL);
        forget();
        bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
    }
    free(bytes);
}

static void an_mmcif_file_is_expanded(void **state) {
    (void)state;
    static const char text[] =
        "# a comment\ndata_r1\nloop_\n_symmetry_equiv.id\n_symmetry_equiv.pos_as_xyz\n1 'X,  Y,  "
        "Z'\n"
        "2 '-X,Y+1/2,-Z'\nloop_\n_refln.index_h\n_refln.index_k\n_refln.index_l\n_refln.F_meas_au\n"
        "_refln.intensity_meas\n1 2 3 12.5 100\n0 2 0 ? 64\n2 0 1 4(1) .\n";
    const char *path = folder_text("sf.cif", text);
    expect_ok(test_context(), read_as(path, NULL, NULL));
    assert_string_equal(chosen, "F_meas_au");
    assert_true(amplitude(1, 2, 3) == 12.5 && amplitude(-1, 2, -3) == 12.5 &&
                amplitude(1, -2, 3) == 12.5 && amplitude(1, 2, -3) == -1);
    assert_true(amplitude(2, 0, 1) == 4 && amplitude(0, 2, 0) == -1);
    forget();
    expect_ok(test_context(), read_as(path, "intensity_meas", NULL));
    assert_true(amplitude(0, 2, 0) == 8 && amplitude(-1, 2, -3) == 10);
    forget();
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(path, "F_calc", NULL), "F_calc");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   read_as(folder_text("no.cif", "data_x\n_cell.length_a 3\n"), NULL, NULL),
                   "no.cif", "_refln");
}

static void a_text_list_is_expanded_by_its_space_group(void **state) {
    (void)state;
    const char *path = folder_text("au.hkl", "1 2 3 10\n0 0 4 7\n-1 -2 -3 11\n");
    expect_ok(test_context(), read_as(path, NULL, "P 43 21 2"));
    assert_true(amplitude(2, 1, -3) == 10 && amplitude(-1, -2, 3) == 10);
    assert_true(amplitude(-1, -2, -3) == 11 && amplitude(-2, -1, 3) == 11);
    assert_true(amplitude(0, 0, -4) == 7);
    forget();
    static const struct {
        const char *name;
        int operators;
    } groups[] = { { "1", 1 },       { "96", 8 },     { "P6122", 12 },   { "p 21 21 21", 4 },
                   { "C 1 2 1", 2 }, { "R 3 :H", 3 }, { "I 4 3 2", 24 }, { "F m -3 m", 48 } };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        db_space_group group;
        expect_ok(test_context(), db_space_group_find(test_context(), groups[i].name, &group));
        assert_int_equal(group.symmetry.count, groups[i].operators);
    }
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(path, NULL, "P 99"), "P 99");
    expect_failure(test_context(), DB_ERROR_USAGE, read_as(path, "FP", NULL), "lines of text");
}

static void operators_are_read(void **state) {
    (void)state;
    static const char *const bad[] = { "",        "x,y",     "x,y,y", "x,y,2/0q",         "2x,y,z",
                                       "x,y,z+",  "x+x,y,z", "x,y,w", "x,y,99999999999z", "x,y,z,",
                                       "x/2,y,z", "x,y,z/0" };
    db_space_group s = { .number = 0 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_gemmi_add_operator(test_context(), "sf.cif",
                                             (db_word){ bad[i], strlen(bad[i]) }, &s),
                       "sf.cif: ");
    static const char *const good[] = { "x,y,z", " -X + Y , -x, 1/3+Z", "y,x,-z+1/2", "Y,X,1/2-Z" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect_ok(test_context(), db_gemmi_add_operator(test_context(), "sf.cif",
                                                        (db_word){ good[i], strlen(good[i]) }, &s));
    assert_int_equal(s.symmetry.count, 3);
    assert_int_equal(s.symmetry.rotation[1][0], -1);
    assert_int_equal(s.symmetry.rotation[1][1], 1);
    assert_int_equal(s.symmetry.rotation[2][8], -1);
}

/* Operators make indices larger: the product of the three extents does not fit into 63 bits. */
static void a_box_beyond_all_memory_is_refused_in_every_format(void **state) {
    (void)state;
    static const float row[] = { 832349, 832349, 832067, 1 };
    const mtz_parts far_away = {
        .columns = "FP:F", .operators = P3, .width = 4, .rows = row, .count = 1
    };
    const char *const mtz = mtz_file("far.mtz", &far_away);
    const char *const cif = folder_text(
        "far.cif", "data_r1\nloop_\n_symmetry_equiv.id\n_symmetry_equiv.pos_as_xyz\n1 'x,y,z'\n2 "
                   "'-y,x-y,z'\n3 '-x+y,-x,z'\nloop_\n_refln.index_h\n_refln.index_k\n"
                   "_refln.index_l\n_refln.F_meas_au\n832349 832349 832067 1\n");
    const char *const text = folder_text("far.hkl", "832349 832349 832067 1\n");
    const char *const limits = "h -1664698..1664698, k -1664698..1664698, l -832067..832067";
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(mtz, NULL, NULL), "far.mtz", limits);
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(cif, NULL, NULL), "far.cif", limits);
    expect_failure(test_context(), DB_ERROR_INPUT, read_as(text, NULL, "P 3"), "far.hkl", limits);
    assert_null(factors.amplitude);
}

/* An index has as many values as a plan takes, however small the box is for it. */
static void a_long_box_is_refused_when_it_is_read(void **state) {
    (void)state;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   read_as(folder_text("long.hkl", "0 0 -500000 1\n0 0 500000 2\n"), NULL, NULL),
                   "long.hkl", "1000001", "1000000");
    expect_ok(test_context(),
              read_as(folder_text("good.hkl", "0 0 -499999 1\n0 0 500000 2\n"), NULL, NULL));
    forget();
}

static void a_box_is_measured_against_memory(void **state) {
    (void)state;
    static const int box[3] = { 1000, 1000, 1000 };
    static const int wraps[3] = { 4000000, 4000000, 4000000 };
    size_t entries = 0;
    expect_ok(test_context(), db_amplitude_box_check(test_context(), "x", box, 24e9, &entries));
    assert_true(entries == 1000000000);
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_amplitude_box_check(test_context(), "x", box, 23.9e9, &entries),
                   "x: ", "22.4 GiB", "22.3 GiB");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_amplitude_box_check(test_context(), "x", wraps, 1e30, &entries), "4000000");
    assert_true(db_physical_memory() > 1e6);
}

/* The same structure factors in two forms: 23731 reflections in an MTZ file, and all of P1 as
 * text. */
static void an_mtz_file_and_its_p1_list_agree(void **state) {
    (void)state;
    char command[600];
    const char *mtz = shared_path("realdata/thermolysin/2tli_P1_2.0A.mtz");
    expect_ok(test_context(), read_as(mtz, NULL, NULL));
    assert_string_equal(chosen, "FMODEL");
    snprintf(command, sizeof command, "xz -dc '%s' 2>/dev/null",
             shared_path("realdata/thermolysin/2tli_P1_2.0A.hkl.xz"));
    FILE *list = popen(command, "r");
    assert_non_null(list);
    int h, k, l;
    size_t rows = 0;
    double f, worst = 0;
    while (fscanf(list, "%d %d %d %lf", &h, &k, &l, &f) == 4) {
        worst = fmax(worst, fabs(amplitude(h, k, l) - f) / fmax(1, f));
        rows++;
    }
    pclose(list);
    if (rows == 0) skip(); /* no xz */
    print_message("%zu rows, worst difference %.2g\n", rows, worst);
    assert_int_equal(rows, 524138);
    assert_int_equal(factors.listed, rows);
    assert_true(worst < 1e-4); /* four decimals in the text */
    forget();
    expect_ok(test_context(), read_as(shared_path("realdata/hewl/4bs7-sf.cif"), NULL, NULL));
    assert_true(factors.listed > 13000);
    forget();
    expect_ok(test_context(), read_as(shared_path("realdata/hewl/RTSAD_HEWL_refine_25.mtz"),
                                      "F-model(+),F-model(-)", NULL));
    forget();
}

/* Without gemmi: what the file needs is named, and lists of text are read. */
static void a_build_without_gemmi_says_so(void **state) {
    (void)state;
    static const char pdb[] = "CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1\n";
    const mtz_parts p = { .columns = "FP:F SIGFP:Q I:J M:R",
                          .operators = P3,
                          .width = 7,
                          .rows = three_rows,
                          .count = 4 };
    const db_structure_factor_options options = { .dmin = 2 };
    expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                   read_as(mtz_file("p3.mtz", &p), NULL, NULL), "p3.mtz", "gemmi-dev");
    const char *const list = folder_text("list.hkl", "1 2 3 10\n");
    expect_failure(test_context(), DB_ERROR_UNSUPPORTED, read_as(list, NULL, "P 3"), "P 3",
                   "gemmi-dev");
    expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                   db_read_structure_factors(test_context(), folder_text("x.pdb", pdb), &options,
                                             &factors, NULL, 0),
                   "x.pdb", "gemmi-dev");
    expect_ok(test_context(), read_as(list, NULL, NULL));
    assert_true(amplitude(1, 2, 3) == 10);
    forget();
}

int main(void) {
    const struct CMUnitTest without[] = {
        cmocka_unit_test(a_build_without_gemmi_says_so),
        cmocka_unit_test(a_long_box_is_refused_when_it_is_read),
        cmocka_unit_test(a_box_is_measured_against_memory),
    };
    if (!strstr(db_features(), "gemmi"))
        return cmocka_run_group_tests(without, folder_setup, folder_teardown);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_mtz_file_is_expanded_by_its_operators),
        cmocka_unit_test(friedel_pairs_keep_their_own_values),
        cmocka_unit_test(sensible_columns_are_chosen),
        cmocka_unit_test(what_an_mtz_file_lacks_is_named),
        cmocka_unit_test(an_mmcif_file_is_expanded),
        cmocka_unit_test(a_text_list_is_expanded_by_its_space_group),
        cmocka_unit_test(a_box_beyond_all_memory_is_refused_in_every_format),
        cmocka_unit_test(a_long_box_is_refused_when_it_is_read),
        cmocka_unit_test(a_box_is_measured_against_memory),
        cmocka_unit_test(operators_are_read),
        cmocka_unit_test(an_mtz_file_and_its_p1_list_agree),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
