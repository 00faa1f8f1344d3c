#define _POSIX_C_SOURCE 200809L /* utimensat */
/* Streams of CrystFEL as lists: which images and crystals they have, however many; and that a list which
 * has changed is read anew. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/reflections.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/listed_shots.h>
#include <dualbragg/expert/reflection_tables.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define HEAD                                                                                       \
    "CrystFEL stream format 2.3\n----- Begin geometry file -----\nphoton_energy = 9500 eV\n"       \
    "clen = 0.1 m\nres = 10000\nadu_per_photon = 1\ndata = /data\ndim0 = %\ndim1 = ss\ndim2 = "    \
    "fs\n"                                                                                         \
    "p0/min_fs = 0\np0/max_fs = 99\np0/min_ss = 0\np0/max_ss = 49\np0/fs = x\np0/ss = y\n"         \
    "p0/corner_x = -50\np0/corner_y = -60\n"                                                       \
    "p1/min_fs = 0\np1/max_fs = 99\np1/min_ss = 50\np1/max_ss = 99\np1/fs = x\np1/ss = y\n"        \
    "p1/corner_x = -50\np1/corner_y = 5\n----- End geometry file -----\n"
#define CHUNK(event) "----- Begin chunk -----\nImage filename: run.cxi\nEvent: //" event "\n"
#define PEAKS                                                                                      \
    "Peaks from peak search\n  fs/px   ss/px (1/d)/nm^-1   Intensity  Panel\n"                     \
    "  10.50   20.25       1.00      300.00   p0\n  30.00   60.50       2.00       50.00   p1\n"   \
    "End of peak list\n"
#define CRYSTAL(a)                                                                                 \
    "--- Begin crystal\nastar = " a " +0.0 +0.0 nm^-1\nbstar = +0.0 +0.2 +0.0 nm^-1\n"             \
    "cstar = +0.0 +0.0 +0.1 nm^-1\n--- End crystal\n"
#define END "----- End chunk -----\n"

static void expect_shots(const char *text, const char *const *images, const long *numbers,
                         size_t count) {
    db_listed_shots shots;
    expect_ok(test_context(), db_list_shots(test_context(), folder_text("a.stream", text), &shots));
    assert_int_equal(shots.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(shots.shot[i].image, images[i]);
        assert_int_equal(shots.shot[i].number, numbers[i]);
    }
    db_listed_shots_clear(&shots);
}

static void each_crystal_of_a_stream_is_a_shot(void **state) {
    (void)state;
    static const char *const images[] = { "run.cxi#//0", "run.cxi#//2", "run.cxi#//2" };
    expect_shots(HEAD CHUNK("0") PEAKS CRYSTAL("0.2") END CHUNK("1") PEAKS END CHUNK("2")
                     CRYSTAL("0.2") CRYSTAL("0.3") END,
                 images, (const long[]){ 0, 1, 2 }, 3);
}

/* What CrystFEL found no crystal on can still be looked at, with the geometry alone. */
static void images_without_crystals_are_listed_where_there_are_no_others(void **state) {
    (void)state;
    static const char *const images[] = { "run.cxi#//0", "run.cxi#//5" };
    const char *const text = HEAD CHUNK("0") PEAKS END CHUNK("5") "photon_energy_eV = 9000\n" END;
    expect_shots(text, images, (const long[]){ -1, -1 }, 2);
    const db_expt_selection fifth = { .number = -1, .image = "run.cxi#//5" };
    db_experiment e;
    db_expt_content content;
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_ok(test_context(),
              db_read_expt(test_context(), folder_text("a.stream", text), &fifth, &e, &content));
    assert_int_equal(content.has_crystal, 0);
    assert_true(fabs(e.beam.wavelength - 12398.419843320026 / 9000) < 1e-9);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

/* A geometry without a photon energy takes that of the image. */
static void a_photon_energy_may_be_the_images_alone(void **state) {
    (void)state;
    char text[4000] = HEAD CHUNK("5") "photon_energy_eV = 9000\n" CRYSTAL("0.2") END;
    char *const line = strstr(text, "photon_energy = 9500 eV\n");
    const size_t length = strlen("photon_energy = 9500 eV\n");
    db_experiment e;
    db_expt_content content;
    memmove(line, line + length, strlen(line + length) + 1);
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    const db_expt_selection fifth = { .number = -1, .image = "run.cxi#//5" };
    expect_ok(test_context(),
              db_read_expt(test_context(), folder_text("a.stream", text), &fifth, &e, &content));
    assert_true(fabs(e.beam.wavelength - 12398.419843320026 / 9000) < 1e-9);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

/* The second panel begins at row 50 of the array. */
static void peaks_are_spots_of_their_panels(void **state) {
    (void)state;
    static const struct {
        const char *text;
        db_expt_selection selection;
        const char *message; /* NULL: it is read */
    } cases[] = {
        { HEAD CHUNK("3") PEAKS CRYSTAL("0.2") CRYSTAL("0.2") END, { .number = 1 }, NULL },
        { HEAD CHUNK("3") PEAKS END, { .number = -1, .image = "x/run.cxi#4" }, NULL },
        { HEAD CHUNK("3") PEAKS END, { .number = -1 }, NULL },
        { HEAD CHUNK("3") "Peaks from peak search\n fs ss\n 10.5 20.25 1 300\n 30 60.5 2 50\n"
                          "End of peak list\n" END,
          { .number = -1 },
          NULL },
        { HEAD CHUNK("3") PEAKS END,
          { .number = -1, .image = "run.cxi#5" },
          "none of the 1 images" },
        { HEAD CHUNK("3") PEAKS END, { .number = 0 }, "below 0" },
        { HEAD CHUNK("3") "Peaks from peak search\n fs ss\n 10 20 1 300 p2\n" END,
          { .number = -1 },
          "a.stream:33: expected the name of a panel of the geometry" },
        { HEAD CHUNK("3") "Peaks from peak search\n fs ss\n 10 20 1 300 p1\n" END,
          { .number = -1 },
          "a place on its panel" },
        { HEAD CHUNK("3") "Peaks from peak search\n fs ss\n 10 x 1 300 p0\n" END,
          { .number = -1 },
          "fs, ss, 1/d, intensity" },
        { HEAD CHUNK("3") "Peaks from peak search\n fs ss\n 10 20 1 300 p0\n",
          { .number = -1 },
          "the end of the list of peaks" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_reflection_table table;
        const char *const path = folder_text("a.stream", cases[i].text);
        const db_status status =
            db_read_stream_spots(test_context(), path, &cases[i].selection, &table);
        const char *const message = db_context_message(test_context());
        if (cases[i].message && (status != DB_ERROR_INPUT || !strstr(message, cases[i].message)))
            fail_msg("case %zu: expected '%s' in '%s'", i, cases[i].message, message);
        if (!cases[i].message && status != DB_OK) fail_msg("case %zu: %s", i, message);
        if (status == DB_OK) {
            assert_int_equal(table.count, 2);
            assert_true(table.position[0][0] == 10.5 && table.position[0][1] == 20.25);
            assert_true(table.position[1][0] == 30 && table.position[1][1] == 10.5);
            assert_true(table.panel[0] == 0 && table.panel[1] == 1);
        }
        db_reflection_table_clear(&table);
    }
}

/* As projections of tilted panels are written. They stand as they are
 * written; lists of DIALS get right angles about the same middle. */
static void panels_off_a_right_angle_stand_as_written(void **state) {
    (void)state;
    static const char text[] =
        "photon_energy = 9500 eV\nclen = 0.1\nres = 10000\nadu_per_photon = 1\np0/min_fs = 0\n"
        "p0/max_fs = 999\np0/min_ss = 0\np0/max_ss = 799\np0/fs = +1.0x +0.006y\n"
        "p0/ss = +0.002x +0.998y\np0/corner_x = -500\np0/corner_y = -400\n";
    const db_expt_selection any = { .number = -1 };
    db_experiment e;
    db_expt_content content;
    double at[3], other[3];
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_ok(test_context(),
              db_read_expt(test_context(), folder_text("off.geom", text), &any, &e, &content));
    db_expt_content_clear(&content);
    for (int i = 0; i < 6; i++) e.crystal.cell[i] = 90; /* a geometry has no crystal */
    expect_ok(test_context(), db_experiment_check(test_context(), &e));
    const double *const axis = e.detector.panels[0].slow_axis;
    assert_true(fabs(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2] - 1) < 1e-9);
    (void)db_experiment_pixel_position(&e, 0, 1000, 800, at);
    assert_true(fabs(at[0] + 0.1 * (-500 + 1000 + 1.6)) < 1e-9);
    assert_true(fabs(at[1] - 0.1 * (-400 + 6 + 798.4)) < 1e-9);
#if defined(DB_HAVE_JANSSON)
    char path[300];
    db_experiment back;
    snprintf(path, sizeof path, "%s", folder_path("right.expt"));
    expect_ok(test_context(), db_write_expt(test_context(), path, &e, NULL));
    expect_ok(test_context(), db_experiment_init(test_context(), &back));
    expect_ok(test_context(), db_read_expt(test_context(), path, &any, &back, &content));
    db_expt_content_clear(&content);
    const double *const fast = back.detector.panels[0].fast_axis;
    const double *const slow = back.detector.panels[0].slow_axis;
    assert_true(fabs(fast[0] * slow[0] + fast[1] * slow[1] + fast[2] * slow[2]) < 1e-12);
    for (int place = 0; place < 2; place++) {
        (void)db_experiment_pixel_position(&e, 0, place ? 1000 : 500, place ? 0 : 400, at);
        (void)db_experiment_pixel_position(&back, 0, place ? 1000 : 500, place ? 0 : 400, other);
        for (int i = 0; i < 3; i++) assert_true(fabs(at[i] - other[i]) < (place ? 0.3 : 1e-9));
    }
    db_experiment_clear(&back);
#endif
    db_experiment_clear(&e);
}

static void make_old(const char *path) {
    const struct timespec times[2] = { { time(NULL) - 60, 0 }, { time(NULL) - 60, 0 } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static double wavelength_of(const char *path, long number) {
    const db_expt_selection selection = { .number = number };
    db_experiment e;
    db_expt_content content;
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_ok(test_context(), db_read_expt(test_context(), path, &selection, &e, &content));
    const double wavelength = e.beam.wavelength;
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    return wavelength;
}

#define LIST(a, b)                                                                                 \
    "{\"experiment\":[{\"beam\":0,\"detector\":0},{\"beam\":1,\"detector\":0}],\"beam\":["         \
    "{\"direction\":[0,0,1],\"wavelength\":" a "},{\"direction\":[0,0,1],\"wavelength\":" b "}],"  \
    "\"detector\":[{\"panels\":[{\"name\":\"p\",\"fast_axis\":[1,0,0],\"slow_axis\":[0,-1,0],"     \
    "\"origin\":[-1,1,-100],\"image_size\":[20,10],\"pixel_size\":[0.1,0.1]}]}]}"

/* Lists are kept between two shots, until they change; however often, and however many there are. */
static void a_list_that_has_changed_is_read_anew(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
        double wavelength[2];
    } lists[] = {
#if defined(DB_HAVE_JANSSON)
        { "a.expt", LIST("1.1", "1.2"), { 1.1, 1.2 } },
        { "a.expt", LIST("1.3", "1.4"), { 1.3, 1.4 } },
        { "b.expt", LIST("1.5", "1.6"), { 1.5, 1.6 } },
#endif
        { "a.stream",
          HEAD CHUNK("0") "photon_energy_eV = 9000\n" CRYSTAL("0.2") END CHUNK("1") CRYSTAL("0.2")
              END,
          { 12398.419843320026 / 9000, 12398.419843320026 / 9500 } },
        { "a.stream",
          HEAD CHUNK("0") "photon_energy_eV = 8000\n" CRYSTAL("0.2") CRYSTAL("0.2") END,
          { 12398.419843320026 / 8000, 12398.419843320026 / 8000 } },
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int age = 0; age < 2; age++) {
            const char *const path = folder_text(lists[i].name, lists[i].text);
            if (age) make_old(path);
            for (int round = 0; round < 2; round++)
                for (int number = 1; number >= 0; number--) {
                    const double found = wavelength_of(path, number);
                    if (!(fabs(found - lists[i].wavelength[number]) < 1e-9))
                        fail_msg("list %zu: experiment %d: %g", i, number, found);
                }
        }
}

static char told[400];
static void keep_notice(void *user, const char *line) {
    (void)user;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", line);
}

static void a_beam_that_is_not_used_is_told(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } beams[] = {
        { HEAD CHUNK("0") "beam_divergence = 2.00e-03 rad\nbeam_bandwidth = 1.00e-02 "
                          "%\n" CRYSTAL("0.2") END,
          "beam_divergence, 0.002 rad, is not used" },
        { HEAD CHUNK("0") "beam_bandwidth = 3.00e-03 (fraction)\n" CRYSTAL("0.2") END,
          "beam_bandwidth, 0.003, is not used" },
        { HEAD CHUNK("0") "beam_divergence = 0.00e+00 rad\nbeam_bandwidth = 1.00e-08 "
                          "%\n" CRYSTAL("0.2") END,
          NULL },
    };
    for (size_t i = 0; i < sizeof beams / sizeof *beams; i++) {
        char name[20];
        told[0] = '\0';
        snprintf(name, sizeof name, "beam%zu.stream", i);
        db_context_set_notices(test_context(), keep_notice, NULL);
        (void)wavelength_of(folder_text(name, beams[i].text), 0);
        db_context_set_notices(test_context(), NULL, NULL);
        if (beams[i].expected ? !strstr(told, beams[i].expected) : *told != '\0')
            fail_msg("%zu: %s", i, told);
    }
}

/* An image's photon energy is what is taken, also where the geometry speaks of electrons. */
static void electrons_of_a_stream_are_told(void **state) {
    (void)state;
    char text[4000] = HEAD CHUNK("0") "photon_energy_eV = 494368\n" CRYSTAL("0.2") END;
    memcpy(strstr(text, "photon_energy = 9500 eV\n"), "electron_voltage=200 kV\n", 24);
    told[0] = '\0';
    db_context_set_notices(test_context(), keep_notice, NULL);
    const double wavelength = wavelength_of(folder_text("electrons.stream", text), 0);
    db_context_set_notices(test_context(), NULL, NULL);
    assert_true(fabs(wavelength - 12398.419843320026 / 494368) < 1e-9);
    if (!strstr(told, "electrons.stream: electron_voltage: the wavelength is that of "
                      "photon_energy_eV, 0.0250793 A: the model computes X-rays"))
        fail_msg("%s", told);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_crystal_of_a_stream_is_a_shot),
        cmocka_unit_test(images_without_crystals_are_listed_where_there_are_no_others),
        cmocka_unit_test(a_photon_energy_may_be_the_images_alone),
        cmocka_unit_test(peaks_are_spots_of_their_panels),
        cmocka_unit_test(panels_off_a_right_angle_stand_as_written),
        cmocka_unit_test(a_list_that_has_changed_is_read_anew),
        cmocka_unit_test(a_beam_that_is_not_used_is_told),
        cmocka_unit_test(electrons_of_a_stream_are_told),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
