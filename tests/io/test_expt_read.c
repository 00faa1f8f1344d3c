/* Experiment lists read: the experiment written comes back, and lists of other programs mean what
 * their models say. */
#include "support/expect.h"
#include "support/notices.h"
#include "files_for_tests.h"
#include "io/experiments/dxtbx.h"
#include "listed_setup.h"

#include <dualbragg/io.h>
#include <dualbragg/setup.h>
#include <dualbragg/expert/dials_frame.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/experiment_list_content.h>

#include <math.h>
#include <stdlib.h>

#if defined(DB_HAVE_JANSSON)

static const db_expt_selection the_only_one = { .number = -1 };

static void make_experiment(db_convention convention, double osc, db_experiment *experiment) {
    db_setup setup;
    listed_setup(convention, osc, &setup);
    setup.sensor_thickness = 320;
    setup.attenuation_depth = 250;
    setup.sensor_material = DB_SENSOR_CDTE;
    expect_ok(test_context(), db_setup_resolve(test_context(), &setup, experiment, NULL, NULL));
}

static void read_experiment(const char *path, const db_expt_selection *selection, db_experiment *e,
                            db_expt_content *content) {
    expect_ok(test_context(), db_experiment_init(test_context(), e));
    expect_ok(test_context(), db_read_expt(test_context(), path, selection, e, content));
    if (content->has_crystal) expect_ok(test_context(), db_experiment_check(test_context(), e));
}

static void expect_turned(double frame[3][3], const double lab[3], const double listed[3],
                          double tolerance) {
    for (int i = 0; i < 3; i++) {
        const double turned = frame[i][0] * lab[0] + frame[i][1] * lab[1] + frame[i][2] * lab[2];
        if (!(fabs(turned - listed[i]) <= tolerance))
            fail_msg("component %d: expected %.17g, found %.17g", i, turned, listed[i]);
    }
}

/* As it stands in the beam at the start: A* turned by phi. */
static void standing_matrix(const db_experiment *e, double a_star[3][3]) {
    double m[9];
    db_crystal_matrix(&e->crystal, m);
    for (int column = 0; column < 3; column++) {
        for (int i = 0; i < 3; i++) a_star[column][i] = m[3 * i + column];
        db_turn_by_degrees(e->goniometer.spindle_axis, e->goniometer.phi, a_star[column]);
    }
}

static void expect_same(const db_experiment *written, const db_experiment *read) {
    double frame[3][3], own[3][3], back[3][3];
    db_dials_frame(written, frame);
    for (size_t p = 0; p < written->detector.panel_count; p++) {
        const double at[3][2] = { { 0, 0 }, { 60, 0 }, { 13.5, 40 } };
        for (int k = 0; k < 3; k++) {
            double x[3], y[3];
            (void)db_experiment_pixel_position(written, p, at[k][0], at[k][1], x);
            (void)db_experiment_pixel_position(read, p, at[k][0], at[k][1], y);
            expect_turned(frame, x, y, 1e-9);
        }
    }
    expect_turned(frame, written->beam.direction, read->beam.direction, 1e-12);
    expect_turned(frame, written->beam.polarization_axis, read->beam.polarization_axis, 1e-12);
    expect_turned(frame, written->goniometer.spindle_axis, read->goniometer.spindle_axis, 1e-12);
    standing_matrix(written, own);
    standing_matrix(read, back);
    for (int i = 0; i < 3; i++) expect_turned(frame, own[i], back[i], 1e-11);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(written->crystal.cell[i] - read->crystal.cell[i]) < 1e-9);
    assert_true(fabs(written->beam.wavelength - read->beam.wavelength) < 1e-12);
    assert_true(fabs(written->beam.polarization - read->beam.polarization) < 1e-12);
}

static void what_was_written_comes_back(void **state) {
    (void)state;
    for (int convention = DB_CONVENTION_MOSFLM; convention < DB_CONVENTION_CUSTOM; convention++)
        for (int turning = 0; turning < 2; turning++) {
            db_experiment e, back, again;
            db_expt_content content;
            make_experiment((db_convention)convention, turning ? 0.5 : 0, &e);
            const char *path = folder_path("x.expt");
            expect_ok(test_context(), db_write_expt(test_context(), path, &e, NULL));
            read_experiment(path, &the_only_one, &back, &content);
            assert_int_equal(content.has_crystal, 1);
            assert_string_equal(content.space_group, " P 1");
            assert_true(fabs(content.sensor_thickness - 320) < 1e-9);
            assert_true(fabs(content.attenuation_depth - 250) < 1e-9);
            assert_int_equal(content.sensor_material, DB_SENSOR_CDTE);
            assert_true(fabs(content.osc_range - (turning ? 0.5 : 0)) < 1e-12);
            expect_same(&e, &back);
            db_expt_content_clear(&content);

            /* from then on in the list's own frame, number by number */
            expect_ok(test_context(), db_write_expt(test_context(), path, &back, NULL));
            read_experiment(path, &the_only_one, &again, &content);
            double frame[3][3];
            db_dials_frame(&back, frame);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) assert_true(frame[i][k] == (i == k));
            expect_same(&back, &again);
            assert_true(fabs(back.detector.distance - again.detector.distance) < 1e-9);
            for (int i = 0; i < 2; i++)
                assert_true(fabs(back.detector.centre[i] - again.detector.centre[i]) < 1e-9);
            db_expt_content_clear(&content);
            db_experiment_clear(&e);
            db_experiment_clear(&back);
            db_experiment_clear(&again);
        }
}

