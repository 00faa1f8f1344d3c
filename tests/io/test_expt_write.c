/* DIALS experiment lists: what they say is what is simulated. */
#include "support/expect.h"
#include "files_for_tests.h"
#include "listed_setup.h"

#include <dualbragg/io.h>
#include <dualbragg/setup.h>
#include <dualbragg/version.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/listed_shots.h>

#include <math.h>
#include <stdlib.h>

#if defined(DB_HAVE_JANSSON)
#include <jansson.h>

#include "support/notices.h"

static void make_experiment(db_convention convention, double osc, db_experiment *experiment) {
    db_setup setup;
    listed_setup(convention, osc, &setup);
    if (convention == DB_CONVENTION_CUSTOM) {
        const double spindle[3] = { 1, 1, 2 };
        memcpy(setup.spindle_axis, spindle, sizeof spindle);
    }
    expect_ok(test_context(), db_setup_resolve(test_context(), &setup, experiment, NULL, NULL));
}

static json_t *written(const db_experiment *experiment, const db_expt_image *image) {
    const char *path = folder_path("x.expt");
    expect_ok(test_context(), db_write_expt(test_context(), path, experiment, image));
    json_error_t error;
    json_t *list = json_load_file(path, 0, &error);
    if (!list) fail_msg("%s, line %d", error.text, error.line);
    assert_string_equal(json_string_value(json_object_get(list, "__id__")), "ExperimentList");
    return list;
}

static json_t *model(const json_t *list, const char *kind) {
    return json_array_get(json_object_get(list, kind), 0);
}

static void get_vector(const json_t *object, const char *key, double v[3]) {
    const json_t *array = json_object_get(object, key);
    assert_int_equal(json_array_size(array), 3);
    for (size_t i = 0; i < 3; i++) v[i] = json_number_value(json_array_get(array, i));
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Turns a vector about a unit axis. */
static void turn_about(const double axis[3], double angle, double v[3]) {
    const double along = dot(axis, v),
                 cross[3] = { axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2],
                              axis[0] * v[1] - axis[1] * v[0] };
    for (int i = 0; i < 3; i++)
        v[i] = axis[i] * along + (v[i] - axis[i] * along) * cos(angle) + cross[i] * sin(angle);
}

/* Against the beam, which is tilted by mrad: about the polarization axis, then about beam x
 * polarization. */
static void against_beam(const db_beam *beam, double v[3]) {
    const double *const b = beam->direction, *const e = beam->polarization_axis;
    const double across[3] = { b[1] * e[2] - b[2] * e[1], b[2] * e[0] - b[0] * e[2],
                               b[0] * e[1] - b[1] * e[0] };
    for (int i = 0; i < 3; i++) v[i] = -b[i];
    turn_about(e, 1e-3 * beam->tilt[1], v);
    turn_about(across, 1e-3 * beam->tilt[0], v);
}

/* Scalar products of laboratory vectors survive the change of frame; with the triple product (hand)
 * they say everything. */
