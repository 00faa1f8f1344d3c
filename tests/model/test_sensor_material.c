/* Attenuation depths of sensors, against another compilation. */
#include "support/context.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/sensor_depth.h>
#include <dualbragg/expert/sensor_materials.h>

#include <math.h>
#include <string.h>

/* um */
static double depth_at(db_sensor_material material, double energy) {
    double depth = 0;
    if (db_sensor_attenuation_depth(context, material, 12.398419843 / energy, &depth) != DB_OK)
        fail_msg("%s", db_context_message(context));
    return depth;
}

/* xraylib 4.0 (T. Schoonjans et al., Spectrochim. Acta B 66 (2011) 776), total cross-sections. */
static void depths_are_those_of_xraylib(void **state) {
    (void)state;
    enum { ENERGIES = 15 };
    static const double energy[ENERGIES] = { 2,  6,  8.0478, 12.4, 12.8, 15,  20, 25,
                                             28, 30, 40,     60,   80,   100, 140 };
    static const double depth[][ENERGIES] = {
        [DB_SENSOR_SI] = { 1.5457, 29.2, 67.494, 237.56, 260.73, 415.24, 961.56, 1815.6, 2481.9,
                           2987.8, 6122.9, 13385, 19264, 23384, 28647 },
        [DB_SENSOR_GAAS] = { 0.68867, 12.339, 27.465, 12.487, 13.54, 20.4, 44.173, 81.336, 111.17,
                             134.59, 300.37, 921.16, 1961.6, 3359.8, 6662.5 },
        [DB_SENSOR_CDTE] = { 1.0272, 3.2341, 6.9688, 22.071, 24.031, 36.711, 79.73, 145.63, 65.578,
                             78.325, 88.569, 261.28, 566.19, 1022.9, 2390.2 },
        [DB_SENSOR_CZT] = { 1.0219, 3.3283, 7.1727, 21.785, 23.717, 36.23, 78.696, 143.83, 69.625,
                            83.189, 91.123, 268.79, 582.27, 1051.4, 2452.9 },
    };
    for (int m = DB_SENSOR_SI; m < DB_SENSOR_MATERIAL_COUNT; m++)
        for (int i = 0; i < ENERGIES; i++) {
            const double found = depth_at((db_sensor_material)m, energy[i]);
            if (!(fabs(found / depth[m][i] - 1) < 0.02))
                fail_msg("%s at %g keV: found %g um, expected %g",
                         db_sensor_material_name((db_sensor_material)m), energy[i], found,
                         depth[m][i]);
        }
}

static void absorption_jumps_at_the_edges(void **state) {
    (void)state;
    static const struct {
        db_sensor_material material;
        double edge, least; /* keV, ratio of depths */
    } rows[] = { { DB_SENSOR_SI, 1.8389, 8 },      { DB_SENSOR_GAAS, 10.3671, 2.5 },
                 { DB_SENSOR_GAAS, 11.8667, 1.8 }, { DB_SENSOR_CDTE, 26.7112, 2 },
                 { DB_SENSOR_CDTE, 31.8138, 1.5 }, { DB_SENSOR_CZT, 9.6586, 1.02 },
                 { DB_SENSOR_CZT, 26.7112, 1.9 },  { DB_SENSOR_CZT, 31.8138, 1.5 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double below = depth_at(rows[i].material, rows[i].edge - 1e-6),
                     above = depth_at(rows[i].material, rows[i].edge + 1e-6);
        assert_true(below > rows[i].least * above);
    }
}

static void names_are_found(void **state) {
    (void)state;
    assert_int_equal(db_sensor_material_find("# Silicon "), DB_SENSOR_SI);
    assert_int_equal(db_sensor_material_find("CdTe"), DB_SENSOR_CDTE);
    assert_int_equal(db_sensor_material_find("gaas"), DB_SENSOR_GAAS);
    assert_int_equal(db_sensor_material_find("CdZnTe"), DB_SENSOR_CZT);
    assert_int_equal(db_sensor_material_find(""), DB_SENSOR_UNKNOWN);
    assert_int_equal(db_sensor_material_find("Gadox"), DB_SENSOR_UNKNOWN);
    for (int m = 1; m < DB_SENSOR_MATERIAL_COUNT; m++)
        assert_int_equal(db_sensor_material_find(db_sensor_material_name((db_sensor_material)m)),
                         m);
    assert_null(db_sensor_material_name(DB_SENSOR_MATERIAL_COUNT));
}

static void what_is_not_tabulated_is_refused(void **state) {
    (void)state;
    double depth;
    assert_int_equal(db_sensor_attenuation_depth(context, DB_SENSOR_UNKNOWN, 1, &depth),
                     DB_ERROR_USAGE);
    static const double wavelengths[] = { 0.05, 13, NAN, -1 };
    for (int i = 0; i < 4; i++)
        assert_int_equal(db_sensor_attenuation_depth(context, DB_SENSOR_SI, wavelengths[i], &depth),
                         DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "from 1 to 150 keV"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depths_are_those_of_xraylib),
        cmocka_unit_test(absorption_jumps_at_the_edges),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(what_is_not_tabulated_is_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