/* A list in pieces. */
#define PANEL(name, origin)                                                                        \
    "{\"name\":\"" name "\",\"fast_axis\":[1,0,0],\"slow_axis\":[0,-1,0],\"origin\":" origin       \
    ",\"image_size\":[20,10],\"pixel_size\":[0.1,0.1],\"trusted_range\":[-5,1000],\"gain\":7,"     \
    "\"mask\":[[1,2,3,4]]}"
#define BEAM                                                                                       \
    "\"beam\":[{\"direction\":[0,0,1],\"wavelength\":1.5,\"polarization_normal\":[0,1,0],"         \
    "\"polarization_fraction\":0.75}]"
#define ONE(more) "\"experiment\":[{\"beam\":0,\"detector\":0" more "}]"
#define GROUP(fast, slow, origin, children)                                                        \
    "{\"fast_axis\":" fast ",\"slow_axis\":" slow ",\"origin\":" origin ",\"children\":[" children \
    "]}"

/* Panel 0 stands in a group that is turned by 90 degree about z and shifted, panel 1 in one within
 * another; panel 2 in the root alone. Corners worked out by hand. */
static void panels_stand_in_groups_within_groups(void **state) {
    (void)state;
    const char *path = folder_text(
        "groups.expt",
        "{" ONE(
            "") "," BEAM
                ",\"detector\":[{\"panels\":[" PANEL("p0", "[1,2,0]") "," PANEL("p1", "[1,2,0]") "," PANEL(
                    "p2",
                    "[3,0,1]") "],\"hierarchy\":" GROUP("[1,0,0]", "[0,1,0]", "[0,0,-100]",
                                                        GROUP(
                                                            "[0,1,0]", "[-1,0,0]", "[10,20,0]",
                                                            "{\"panel\":0}") "," GROUP("[0,1,0]",
                                                                                       "[-1,0,0]",
                                                                                       "[-10,0,0]",
                                                                                       GROUP(
                                                                                           "[0,1,"
                                                                                           "0]",
                                                                                           "[-1,0,"
                                                                                           "0]",
                                                                                           "[5,0,"
                                                                                           "0]",
                                                                                           "{\"pane"
                                                                                           "l\":"
                                                                                           "1}")) ","
                                                                                                  "{\"pan"
                                                                                                  "el\":"
                                                                                                  "2}") "}]}");
    static const double corner[3][3] = { { 8, 21, -100 }, { -11, 3, -100 }, { 3, 0, -99 } };
    static const double fast[3][3] = { { 0, 1, 0 }, { -1, 0, 0 }, { 1, 0, 0 } };
    static const double slow[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 } };
    db_experiment e;
    db_expt_content content;
    read_experiment(path, &the_only_one, &e, &content);
    assert_int_equal(e.detector.panel_count, 3);
    for (size_t p = 0; p < 3; p++) {
        double at[3], f[3], s[3];
        (void)db_experiment_pixel_position(&e, p, 0, 0, at);
        (void)db_experiment_pixel_position(&e, p, 10, 0, f);
        (void)db_experiment_pixel_position(&e, p, 0, 10, s);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(at[i] - corner[p][i]) < 1e-9);
            assert_true(fabs(f[i] - at[i] - fast[p][i]) < 1e-9);
            assert_true(fabs(s[i] - at[i] - slow[p][i]) < 1e-9);
        }
        assert_true(content.panel[p].trusted[0] == -5 && content.panel[p].trusted[1] == 1000);
        assert_true(content.panel[p].gain == 7);
        assert_int_equal(content.panel[p].mask_count, 1);
        assert_int_equal(content.panel[p].mask[0][3], 4);
    }
    assert_string_equal(content.panel[1].name, "p1");
    /* panel 0 in the first group, 1 in the only one of the second, 2 in the detector alone */
    static const int levels[3] = { 2, 3, 1 };
    for (size_t p = 0; p < 3; p++) {
        assert_int_equal(content.panel[p].level_count, levels[p]);
        assert_int_equal(content.panel[p].group[0], 0);
    }
    assert_int_equal(content.panel[0].group[1], 0);
    assert_int_equal(content.panel[1].group[1], 1);
    assert_int_equal(content.panel[1].group[2], 0);
    assert_int_equal(content.has_crystal, 0);
    assert_true(fabs(e.beam.polarization - 0.5) < 1e-12);
    assert_true(fabs(fabs(e.beam.polarization_axis[0]) - 1) < 1e-12);
    /* a list that does not say the fraction means 0.999, as in dxtbx */
    char unsaid[2000];
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    unsaid[fread(unsaid, 1, sizeof unsaid - 1, file)] = '\0';
    fclose(file);
    memcpy(strstr(unsaid, "polarization_fraction"), "other_key_of_any_kind", 21);
    db_experiment plain;
    db_expt_content other;
    read_experiment(folder_text("unsaid.expt", unsaid), &the_only_one, &plain, &other);
    assert_true(fabs(plain.beam.polarization - 0.998) < 1e-12);
    db_expt_content_clear(&other);
    db_experiment_clear(&plain);
    /* the plate is where the panels are on average, and the beam hits its origin */
    assert_true(fabs(e.detector.distance - (100 + 100 + 99) / 3.0) < 1e-9);
    assert_true(fabs(e.detector.centre[0]) < 1e-9 && fabs(e.detector.centre[1]) < 1e-9);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

