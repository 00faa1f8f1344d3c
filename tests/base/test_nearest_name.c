/* Guesses at what a misspelt name means. */
#include "support/unit_test.h"
#include "base/nearest_name.h"

static const char *const names[] = { "-lambda",   "-N",      "-Na",          "-osc",
                                     "--threads", "-misset", "-fdet_vector", "-detpixels" };
enum { COUNT = sizeof names / sizeof *names };

static void misspelt_names_are_found(void **state) {
    static const char *const pairs[][2] = {
        { "-lamda", "-lambda" },
        { "-lmabda", "-lambda" },
        { "--thread", "--threads" },
        { "-threads", "--threads" },
        { "lambda", "-lambda" },
        { "-n", "-N" },
        { "-NA", "-Na" },
        { "-LAMBDA", "-lambda" },
        { "-oscillation", "-osc" },
        { "-misset_x", "-misset" },
        { "-gdet_vector", "-fdet_vector" },
        { "-detpix", "-detpixels" },
        { "-isset", "-misset" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(db_nearest_name(pairs[i][0], names, COUNT), pairs[i][1]);
}

static void nothing_is_said_where_nothing_is_near(void **state) {
    static const char *const strange[] = {
        "--bogus",     "version", "-x",   "-",    "",
        "-resolution", "-gamma",  "-Ny2", "-mat", "-spectrum_of_the_beam"
    };
    (void)state;
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        assert_null(db_nearest_name(strange[i], names, COUNT));
    assert_null(db_nearest_name("anything", names, 0));
}

static void the_hint_ends_a_message(void **state) {
    (void)state;
    assert_string_equal(db_hint_at_names("-lamda", names, COUNT, "see the manual").text,
                        "; the nearest known one is '-lambda'");
    assert_string_equal(db_hint_at_names("--bogus", names, COUNT, "see the manual").text,
                        "; see the manual");
    assert_string_equal(db_hint_at_names("--bogus", names, COUNT, NULL).text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misspelt_names_are_found),
        cmocka_unit_test(nothing_is_said_where_nothing_is_near),
        cmocka_unit_test(the_hint_ends_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