static void angles_and_lengths_are_those_of_the_laboratory(void **state) {
    (void)state;
    for (int run = 0; run < 2 * DB_CONVENTION_COUNT; run++) {
        const int convention = run / 2, tilted = run % 2;
        if (convention < DB_CONVENTION_MOSFLM) continue;
        db_experiment e;
        make_experiment((db_convention)convention, 0.5, &e);
        e.beam.tilt[0] = 3 * tilted;
        e.beam.tilt[1] = -20 * tilted;
        json_t *list = written(&e, NULL);
        const json_t *panel = json_array_get(json_object_get(model(list, "detector"), "panels"), 0);

        double lab[9][3], star[9], list_vector[9][3];
        (void)db_experiment_pixel_position(&e, 0, 0, 0, lab[0]);
        (void)db_experiment_pixel_position(&e, 0, 1, 0, lab[1]);
        (void)db_experiment_pixel_position(&e, 0, 0, 1, lab[2]);
        for (int i = 0; i < 3; i++) {
            lab[1][i] = (lab[1][i] - lab[0][i]) / 0.1024;
            lab[2][i] = (lab[2][i] - lab[0][i]) / 0.1024;
            lab[4][i] = e.goniometer.spindle_axis[i];
        }
        against_beam(&e.beam, lab[3]);
        get_vector(panel, "origin", list_vector[0]);
        get_vector(panel, "fast_axis", list_vector[1]);
        get_vector(panel, "slow_axis", list_vector[2]);
        get_vector(model(list, "beam"), "direction", list_vector[3]);
        get_vector(model(list, "goniometer"), "rotation_axis", list_vector[4]);
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                assert_true(fabs(dot(lab[i], lab[j]) - dot(list_vector[i], list_vector[j])) < 1e-9);

        /* the crystal by its reciprocal vectors: a*.a = 1 and so on only fit the right cell */
        db_crystal_matrix(&e.crystal, star);
        double real[3][3];
        get_vector(model(list, "crystal"), "real_space_a", real[0]);
        get_vector(model(list, "crystal"), "real_space_b", real[1]);
        get_vector(model(list, "crystal"), "real_space_c", real[2]);
        static const double edges[3] = { 45, 55, 70 };
        for (int i = 0; i < 3; i++)
            assert_true(fabs(sqrt(dot(real[i], real[i])) - edges[i]) < 1e-9);
        /* against the beam: h = a.(1/lambda) along -b is the same number in both frames; a_lab from
         * the inverse of a* by Cramer's rule */
        double inverse[3][3], columns[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) columns[i][k] = star[3 * k + i];
        for (int i = 0; i < 3; i++) {
            const double *u = columns[(i + 1) % 3], *v = columns[(i + 2) % 3];
            const double c[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                                  u[0] * v[1] - u[1] * v[0] };
            for (int k = 0; k < 3; k++) inverse[i][k] = c[k] / dot(c, columns[i]);
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 5; j++)
                assert_true(fabs(dot(inverse[i], lab[j]) - dot(real[i], list_vector[j])) <
                            1e-9 * sqrt(dot(lab[j], lab[j])) * 100);

        if (!tilted) assert_true(fabs(list_vector[3][2] - 1) < 1e-12);
        assert_true(json_number_value(json_object_get(model(list, "beam"), "wavelength")) ==
                    0.97934);
        assert_true(json_number_value(
                        json_object_get(model(list, "beam"), "polarization_fraction")) == 0.95);
        double normal[3];
        get_vector(model(list, "beam"), "polarization_normal", normal);
        /* perpendicular to the field and to the tilted beam */
        const double *const p = e.beam.polarization_axis, *const a = lab[3];
        const double across[3] = { p[1] * a[2] - p[2] * a[1], p[2] * a[0] - p[0] * a[2],
                                   p[0] * a[1] - p[1] * a[0] };
        for (int j = 0; j < 5; j++)
            assert_true(fabs(dot(normal, list_vector[j]) -
                             dot(across, lab[j]) / sqrt(dot(across, across))) <
                        1e-9 * (1 + sqrt(dot(lab[j], lab[j]))));
        assert_true(fabs(dot(normal, normal) - 1) < 1e-12);
        json_decref(list);
        db_experiment_clear(&e);
    }
}

static void a_turning_crystal_has_a_scan(void **state) {
    (void)state;
    db_experiment e;
    make_experiment(DB_CONVENTION_XDS, 0.5, &e);
    const db_expt_image image = { .path = "data/shot_12_007.img", .pedestal = 40, .gain = 2.5 };
    json_t *list = written(&e, &image);
    const json_t *scan = model(list, "scan"), *set = model(list, "imageset");
    double first, width;
    int from, to;
    assert_int_equal(json_unpack((json_t *)scan, "{s:[i,i], s:[F,F]}", "image_range", &from, &to,
                                 "oscillation", &first, &width),
                     0);
    assert_int_equal(from, 7);
    assert_int_equal(to, 7);
    assert_true(first == 12.5 && fabs(width - 0.5) < 1e-12);
    assert_string_equal(json_string_value(json_object_get(set, "__id__")), "ImageSequence");
    assert_string_equal(json_string_value(json_object_get(set, "template")),
                        "data/shot_12_###.img");
    const json_t *panel = json_array_get(json_object_get(model(list, "detector"), "panels"), 0);
    assert_true(json_number_value(json_object_get(panel, "pedestal")) == 40);
    assert_true(json_number_value(json_object_get(panel, "gain")) == 2.5);
    assert_non_null(json_object_get(model(list, "experiment"), "scan"));
    json_decref(list);
    db_experiment_clear(&e);
}