#define FLAT "\"detector\":[{\"panels\":[" PANEL("p", "[-1,1,-100]") "]}]"
#define CRYSTAL                                                                                    \
    "\"crystal\":[{\"real_space_a\":[40,0,0],\"real_space_b\":[0,50,0],\"real_space_c\":[0,0,60]," \
    "\"space_group_hall_symbol\":\" P 2ac 2ab\"}]"

static void expect_panel(const db_experiment *e, size_t panel, const double corner[3]) {
    double at[3];
    (void)db_experiment_pixel_position(e, panel, 0, 0, at);
    for (int i = 0; i < 3; i++)
        if (!(fabs(at[i] - corner[i]) < 1e-9))
            fail_msg("panel %zu: %g %g %g", panel, at[0], at[1], at[2]);
}

/* A refined still goes back into the form that it came in: its panels have moved by 10 mm, its cell has
 * grown, and all else is as the list had it. */
static void a_written_list_keeps_what_its_origin_says(void **state) {
    (void)state;
    const char *const origin = folder_text(
        "origin.expt",
        "{\"experiment\":[{},{\"identifier\":\"still-2\",\"beam\":0,\"detector\":0,\"crystal\":0,"
        "\"scan\":0,\"imageset\":0,\"goniometer\":0,\"profile\":1,\"scaling_model\":null}],"
        "\"profile\":[{\"__id__\":\"none\"},{\"__id__\":\"gaussian_rs\",\"sigma_m\":0.25}],"
        "\"imageset\":[{\"__id__\":\"ImageSequence\",\"template\":\"/data/m.h5\","
        "\"single_file_indices\":[6]}],\"scan\":[{\"image_range\":[7,7],\"properties\":{"
        "\"wavelength\":[1.25]}}],\"goniometer\":[{\"rotation_axis\":[0,1,0]}],"
        "\"detector\":[{\"panels\":[" PANEL("p0", "[1,2,0]") "," PANEL(
            "p1",
            "[3,0,1]") "],\"hierarchy\":" GROUP("[1,0,0]", "[0,1,0]", "[0,0,-100]",
                                                GROUP("[0,1,0]", "[-1,0,0]", "[10,20,0]",
                                                      "{\"panel\":0}") ",{\"panel\":1}") "}]," BEAM
                                                                                         "," CRYSTAL
                                                                                         "}");
    static const double before[2][3] = { { 8, 21, -100 }, { 3, 0, -99 } };
    static const double after[2][3] = { { 8, 21, -110 }, { 3, 0, -109 } };
    char written[4200];
    db_experiment e;
    db_expt_content content;
    const db_expt_selection second = { .number = 1, .image = "m.h5#7" };
    read_experiment(origin, &second, &e, &content);
    db_expt_content_clear(&content);
    for (size_t p = 0; p < 2; p++) expect_panel(&e, p, before[p]);
    e.detector.distance += 10;
    e.crystal.cell[0] *= 1.01;
    const db_expt_image image = { .path = "/data/m.h5#7", .gain = 1 };
    snprintf(written, sizeof written, "%s", folder_path("written.expt"));
    expect_ok(test_context(), db_write_expt(test_context(), written, &e, &image));
    expect_ok(test_context(), db_expt_keep(test_context(), written, origin, 1, 0));
    db_experiment_clear(&e);
    size_t size;
    char *const text = load_file(written, &size);
    assert_non_null(strstr(text, "gaussian_rs"));
    assert_non_null(strstr(text, "\"profile\": 0"));
    assert_null(strstr(text, "\"none\""));
    free(text);
    const db_expt_selection shown = { .number = -1, .image = "m.h5#7" };
    read_experiment(written, &shown, &e, &content);
    for (size_t p = 0; p < 2; p++) expect_panel(&e, p, after[p]);
    assert_string_equal(content.identifier, "still-2");
    assert_string_equal(content.panel[1].name, "p1");
    assert_int_equal(content.panel[0].level_count, 2);
    assert_int_equal(content.panel[1].level_count, 1);
    assert_int_equal(content.panel[1].mask_count, 1);
    assert_true(content.panel[1].gain == 7 && e.beam.wavelength == 1.25);
    assert_string_equal(content.space_group, " P 2ac 2ab");
    double a_star[9];
    db_crystal_matrix(&e.crystal, a_star);
    assert_true(fabs(a_star[0] - 1 / 40.4) < 1e-12 && fabs(a_star[4] - 1 / 50.0) < 1e-12);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);

    /* of another image: what belongs to the instrument stays, what belongs to the experiment does not */
    read_experiment(origin, &second, &e, &content);
    db_expt_content_clear(&content);
    const db_expt_image other = { .path = "/data/n.h5#3", .gain = 1 };
    expect_ok(test_context(), db_write_expt(test_context(), written, &e, &other));
    expect_ok(test_context(), db_expt_keep(test_context(), written, origin, 1, 1));
    db_experiment_clear(&e);
    char *const rest = load_file(written, &size);
    assert_non_null(rest);
    assert_null(strstr(rest, "gaussian_rs"));
    assert_null(strstr(rest, "m.h5"));
    free(rest);
    const db_expt_selection of_other = { .number = -1, .image = "n.h5#3" };
    read_experiment(written, &of_other, &e, &content);
    assert_string_equal(content.identifier, "");
    assert_string_equal(content.other_image, "");
    assert_string_equal(content.panel[1].name, "p1");
    assert_int_equal(content.panel[1].mask_count, 1);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_expt_keep(test_context(), written, origin, 2, 0), written, "no longer");
    expect_failure(test_context(), DB_ERROR_FILE,
                   db_expt_keep(test_context(), written, folder_path("none.expt"), 0, 0),
                   "none.expt");
}

