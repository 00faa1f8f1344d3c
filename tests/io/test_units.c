/* Units as files name them. */
#include "support/unit_test.h"
#include "io/units.h"

#include <math.h>
#include <string.h>

typedef struct named {
    db_unit_kind kind;
    const char *name;
    double factor; /* 0: refused */
} named;

static const double RADIAN = 57.295779513082320877;

static void spellings_of_files_are_known(void **state) {
    const named all[] = {
        { DB_UNIT_LENGTH, "m", 1e3 },
        { DB_UNIT_LENGTH, "metre", 1e3 },
        { DB_UNIT_LENGTH, "meters", 1e3 },
        { DB_UNIT_LENGTH, "mm", 1 },
        { DB_UNIT_LENGTH, "MM", 1 },
        { DB_UNIT_LENGTH, "(mm)", 1 },
        { DB_UNIT_LENGTH, " millimetres ", 1 },
        { DB_UNIT_LENGTH, "Millimeter", 1 },
        { DB_UNIT_LENGTH, "cm", 10 },
        { DB_UNIT_LENGTH, "um", 1e-3 },
        { DB_UNIT_LENGTH, "\xc2\xb5m", 1e-3 },
        { DB_UNIT_LENGTH, "\xce\xbcm", 1e-3 },
        { DB_UNIT_LENGTH, "\xb5m", 1e-3 },
        { DB_UNIT_LENGTH, "micron", 1e-3 },
        { DB_UNIT_LENGTH, "microns", 1e-3 },
        { DB_UNIT_LENGTH, "micrometer", 1e-3 },
        { DB_UNIT_LENGTH, "micrometres", 1e-3 },
        { DB_UNIT_LENGTH, "nm", 1e-6 },
        { DB_UNIT_LENGTH, "pm", 1e-9 },
        { DB_UNIT_LENGTH, "angstrom", 1e-7 },
        { DB_UNIT_LENGTH, "Angstroms", 1e-7 },
        { DB_UNIT_LENGTH, "A", 1e-7 },
        { DB_UNIT_LENGTH, "\xc3\x85", 1e-7 },
        { DB_UNIT_LENGTH, "\xe2\x84\xab", 1e-7 },
        { DB_UNIT_ANGLE, "deg", 1 },
        { DB_UNIT_ANGLE, "deg.", 1 },
        { DB_UNIT_ANGLE, "Degrees", 1 },
        { DB_UNIT_ANGLE, "\xc2\xb0", 1 },
        { DB_UNIT_ANGLE, "rad", RADIAN },
        { DB_UNIT_ANGLE, "radians", RADIAN },
        { DB_UNIT_ANGLE, "mrad", RADIAN / 1e3 },
        { DB_UNIT_ANGLE, "microradian", RADIAN / 1e6 },
        { DB_UNIT_ENERGY, "eV", 1 },
        { DB_UNIT_VOLTAGE, "V", 1 },
        { DB_UNIT_VOLTAGE, "kV", 1e3 },
        { DB_UNIT_VOLTAGE, "MV", 1e6 },
        { DB_UNIT_ENERGY, "keV", 1e3 },
        { DB_UNIT_ENERGY, "KeV", 1e3 },
        { DB_UNIT_ENERGY, "MeV", 1e6 },
        { DB_UNIT_TIME, "s", 1 },
        { DB_UNIT_TIME, "sec", 1 },
        { DB_UNIT_TIME, "seconds", 1 },
        { DB_UNIT_TIME, "ms", 1e-3 },
        { DB_UNIT_TIME, "\xc2\xb5s", 1e-6 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const double found = db_unit_of(all[i].kind, all[i].name);
        if (!(fabs(found - all[i].factor) <= 1e-15 * all[i].factor))
            print_message("%s: %g\n", all[i].name, found);
        assert_true(fabs(found - all[i].factor) <= 1e-15 * all[i].factor);
    }
}

static void other_names_are_refused(void **state) {
    static const named all[] = {
        { DB_UNIT_LENGTH, "", 0 },      { DB_UNIT_LENGTH, "deg", 0 },  { DB_UNIT_LENGTH, "mmm", 0 },
        { DB_UNIT_LENGTH, "pixel", 0 }, { DB_UNIT_LENGTH, "mm^2", 0 }, { DB_UNIT_LENGTH, "ms", 0 },
        { DB_UNIT_ANGLE, "mm", 0 },     { DB_UNIT_ANGLE, "d", 0 },     { DB_UNIT_ENERGY, "V", 0 },
        { DB_UNIT_TIME, "m", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_true(db_unit_of(all[i].kind, all[i].name) <= 0);
}

static void near(double value, const char *unit, double wavelength) {
    const double found = db_wavelength_in(value, unit, strlen(unit));
    assert_true(fabs(found - wavelength) <= 1e-9 * wavelength);
}

static void wavelengths_may_be_lengths_or_energies(void **state) {
    (void)state;
    near(0.98, "", 0.98);
    near(0.98, "angstrom", 0.98);
    near(0.098, "nm", 0.98);
    near(98, "pm", 0.98);
    near(9.8e-11, "m", 0.98);
    near(12.398419843320026, "keV", 1);
    near(12398.419843320026, "eV", 1);
    static const double none[] = { 0, -1, INFINITY, NAN };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_true(isnan(db_wavelength_in(none[i], "angstrom", 8)));
        assert_true(isnan(db_wavelength_in(none[i], "keV", 3)));
    }
    assert_true(isnan(db_wavelength_in(1, "deg", 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings_of_files_are_known),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(wavelengths_may_be_lengths_or_energies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
