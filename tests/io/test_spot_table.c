/* Files of predicted spots: each column, and each member of JSON, is what its name says. */
#include "files_for_tests.h"
#include "support/expect.h"

#include <dualbragg/io.h>
#include <dualbragg/spots.h>
#include <dualbragg/expert/spot_places.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(DB_HAVE_JANSSON)
#include <jansson.h>
#endif

static const db_spot SPOTS[2] = { { .hkl = { 3, -4, 5 },
                                    .panel = 1,
                                    .source = 7,
                                    .position = { 12.25, 340.5 },
                                    .covariance = { 0.5, 2.25, -0.75 },
                                    .photons = 1234.5,
                                    .excitation = -1.5,
                                    .turn = 0.25,
                                    .recorded = 0.625,
                                    .angle = 0.375,
                                    .resolution = 2.125,
                                    .width = 99,
                                    .wavelength = 1.0625,
                                    .wavelength_width = 0.03125 },
                                  { .hkl = { 0, 0, 1 }, .position = { 1, 2 } } };
enum { NUMBERS = 18 };

/* In the order of the text's columns. */
static void numbers_of(const db_spot *s, double number[NUMBERS]) {
    const double all[NUMBERS] = {
        s->hkl[0],           s->hkl[1],        s->hkl[2],        (double)s->panel,
        s->position[0],      s->position[1],   s->covariance[0], s->covariance[1],
        s->covariance[2],    s->photons,       s->excitation,    s->turn,
        s->recorded,         s->angle,         s->resolution,    s->wavelength,
        s->wavelength_width, (double)s->source
    };
    memcpy(number, all, sizeof all);
}

static void write_spots(const char *path) {
    db_spot spots[2];
    memcpy(spots, SPOTS, sizeof spots);
    const db_predicted_spots list = { .count = 2, .spot = spots };
    expect_ok(test_context(), db_write_spots(test_context(), path, &list));
}

static void columns_are_those_of_the_header(void **state) {
    (void)state;
    const char *const path = folder_path("spots.txt");
    char line[1000];
    write_spots(path);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "pixels"));
    assert_non_null(fgets(line, sizeof line, file));
    static const char names[] = "# h k l panel fast slow fast_var slow_var covariance photons "
                                "excitation turn recorded angle resolution wavelength wave_width "
                                "source ";
    char found[1000] = "";
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
        strcat(strcat(found, word), " ");
    assert_string_equal(found, names);
    for (int n = 0; n < 2; n++) {
        double wanted[NUMBERS];
        numbers_of(&SPOTS[n], wanted);
        for (int i = 0; i < NUMBERS; i++) {
            double number = NAN;
            assert_int_equal(fscanf(file, "%lf", &number), 1);
            assert_true(fabs(number - wanted[i]) <= 2e-3 * fabs(wanted[i]));
        }
    }
    fclose(file);
}

static void members_are_those_of_a_spot(void **state) {
    (void)state;
#if defined(DB_HAVE_JANSSON)
    const char *const path = folder_path("spots.json");
    write_spots(path);
    json_t *const root = json_load_file(path, 0, NULL), *const list =
                                                            json_object_get(root, "spots");
    assert_int_equal(json_array_size(list), 2);
    for (size_t n = 0; n < 2; n++) {
        int hkl[3], panel, source;
        double v[NUMBERS], wanted[NUMBERS];
        assert_int_equal(
            json_unpack(json_array_get(list, n),
                        "{s:[i,i,i], s:i, s:[F,F], s:[F,F,F], s:F, s:F, s:F, s:F, s:F, s:F, s:F, "
                        "s:F, s:i!}",
                        "hkl", &hkl[0], &hkl[1], &hkl[2], "panel", &panel, "position", &v[4], &v[5],
                        "covariance", &v[6], &v[7], &v[8], "photons", &v[9], "excitation", &v[10],
                        "turn", &v[11], "recorded", &v[12], "angle", &v[13], "resolution", &v[14],
                        "wavelength", &v[15], "wavelength_width", &v[16], "source", &source),
            0);
        for (int i = 0; i < 3; i++) v[i] = hkl[i];
        v[3] = panel;
        v[17] = source;
        numbers_of(&SPOTS[n], wanted);
        for (int i = 0; i < NUMBERS; i++)
            assert_true(fabs(v[i] - wanted[i]) <= 1e-4 * fabs(wanted[i]));
    }
    json_decref(root);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_those_of_the_header),
        cmocka_unit_test(members_are_those_of_a_spot),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