/* A spindle along y in a setting turned by 90 degree about z lies along -x; the crystal is turned
 * by 90 degree about x on it: b stands along z, and after the setting a along y. */
static void a_goniometer_turns_what_stands_on_it(void **state) {
    (void)state;
    static const char *const models[] = {
        "{\"rotation_axis\":[0,1,0],\"fixed_rotation\":[1,0,0,0,0,-1,0,1,0],"
        "\"setting_rotation\":[0,-1,0,1,0,0,0,0,1]}",
        "{\"axes\":[[1,0,0],[0,1,0],[0,0,1]],\"angles\":[90,33,90],\"scan_axis\":1}",
        /* written with few digits: the crystal keeps its size */
        "{\"rotation_axis\":[0,1,0],\"fixed_rotation\":[1.0003,0,0,0,0,-1,0,0.9998,0],"
        "\"setting_rotation\":[0,-0.9997,0,1,0,0,0,0,1]}"
    };
    for (int k = 0; k < 3; k++) {
        char text[4000];
        snprintf(
            text, sizeof text,
            "{" ONE(
                ",\"goniometer\":0,\"scan\":0,\"crystal\":0,\"imageset\":0") "," BEAM "," FLAT
                                                                             "," CRYSTAL
                                                                             ",\"goniometer\":[%s],"
                                                                             "\"imageset\":[{"
                                                                             "\"template\":"
                                                                             "\"/data/"
                                                                             "x_####.cbf\"}],"
                                                                             "\"scan\":[{\"image_"
                                                                             "range\":[3,12],"
                                                                             "\"oscillation\":[10,"
                                                                             "0.5]"
                                                                             "}]}",
            models[k]);
        const char *path = folder_text("gonio.expt", text);
        const db_expt_selection fifth = { .number = -1, .image = "elsewhere/x_0005.cbf" };
        db_experiment e;
        db_expt_content content;
        read_experiment(path, &fifth, &e, &content);
        assert_true(fabs(e.goniometer.spindle_axis[0] + 1) < 1e-12);
        assert_true(fabs(e.goniometer.phi - 11) < 1e-12 && fabs(content.osc_range - 0.5) < 1e-12);
        double a[9];
        db_crystal_matrix(&e.crystal, a);
        assert_true(fabs(a[3] - 1 / 40.0) < 1e-12); /* y of a* */
        assert_true(fabs(a[7] - 1 / 50.0) < 1e-12); /* z of b* */
        assert_true(fabs(a[2] - 1 / 60.0) < 1e-12); /* x of c* */
        assert_string_equal(content.space_group, " P 2ac 2ab");
        for (int i = 0; i < 9; i++) /* x to y, y to z, z to x */
            assert_true(fabs(content.circles[i] - (i == 2 || i == 3 || i == 7)) < 1e-12);
        db_expt_content_clear(&content);
        const db_expt_selection beyond = { .number = -1, .image = "x_0013.cbf" };
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_expt(test_context(), path, &beyond, &e, &content), path,
                       "image_range", "[3,12]");
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

/* Crystal, beam and goniometer of each image are half-way between the points beside it. */
#define SCAN_POINTS(crystal, beam, gonio)                                                          \
    "{" ONE(                                                                                       \
        ",\"goniometer\":0,\"scan\":0,\"crystal\":0,\"imageset\":0") "," FLAT                      \
                                                                     ",\"crystal\":[{\"real_"      \
                                                                     "space_a\":[40,0,0],\"real_"  \
                                                                     "space_b\":[0,50,0],\"real_"  \
                                                                     "space_c\":"                  \
                                                                     "[0,0,60],\"A_at_scan_"       \
                                                                     "points\":[" crystal "]}],"   \
                                                                     "\"beam\":[{\"direction\":["  \
                                                                     "0,0,1],\"wavelength\":1.5,"  \
                                                                     "\"s0_at_scan_points\":"      \
                                                                     "[" beam "]}],"               \
                                                                     "\"goniometer\":[{"           \
                                                                     "\"rotation_axis\":[1,0,0],"  \
                                                                     "\"setting_rotation_at_scan_" \
                                                                     "points\":[" gonio            \
                                                                     "]}],\"imageset\":[{"         \
                                                                     "\"template\":\"/"            \
                                                                     "x_###.cbf\"}],\"scan\":[{"   \
                                                                     "\"image_range\":[3,4],"      \
                                                                     "\"oscillation\":[10,0.5]}]}"
/* Which image a scan begins with, and how far it turns: [start, width] of the list, and those of image 5 of 3 to 12. */
static void scans_keep_their_sense(void **state) {
    (void)state;
    static const struct {
        const char *oscillation;
        double phi, width;
    } rows[] = {
        { "10,0.5", 11, 0.5 }, { "10,-0.5", 9, -0.5 }, { "10,0.000001", 0, 0 }, { "10,0", 0, 0 }
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "{" ONE(",\"scan\":0,\"imageset\":0") "," BEAM "," FLAT
                                                  ",\"imageset\":[{\"template\":\"/x_####.cbf\"}],"
                                                  "\"scan\":[{\"image_range\":[3,12],"
                                                  "\"oscillation\":[%s]}]}",
            rows[i].oscillation);
        const db_expt_selection fifth = { .number = -1, .image = "x_0005.cbf" };
        db_experiment e;
        db_expt_content content;
        read_experiment(folder_text("sense.expt", text), &fifth, &e, &content);
        assert_true(fabs(content.phi - rows[i].phi) < 1e-12);
        assert_true(fabs(content.osc_range - rows[i].width) < 1e-12);
        assert_true(fabs(e.goniometer.phi - rows[i].phi) < 1e-12);
        assert_true(fabs(e.goniometer.phi_step - rows[i].width) < 1e-12);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

#define UPRIGHT "[1,0,0,0,1,0,0,0,1]"
#define TURNED ",[0.8,-0.6,0,0.6,0.8,0,0,0,1]"
#define ALONG(a) "[" a ",0,0,0,0.02,0,0,0,0.025]"
#define POINTS ALONG("0.02") "," ALONG("0.03") "," ALONG("0.05")
#define BEAMS "[0,0,-1],[0,0,-1],[0,0.2,-1.5]"

static void what_varies_along_a_scan_is_taken_at_the_image(void **state) {
    (void)state;
    const char *const path =
        folder_text("varies.expt", SCAN_POINTS(POINTS, BEAMS, UPRIGHT "," UPRIGHT TURNED));
    static const double a_star[2] = { 0.025, 0.04 };
    for (int i = 0; i < 2; i++) {
        const db_expt_selection by_name = { .number = -1, .image = i ? "x_004.cbf" : "x_003.cbf" },
                                by_number = { -1, "x_003.cbf", 3 + i };
        const double half_turn = i ? 0.5 * atan2(0.6, 0.8) : 0;
        for (int k = 0; k < 2; k++) {
            db_experiment e;
            db_expt_content content;
            double a[9];
            read_experiment(path, k ? &by_number : &by_name, &e, &content);
            assert_int_equal(content.varies, 1);
            assert_true(fabs(content.phi - (10 + 0.5 * i)) < 1e-12);
            db_crystal_matrix(&e.crystal, a);
            assert_true(fabs(a[0] - a_star[i] * cos(half_turn)) < 1e-12);
            assert_true(fabs(a[3] - a_star[i] * sin(half_turn)) < 1e-12);
            assert_true(fabs(a[8] - 0.025) < 1e-12);
            assert_true(fabs(e.goniometer.spindle_axis[1] - sin(half_turn)) < 1e-12);
            const double s0[2] = { i ? 0.1 : 0, i ? -1.25 : -1 }, length = hypot(s0[0], s0[1]);
            assert_true(fabs(e.beam.wavelength - 1 / length) < 1e-12);
            assert_true(fabs(e.beam.direction[1] - s0[0] / length) < 1e-12);
            assert_true(fabs(e.beam.direction[2] - s0[1] / length) < 1e-12);
            expect_panel(&e, 0, (double[3]){ -1, 1, -100 });
            db_expt_content_clear(&content);
            db_experiment_clear(&e);
        }
    }
}

/* Rotations of the goniometer that would stretch or mirror the crystal. */
static void what_is_no_rotation_is_refused(void **state) {
    (void)state;
    static const char *const matrices[] = { "[2,0,0,0,2,0,0,0,2]", "[0,0,0,0,0,0,0,0,0]",
                                            "[1,0,0,0,1,0,0,0,-1]", "[1,0.5,0,0,1,0,0,0,1]" },
                             *const names[] = { "fixed_rotation", "setting_rotation" };
    for (size_t k = 0; k < 2 * sizeof matrices / sizeof *matrices; k++) {
        char text[4000];
        snprintf(text, sizeof text,
                 "{" ONE(",\"goniometer\":0") "," BEAM "," FLAT
                                              ",\"goniometer\":[{\"rotation_axis\":"
                                              "[0,1,0],\"%s\":%s}]}",
                 names[k % 2], matrices[k / 2]);
        const char *const path = folder_text("stretched.expt", text);
        db_experiment e;
        db_expt_content content;
        const db_expt_selection first = { .number = -1 };
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_expt(test_context(), path, &first, &e, &content), path, names[k % 2],
                       "numbers that are a rotation", matrices[k / 2]);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

static void points_that_are_no_scan_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        long frame;
        const char *place, *expected;
    } cases[] = {
        { SCAN_POINTS(ALONG("0.02") "," ALONG("0.03"), BEAMS, ""), 0,
          "crystal[0].A_at_scan_points: expected 3 points", "2 images of the scan, found 2" },
        { SCAN_POINTS(POINTS, "[0,0,-1]", ""), 0, "beam[0].s0_at_scan_points", "found 1" },
        { SCAN_POINTS(POINTS, BEAMS, UPRIGHT), 0, "setting_rotation_at_scan_points", "found 1" },
        { SCAN_POINTS("[1],[2],[3]", BEAMS, UPRIGHT "," UPRIGHT "," UPRIGHT), 0,
          "A_at_scan_points[0]", "9 numbers" },
        { SCAN_POINTS(ALONG("-1") "," ALONG("-1") "," ALONG("-1"), BEAMS,
                      UPRIGHT "," UPRIGHT "," UPRIGHT),
          0, "A_at_scan_points", "right-handed" },
        { SCAN_POINTS(POINTS, "[0,0,1],[0,0,-1],[0,0,1]", UPRIGHT "," UPRIGHT "," UPRIGHT), 0,
          "s0_at_scan_points", "1/wavelength" },
        { SCAN_POINTS(POINTS, BEAMS, UPRIGHT "," UPRIGHT "," UPRIGHT), 5, "image_range",
          "a range with image 5 in it, found [3,4]" },
        { "{" ONE("") "," BEAM "," FLAT "}", 1, "scan", "has the image of that number" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const db_expt_selection selection = { -1, NULL, cases[i].frame };
        const char *const path = folder_text("wrong.expt", cases[i].text);
        db_experiment e;
        db_expt_content content;
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_expt(test_context(), path, &selection, &e, &content), path,
                       cases[i].place, cases[i].expected);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

static void of_several_experiments_one_is_chosen(void **state) {
    (void)state;
    const char *path = folder_text(
        "several.expt",
        "{\"experiment\":[{\"beam\":0,\"detector\":0,\"imageset\":0},{\"beam\":1,\"detector\":0,"
        "\"imageset\":1},{\"beam\":1,\"detector\":0,\"imageset\":1}],\"beam\":[{\"direction\":[0,0,"
        "1],\"wavelength\":1},{\"direction\":[0,0,1],\"wavelength\":2}]," FLAT
        ",\"imageset\":[{\"images\":[\"/a/one.cbf\"]},{\"images\":[\"/a/two.cbf\"]}]}");
    db_experiment e;
    db_expt_content content;
    const db_expt_selection one = { .number = -1, .image = "/b/one.cbf" },
                            two = { .number = -1, .image = "two.cbf" }, third = { .number = 2 },
                            fourth = { .number = 3 }, none = { .number = -1, .image = "three.cbf" };
    read_experiment(path, &one, &e, &content);
    assert_true(e.beam.wavelength == 1 && content.number == 0);
    assert_string_equal(content.other_image, "");
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    read_experiment(path, &third, &e, &content);
    assert_true(e.beam.wavelength == 2 && content.number == 2);
    assert_string_equal(content.other_image, "");
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    const db_expt_selection packed = { .number = -1, .image = "/b/one.cbf.gz" };
    read_experiment(path, &packed, &e, &content);
    assert_true(content.number == 0 && !*content.other_image);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    const db_expt_selection forced = { .number = 1, .image = "one.cbf" };
    read_experiment(path, &forced, &e, &content);
    assert_string_equal(content.other_image, "two.cbf");
    db_expt_content_clear(&content);
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_expt(test_context(), path, &two, &e, &content), path, "2 experiments",
                   "1 and 2");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_expt(test_context(), path, &the_only_one, &e, &content),
                   "3 experiments");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_expt(test_context(), path, &fourth, &e, &content), "from 0 to 2");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_expt(test_context(), path, &none, &e, &content), "three.cbf");
    db_experiment_clear(&e);
}