static void a_still_crystal_stands_as_it_does_in_the_beam(void **state) {
    (void)state;
    db_experiment still, turning;
    make_experiment(DB_CONVENTION_MOSFLM, 0, &still);
    make_experiment(DB_CONVENTION_MOSFLM, 0.5, &turning);
    const db_expt_image image = {
        .path = "still1.img", .pedestal = 40, .gain = 1, .trusted = { -7, 900 }
    };
    json_t *list = written(&still, &image), *other = written(&turning, &image);
    assert_null(model(list, "scan"));
    const json_t *set = model(list, "imageset");
    assert_string_equal(json_string_value(json_object_get(set, "__id__")), "ImageSet");
    assert_string_equal(json_string_value(json_array_get(json_object_get(set, "images"), 0)),
                        "still1.img");
    assert_string_equal(json_string_value(json_object_get(model(other, "imageset"), "template")),
                        "still#.img");

    /* turned by 12.5 degree about the spindle, x */
    double stands[3], at_rest[3];
    get_vector(model(list, "crystal"), "real_space_b", stands);
    get_vector(model(other, "crystal"), "real_space_b", at_rest);
    const double c = cos(12.5 / 57.295779513082320877), s = sin(12.5 / 57.295779513082320877);
    assert_true(fabs(stands[0] - at_rest[0]) < 1e-9);
    assert_true(fabs(stands[1] - (c * at_rest[1] - s * at_rest[2])) < 1e-9);
    assert_true(fabs(stands[2] - (s * at_rest[1] + c * at_rest[2])) < 1e-9);
    json_decref(list);
    json_decref(other);
    db_experiment_clear(&still);
    db_experiment_clear(&turning);
}

static void names_become_templates(void **state) {
    (void)state;
    static const struct {
        const char *name, *template;
        int number;
    } cases[] = {
        { "a_0001.img", "a_####.img", 1 },
        { "a2/b.img", NULL, 1 },
        { "a.0042", "a.####", 42 },
        { "run3_a5_x.img", NULL, 1 },
        { "1234567890.img", NULL, 1 },
        { "odd#1.img", NULL, 1 },
        { "/d.7/f12", NULL, 1 },
        { "x5.img", "x#.img", 5 },
        { "scan7.cbf.12", "scan7.cbf.##", 12 },
        { "no_extension7", NULL, 1 },
        { "a3.x7", "a#.x7", 3 },
        { "a.7", NULL, 1 },
        { "run_master.h5#17", "run_master.h5", 17 },
        { "run_0001.h5#3", "run_0001.h5", 3 },
    };
    db_experiment e;
    make_experiment(DB_CONVENTION_MOSFLM, 0.5, &e);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const db_expt_image image = { .path = cases[i].name, .pedestal = 0, .gain = 1 };
        notices[0] = '\0';
        db_context_set_notices(test_context(), keep_notice, NULL);
        json_t *list = written(&e, &image);
        db_context_set_notices(test_context(), NULL, NULL);
        const char *template =
            json_string_value(json_object_get(model(list, "imageset"), "template"));
        if (!template != !cases[i].template || (template && strcmp(template, cases[i].template)))
            fail_msg("%s: expected %s, found %s", cases[i].name, cases[i].template, template);
        if (!template != (strstr(notices, "leaves the image out") != NULL))
            fail_msg("%s: notices '%s'", cases[i].name, notices);
        int from, to;
        json_unpack(model(list, "scan"), "{s:[i,i]}", "image_range", &from, &to);
        assert_int_equal(from, cases[i].number);
        json_decref(list);
    }
    db_experiment_clear(&e);
}

static void a_still_of_a_file_with_many_has_its_index(void **state) {
    (void)state;
    const db_expt_image image = { .path = "run_master.h5#17", .pedestal = 0, .gain = 1 };
    db_experiment e;
    make_experiment(DB_CONVENTION_MOSFLM, 0, &e);
    json_t *const list = written(&e, &image);
    const char *file = NULL;
    int index = -1;
    json_unpack(model(list, "imageset"), "{s:[s], s:[i]}", "images", &file, "single_file_indices",
                &index);
    assert_string_equal(file, "run_master.h5");
    assert_int_equal(index, 16);
    json_decref(list);
    db_experiment_clear(&e);
}

