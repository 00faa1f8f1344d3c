/* Spectrum files. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/beam_files.h>

#include <math.h>
#include <string.h>

static void wavelengths_and_energies_are_told_apart(void **state) {
    (void)state;
    db_spectrum s;
    expect_ok(test_context(), db_read_spectrum(test_context(),
                                               folder_text("a.dat", "# wavelength weight\n"
                                                                    "1.30 2\n"
                                                                    "1.31, 0 # left out\n"
                                                                    "1.32;\t0.5 third column\n"),
                                               &s));
    assert_int_equal(s.count, 2);
    assert_true(s.wavelength[0] == 1.30 && s.wavelength[1] == 1.32);
    assert_true(s.weight[0] == 2 && s.weight[1] == 0.5);
    db_spectrum_clear(&s);
    assert_int_equal(s.count, 0);
    expect_ok(test_context(),
              db_read_spectrum(test_context(),
                               folder_text("b.dat", "12398.419843320026 1\n6199.209921660013 4\n"),
                               &s));
    assert_true(fabs(s.wavelength[0] - 1) < 1e-15 && fabs(s.wavelength[1] - 2) < 1e-15);
    db_spectrum_clear(&s);
}

static void bad_spectra_are_errors_that_name_the_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *line, *expected;
    } cases[] = {
        { "1.3\n", ":1:", "two columns" },
        { "1.3 1\n1.3 one\n", ":2:", "number for the weight" },
        { "1.3 1\n\n9500 1\n", ":3:", "a wavelength (A) below 100" },
        { "9500 1\n1.3 1\n", ":2:", "an energy (eV) of at least 100" },
        { "0 1\n", ":1:", "> 0" },
        { "1.3 1\n1.31 -2\n", ":2:", "weight >= 0" },
        { "1.3 0\n", "", "sum > 0" },
        { "# nothing\n", "", "sum > 0" },
        { "1.3 1e308\n1.3 1e308\n", "", "finite sum" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_spectrum s = { .count = 7 };
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_spectrum(test_context(), folder_text("bad.dat", cases[i].text), &s),
                       "bad.dat", cases[i].line, cases[i].expected);
        assert_true(s.count == 0 && !s.wavelength && !s.weight);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wavelengths_and_energies_are_told_apart),
        cmocka_unit_test(bad_spectra_are_errors_that_name_the_line),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