/* Stills of one file share a sequence and a beam; each has its own wavelength. */
static void each_shot_of_a_sequence_has_its_wavelength(void **state) {
    (void)state;
    const char *path = folder_text(
        "sequence.expt",
        "{\"experiment\":[{\"beam\":0,\"detector\":0,\"imageset\":0,\"scan\":0},{\"beam\":0,"
        "\"detector\":0,\"imageset\":0,\"scan\":1},{\"beam\":0,\"detector\":0,\"imageset\":0,"
        "\"scan\":2}]," FLAT ",\"beam\":[{\"__id__\":\"xfel\",\"direction\":[0,0,1]}],"
        "\"imageset\":[{\"template\":\"/m.h5\",\"single_file_indices\":[0,1,2,3]}],\"scan\":["
        "{\"image_range\":[1,1],\"properties\":{\"wavelength\":[1.1]}},"
        "{\"image_range\":[2,2],\"properties\":{\"wavelength\":[1.2]}},"
        "{\"image_range\":[3,4],\"properties\":{\"wavelength\":[1.3,1.4]}}]}");
    static const double wavelengths[] = { 1.1, 1.2, 1.3, 1.4 };
    for (int i = 0; i < 4; i++) {
        char image[16];
        db_experiment e;
        db_expt_content content;
        snprintf(image, sizeof image, "m.h5#%d", i + 1);
        const db_expt_selection shot = { .number = -1, .image = image };
        read_experiment(path, &shot, &e, &content);
        assert_int_equal(content.number, i < 2 ? i : 2);
        assert_true(e.beam.wavelength == wavelengths[i]);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *expected;
    } cases[] = {
        { "[1, 2]", "expected an object", "[1,2]" },
        { "{\"experiment\": [}", ":1:", "JSON" },
        { "{}", "experiment", "nothing" },
        { "{" ONE("") "," FLAT ",\"beam\":[]}", "experiment[0].beam", "the number of a model" },
        { "{" ONE("") "," FLAT ",\"beam\":[{\"direction\":[0,0],\"wavelength\":1}]}",
          "beam[0].direction", "3 numbers" },
        { "{" ONE("") "," FLAT ",\"beam\":[{\"direction\":[0,0,1],\"wavelength\":-1}]}",
          "beam[0].wavelength", "> 0" },
        { "{" ONE(",\"scan\":0") "," BEAM "," FLAT
                                 ",\"scan\":[{\"image_range\":[1,3],\"properties\":{"
                                 "\"wavelength\":[1,1]}}]}",
          "scan[0].properties.wavelength", "each image" },
        { "{" ONE("") "," BEAM ",\"detector\":[{\"panels\":[]}]}", "detector[0].panels",
          "1 to 4096" },
        { "{" ONE("") "," BEAM ",\"detector\":[{\"panels\":[" PANEL("p", "[0,0,\"x\"]") "]}]}",
          "detector[0].panels[0].origin", "3 numbers" },
        { "{" ONE("") "," BEAM ",\"detector\":[{\"panels\":[" PANEL("p", "[-1,1,0]") "]}]}",
          "detector[0]", "behind" },
        { "{" ONE("") "," BEAM ",\"detector\":[{\"panels\":[" PANEL(
              "p", "[0,0,-1]") "],\"hierarchy\":" GROUP("[1,0,0]", "[0,1,0]", "[0,0,0]",
                                                        "{\"panel\":1}") "}]}",
          "hierarchy.children[0].panel", "number of a panel" },
        { "{" ONE("") "," BEAM ",\"detector\":[{\"panels\":[" PANEL(
              "p", "[0,0,-1]") "],\"hierarchy\":" GROUP("[1,0,0]", "[0,1,0]", "[0,0,0]",
                                                        "{\"panel\":0},{\"panel\":0}") "}]}",
          "panels[0]", "one group only" },
        { "{" ONE(",\"crystal\":0") "," BEAM "," FLAT
                                    ",\"crystal\":[{\"real_space_a\":[1,0,0],\"real_space_b\":[0,1,"
                                    "0],\"real_space_c\":[0,0,"
                                    "-1]}]}",
          "crystal[0]", "right-handed" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *path = folder_text("bad.expt", cases[k].text);
        db_experiment e;
        db_expt_content content;
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_expt(test_context(), path, &the_only_one, &e, &content), path,
                       cases[k].place, cases[k].expected);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

/* What would be rendered with one wavelength only. */
static void beams_of_many_wavelengths_are_refused(void **state) {
    (void)state;
    static const char *const lists[] = {
        "{" ONE("") "," FLAT ",\"beam\":[{\"__id__\":\"polychromatic\",\"direction\":[0,0,1],"
                    "\"wavelength_range\":[0.9,1.3]}]}",
        "{" ONE("") "," FLAT ",\"beam\":[{\"__id__\":\"undulating\",\"direction\":[0,0,1],"
                    "\"wavelength\":1}]}",
        "{" ONE(",\"scan\":0") "," BEAM "," FLAT ",\"scan\":[{\"image_range\":[1,1],"
                               "\"properties\":{\"time_of_flight\":[0.1]}}]}",
    };
    static const char *const words[] = { "0.9 to 1.3", "undulating", "times of flight" };
    for (int i = 0; i < 3; i++) {
        const char *const path = folder_text("many.expt", lists[i]);
        db_experiment e;
        db_expt_content content;
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                       db_read_expt(test_context(), path, &the_only_one, &e, &content), path,
                       words[i]);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

/* What is said beside the list wins, where it has a meaning in the list's frame. */
static void a_setup_takes_the_list_where_it_says_nothing(void **state) {
    (void)state;
    db_experiment e, back;
    make_experiment(DB_CONVENTION_MOSFLM, 0, &e);
    const char *path = folder_path("setup.expt");
    expect_ok(test_context(), db_write_expt(test_context(), path, &e, NULL));
    db_setup setup;
    db_setup_init(&setup);
    expect_ok(test_context(),
              db_setup_read_expt(test_context(), path, -1, NULL, &setup, NULL, NULL));
    setup.oversample = 1;
    setup.default_F = 1;
    expect_ok(test_context(), db_setup_resolve(test_context(), &setup, &back, NULL, NULL));
    expect_same(&e, &back);
    assert_true(fabs(back.detector.sensor_thickness - 320) < 1e-9);
    assert_true(fabs(back.detector.attenuation_depth - 250) < 1e-9);
    assert_int_equal(back.detector.layers_at_front, 0);
    assert_int_equal(back.detector.sensor_material, DB_SENSOR_CDTE);
    db_experiment_clear(&back);

    setup.cell[0] = 46;
    setup.wavelength = 1.1;
    setup.distance = 200;
    expect_ok(test_context(), db_setup_resolve(test_context(), &setup, &back, NULL, NULL));
    assert_true(back.crystal.cell[0] == 46 && back.crystal.cell[1] == 46);
    assert_true(back.beam.wavelength == 1.1 && back.detector.distance == 200);
    db_experiment_clear(&back);

    setup.beam_centre[0] = 3;
    expect_failure(test_context(), DB_ERROR_USAGE,
                   db_setup_resolve(test_context(), &setup, &back, NULL, NULL), "beam centre",
                   path);
    setup.beam_centre[0] = NAN;
    setup.convention = DB_CONVENTION_XDS;
    expect_failure(test_context(), DB_ERROR_USAGE,
                   db_setup_resolve(test_context(), &setup, &back, NULL, NULL), "convention", path);
    db_experiment_clear(&e);
}

/* Each line once; what says nothing is not told. */
static void what_is_not_used_is_told(void **state) {
    (void)state;
    static const char *const told[] = { "beam[0]: divergence 0.02, flux 1e+12: not used",
                                        "the probe is electron",
                                        "image 3 is not in valid_image_ranges" };
    db_experiment e;
    db_expt_content content;
    const char *const path = folder_text(
        "unused.expt",
        "{\"experiment\":[{\"identifier\":\"a\",\"beam\":0,\"detector\":0,\"scan\":0}],\"scan\":[{"
        "\"image_range\":[1,9],\"oscillation\":[0,1],\"valid_image_ranges\":{\"a\":[[1,2],[4,9]]}}]"
        ","
        "\"beam\":[{\"direction\":[0,0,1],\"wavelength\":0.02,\"divergence\":0.02,"
        "\"sigma_divergence\":0.0,\"flux\":1e12,\"transmission\":1.0,\"probe\":\"electron\"}]," FLAT
        "}");
    db_context_set_notices(test_context(), keep_notice, NULL);
    for (long image = 3; image < 5; image++) {
        const db_expt_selection selection = { .number = 0, .frame = image };
        notices[0] = '\0';
        read_experiment(path, &selection, &e, &content);
        for (size_t i = 0; i < sizeof told / sizeof *told; i++)
            if ((strstr(notices, told[i]) != NULL) != (image == 3))
                fail_msg("image %ld: '%s': %s", image, told[i], notices);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
    db_context_set_notices(test_context(), NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_used_is_told),
        cmocka_unit_test(what_was_written_comes_back),
        cmocka_unit_test(panels_stand_in_groups_within_groups),
        cmocka_unit_test(a_written_list_keeps_what_its_origin_says),
        cmocka_unit_test(a_goniometer_turns_what_stands_on_it),
        cmocka_unit_test(scans_keep_their_sense),
        cmocka_unit_test(what_varies_along_a_scan_is_taken_at_the_image),
        cmocka_unit_test(what_is_no_rotation_is_refused),
        cmocka_unit_test(points_that_are_no_scan_are_refused),
        cmocka_unit_test(of_several_experiments_one_is_chosen),
        cmocka_unit_test(each_shot_of_a_sequence_has_its_wavelength),
        cmocka_unit_test(beams_of_many_wavelengths_are_refused),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_setup_takes_the_list_where_it_says_nothing),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
#else
int main(void) { return 77; }
#endif