static void stills_are_named_without_a_number_too(void **state) {
    (void)state;
    static const char *const names[] = { "/a/shot.img", "1234567890.img", "a.7" };
    db_experiment e;
    make_experiment(DB_CONVENTION_MOSFLM, 0, &e);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const db_expt_image image = { .path = names[i], .pedestal = 0, .gain = 1 };
        json_t *const list = written(&e, &image);
        const json_t *const set = model(list, "imageset");
        db_listed_shots shots = { 0 };
        assert_string_equal(json_string_value(json_object_get(set, "__id__")), "ImageSet");
        assert_string_equal(json_string_value(json_array_get(json_object_get(set, "images"), 0)),
                            names[i]);
        expect_ok(test_context(),
                  db_list_shots(test_context(), folder_path("x.expt"), &shots)); /* as read */
        assert_int_equal(shots.count, 1);
        db_listed_shots_clear(&shots);
        json_decref(list);
    }
    const db_expt_image none = { .path = "", .pedestal = 0, .gain = 1 };
    json_t *const list = written(&e, &none);
    assert_null(model(list, "imageset"));
    json_decref(list);
    db_experiment_clear(&e);
}

/* Names and numbers are written as Hall symbols, in the setting of the cell; a crystal system, a group
 * that the cell cannot have, and a misprint as P 1. A Hall symbol of no table stays as it is. */
static void the_space_group_is_a_hall_symbol(void **state) {
    (void)state;
    static const double square[6] = { 50, 50, 80, 90, 90, 90 },
                        slanted[6] = { 50, 60, 70, 90, 100, 90 };
    static const struct {
        const double *cell;
        const char *name, *hall;
    } cases[] = { { square, NULL, " P 1" },
                  { square, "P 43 21 2", " P 4nw 2abw" },
                  { square, "96", " P 4nw 2abw" },
                  { square, "P43212", " P 4nw 2abw" },
                  { square, "tetragonal", " P 1" },
                  { square, "P 61 2 2", " P 1" },
                  { slanted, "P 21", " P 2yb" },
                  { slanted, "P 43 21 2", " P 1" },
                  { slanted, "nonsense 7", " P 1" },
                  { slanted, "5", " C 2y" },
                  { square, " P 2", " P 2" },
                  { square, " Q 7", " P 1" },
                  { slanted, "-P 2yb", " -P 2yb" },
                  { slanted, " P 4nw 2abw", " P 1" },
                  /* of no table */
                  { square, " P 4nw 2abw (x+1/3,y,z)", " P 4nw 2abw (x+1/3,y,z)" },
                  { square, " P 2ac 2ab (x+1/12,y-1/12,z+1/24)",
                    " P 2ac 2ab (x+1/12,y-1/12,z+1/24)" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const db_expt_image image = { .path = "", .gain = 1, .space_group = cases[i].name };
        db_experiment e;
        make_experiment(DB_CONVENTION_MOSFLM, 0, &e);
        memcpy(e.crystal.cell, cases[i].cell, sizeof e.crystal.cell);
        json_t *const list = written(&e, &image);
        assert_string_equal(
            json_string_value(json_object_get(model(list, "crystal"), "space_group_hall_symbol")),
            strstr(db_features(), "gemmi") ? cases[i].hall : " P 1");
        json_decref(list);
        db_experiment_clear(&e);
    }
}

static void what_a_list_cannot_hold_is_refused(void **state) {
    (void)state;
    db_experiment e;
    make_experiment(DB_CONVENTION_MOSFLM, 0.5, &e);
    const int before = folder_count();
    e.detector.curved = 1;
    expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                   db_write_expt(test_context(), folder_path("curved.expt"), &e, NULL),
                   "curved.expt", "flat panels", "curved");
    e.detector.curved = 0;
    e.detector.distance = NAN;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_write_expt(test_context(), folder_path("nan.expt"), &e, NULL), "distance");
    e.detector.distance = 100;
    expect_failure(test_context(), DB_ERROR_FILE,
                   db_write_expt(test_context(), folder_path("no/such.expt"), &e, NULL),
                   "no/such.expt");
    assert_int_equal(folder_count(), before);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles_and_lengths_are_those_of_the_laboratory),
        cmocka_unit_test(a_turning_crystal_has_a_scan),
        cmocka_unit_test(a_still_crystal_stands_as_it_does_in_the_beam),
        cmocka_unit_test(names_become_templates),
        cmocka_unit_test(a_still_of_a_file_with_many_has_its_index),
        cmocka_unit_test(stills_are_named_without_a_number_too),
        cmocka_unit_test(the_space_group_is_a_hall_symbol),
        cmocka_unit_test(what_a_list_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}

#else

static void lists_are_refused(void **state) {
    (void)state;
    db_experiment e;
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                   db_write_expt(test_context(), "x.expt", &e, NULL), "jansson");
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists_are_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
