#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* Geometries of CrystFEL and XPARM.XDS: panels stand where the formats say, go out as they came in,
 * and what is wrong is named. */
#include "support/expect.h"
#include "support/notices.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/experiment_list_content.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const db_expt_selection the_only_one = { .number = -1 };

static const char geom[] = "; two panels, the second one tilted\n"
                           "photon_energy = 9.5 keV\n"
                           "clen = 80 mm ; the camera\n"
                           "res = 10000\n"
                           "adu_per_eV = 0.001\n"
                           "coffset = 0.002\n"
                           "group_left = p0\n"
                           "group_right = p1\n"
                           "group_all = left,right\n"
                           "max_adu = 12000\n"
                           "p0/min_fs = 0\np0/max_fs = 19\np0/min_ss = 0\np0/max_ss = 9.0\n"
                           "p0/fs = +1.0x\n"
                           "p0/ss = y\n"
                           "p0/corner_x = 30.5 ; to be moved\n"
                           "p0/corner_y = -5\n"
                           "p1/min_fs = 0\np1/max_fs = 19\np1/min_ss = 10\np1/max_ss = 24\n"
                           "p1/fs = -0.6x +0.8z\n"
                           "p1/ss = - 1e0y\n"
                           "p1/corner_x = -40\n"
                           "p1/corner_y = 7.25\n"
                           "p1/coffset = -0.001\n"
                           "bad_a/panel = p1\nbad_a/min_fs = 3\nbad_a/max_fs = 4\n"
                           "bad_a/min_ss = 12\nbad_a/max_ss = 12\n";

static void read_experiment(const char *path, db_experiment *e, db_expt_content *content) {
    expect_ok(test_context(), db_experiment_init(test_context(), e));
    expect_ok(test_context(), db_read_expt(test_context(), path, &the_only_one, e, content));
}

static void expect_at(const db_experiment *e, size_t panel, double fast, double slow, double x,
                      double y, double z) {
    const double expected[3] = { x, y, z };
    double found[3];
    expect_ok(test_context(), db_experiment_pixel_position(e, panel, fast, slow, found));
    for (int i = 0; i < 3; i++)
        if (!(fabs(found[i] - expected[i]) < 1e-6))
            fail_msg("panel %zu, %g %g: component %d: expected %.9g, found %.9g", panel, fast, slow,
                     i, expected[i], found[i]);
}

/* The frame of CrystFEL is turned about y: x and z change their signs. */
static void panels_of_a_geometry_stand_where_it_says(void **state) {
    (void)state;
    db_experiment e;
    db_expt_content content;
    read_experiment(folder_text("two.geom", geom), &e, &content);
    assert_int_equal(content.panel_count, 2);
    assert_true(fabs(e.beam.wavelength - 12398.419843320026 / 9500) < 1e-9);
    assert_true(e.beam.direction[2] == -1);
    expect_at(&e, 0, 0, 0, -3.05, -0.5, -82);
    expect_at(&e, 0, 20, 10, -5.05, 0.5, -82);
    expect_at(&e, 1, 0, 0, 4, 0.725, -79);
    expect_at(&e, 1, 10, 4, 4.6, 0.325, -79.8);
    assert_string_equal(content.panel[1].name, "p1");
    assert_true(fabs(content.panel[0].gain - 9.5) < 1e-9);
    assert_true(content.panel[0].trusted[1] == 12000);
    assert_int_equal(content.panel[1].level_count, 2);
    assert_int_equal(content.panel[1].group[1], 1);
    assert_int_equal(content.panel[1].mask_count, 1);
    const int expected[4] = { 3, 2, 5, 3 };
    assert_memory_equal(content.panel[1].mask[0], expected, sizeof expected);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

/* A panel without indexed spots, and borders of two pixels of one that is no square. */
static void panels_and_borders_are_left_out(void **state) {
    (void)state;
    char text[2000];
    db_experiment e;
    db_expt_content content;
    snprintf(text, sizeof text, "%sp0/no_index = 1\np1/mask_edge_pixels = 2\n", geom);
    read_experiment(folder_text("borders.geom", text), &e, &content);
    const int whole[4] = { 0, 0, 20, 10 }, border[4][4] = {
        { 0, 0, 20, 2 }, { 0, 13, 20, 15 }, { 0, 0, 2, 15 }, { 18, 0, 20, 15 }
    };
    assert_int_equal(content.panel[0].mask_count, 1);
    assert_memory_equal(content.panel[0].mask[0], whole, sizeof whole);
    assert_int_equal(content.panel[1].mask_count, 5); /* and the bad region */
    for (int b = 0; b < 4; b++) {
        int met = 0;
        for (size_t m = 0; m < 5; m++)
            met += memcmp(content.panel[1].mask[m], border[b], sizeof border[b]) == 0;
        assert_int_equal(met, 1);
    }
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

/* Panels that take turns line by line, as many bad regions, and collections of groups of all sizes: time
 * that grows with the square of their number would be minutes. */
static void many_names_take_linear_time(void **state) {
    (void)state;
    enum { PANELS = 4000, REGIONS = 9000, COLLECTIONS = 1000 };
    static const char *const keys[] = {
        "min_fs = 0", "max_fs = 9", "min_ss = 0",   "max_ss = 9",
        "fs = x",     "ss = y",     "corner_x = 0", "corner_y = 0"
    };
    static const char *const edges[] = { "min_fs = 1", "max_fs = 2", "min_ss = 1", "max_ss = 2" };
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "photon_energy = 9000\nres = 10000\nrigid_group_g = p7\n");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (int p = 0; p < PANELS; p++) fprintf(out, "p%d/%s\n", p, keys[k]);
    for (int k = 0; k < 200; k++) fprintf(out, "clen = 0.1\n");
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++)
        for (int b = 0; b < REGIONS; b++) fprintf(out, "bad%d/%s\n", b, edges[k]);
    for (int b = 0; b < REGIONS; b++) fprintf(out, "bad%d/panel = p%d\n", b, b % PANELS);
    for (int c = 1; c <= COLLECTIONS; c++) {
        fprintf(out, "rigid_group_collection_c%d = g", c);
        for (int i = 1; i < c; i++) fprintf(out, ",g");
        fprintf(out, "\n");
    }
    fclose(out);
    db_experiment e;
    db_expt_content content;
    const clock_t begin = clock();
    read_experiment(folder_text("many.geom", text), &e, &content);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    free(text);
    assert_int_equal(content.panel_count, PANELS);
    assert_int_equal(content.panel[999].mask_count, 3);
    assert_int_equal(content.panel[1000].mask_count, 2);
    assert_int_equal(content.panel[7].level_count, DB_EXPT_MOST_LEVELS);
    if (seconds > 1) fail_msg("%.2f s", seconds);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

/* Keys of CrystFEL that nobody uses, and misspelt ones, each once. */
static void keys_that_are_not_used_are_told(void **state) {
    (void)state;
    char text[2000];
    db_experiment e;
    db_expt_content content;
    snprintf(text, sizeof text,
             "bandwidth = 1e-3\n%sp0/adu_per_Photon = 2\np1/adu_per_Photon = 2\n"
             "bad_a/colour = 3\npeak_list = /entry/peaks\nrigid_groups_x = p0\nflag_other = 3\n",
             geom);
    notices[0] = '\0';
    db_context_set_notices(test_context(), keep_notice, NULL);
    read_experiment(folder_text("keys.geom", text), &e, &content);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    static const char said[] = "keys.geom: not used: bandwidth (line 1), adu_per_Photon (line 34), "
                               "colour (line 36), peak_list (line 37), rigid_groups_x (line 38), "
                               "flag_other (line 39)\n";
    if (!strstr(notices, said)) fail_msg("%s", notices);
    notices[0] = '\0';
    read_experiment(folder_text("plain.geom", geom), &e, &content);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    assert_string_equal(notices, "");
    db_context_set_notices(test_context(), NULL, NULL);
}

static void a_geometry_goes_out_as_it_came_in(void **state) {
    (void)state;
    db_experiment e, back;
    db_expt_content content;
    size_t size;
    const char *const source = folder_text("two.geom", geom);
    const char *const path = folder_path("moved.geom");
    read_experiment(source, &e, &content);
    db_expt_content_clear(&content);
    e.detector.panel_shift[0] = 0.1;
    e.detector.panel_turn[2] = 1;
    e.detector.distance += 1.5;
    expect_ok(test_context(), db_write_expt_like(test_context(), path, source, &the_only_one, &e));
    read_experiment(path, &back, &content);
    for (size_t p = 0; p < 2; p++)
        for (int k = 0; k < 3; k++) {
            double at[3];
            (void)db_experiment_pixel_position(&e, p, k == 1 ? 20 : 0, k == 2 ? 10 : 0, at);
            expect_at(&back, p, k == 1 ? 20 : 0, k == 2 ? 10 : 0, at[0], at[1], at[2]);
        }
    db_expt_content_clear(&content);
    char *const text = load_file(path, &size);
    assert_non_null(strstr(text, "clen = 80 mm ; the camera\n"));
    assert_non_null(strstr(text, "; to be moved\n"));
    assert_non_null(strstr(text, "p0/coffset = "));
    free(text);

    /* the beam is along z there: a tilt turns the panels */
    double beam[3];
    e.beam.tilt[0] = 30;
    e.beam.tilt[1] = 20;
    db_experiment_beam_direction(&e, beam);
    assert_true(fabs(hypot(beam[0], beam[1]) - 0.036) < 1e-4);
    expect_ok(test_context(), db_write_expt_like(test_context(), path, source, &the_only_one, &e));
    db_experiment_clear(&back);
    read_experiment(path, &back, &content);
    double was[3], is[3];
    (void)db_experiment_pixel_position(&e, 0, 7, 3, was);
    (void)db_experiment_pixel_position(&back, 0, 7, 3, is);
    const double along = was[0] * beam[0] + was[1] * beam[1] + was[2] * beam[2];
    if (!(fabs(is[2] + along) < 1e-6)) fail_msg("%.9g along the beam, now %.9g", along, -is[2]);
    db_expt_content_clear(&content);
    db_experiment_clear(&back);
    db_experiment_clear(&e);
}

/* A geometry with one line in place of another, or behind the rest. */
static const char *changed(const char *from, const char *to) {
    static char text[4096];
    const char *const at = from ? strstr(geom, from) : geom + strlen(geom);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - geom), geom, to,
             at + (from ? strlen(from) : 0));
    return text;
}

static void what_is_wrong_in_a_geometry_is_named(void **state) {
    (void)state;
    const struct {
        const char *from, *to, *expected;
    } cases[] = {
        { "p0/fs = +1.0x", "p0/fs = +1.0w", "0/fs: expected a sum such as" },
        { "p0/ss = y", "p0/ss = x", "right angle" },
        { "p0/corner_x = 30.5", "p0/corner = 1", "corner_x" },
        { "clen = 80 mm", "clen = 80 furlong", "length in m or mm" },
        { "clen = 80 mm", "clen = /LCLS/z", "expected the name of an image" },
        { "photon_energy = 9.5 keV\n", "",
          "expected photon_energy, wavelength or electron_voltage, found none" },
        { "photon_energy = 9.5 keV", "photon_energy = -3", "energy > 0" },
        { "photon_energy = 9.5 keV", "photon_energy = 9.5 mm", "energy > 0" },
        { "photon_energy = 9.5 keV", "wavelength = 1.3 keV", "length > 0" },
        { "photon_energy = 9.5 keV", "electron_voltage = 300",
          "electron_voltage: expected 10 kV to 10 MV, in V, kV or MV, found '300'" },
        { "photon_energy = 9.5 keV", "electron_voltage = 300 keV", "10 kV to 10 MV" },
        { "photon_energy = 9.5 keV", "electron_voltage = 200 V", "10 kV to 10 MV" },
        { "photon_energy = 9.5 keV", "electron_voltage = -200 kV", "10 kV to 10 MV" },
        { "photon_energy = 9.5 keV", "electron_voltage = 200 MV", "10 kV to 10 MV" },
        { "res = 10000\n", "", ":10: panel p0: expected res > 0 (pixels per metre), found none" },
        { "res = 10000", "res = -1", ":4: res: expected a number > 0, found '-1'" },
        { "adu_per_eV = 0.001", "adu_per_eV = 0", ":5: adu_per_eV: expected a number > 0" },
        { "max_adu = 12000", "max_adu = 12000\nflag_lessthan = 12001",
          "panel p0: flag_lessthan 12001 is above max_adu 12000, so that no pixel is left" },
        { NULL, "p1/flag_lessthan = 90\np1/flag_morethan = 80\n",
          "panel p1: flag_lessthan 90 is above flag_morethan 80" },
        { NULL, "p1/adu_per_photon = -3\n",
          "p1/adu_per_photon: expected a number > 0, found '-3'" },
        { "p0/max_fs = 19", "p0/max_fs = 1e9", "0 to 65535" },
        { "p1/max_ss = 24", "p1/max_ss = 4", "max_ss of at least min_ss, 10, found 4" },
        { "bad_a/max_fs = 4", "bad_a/max_fs = 2", "max_fs of at least min_fs, 3, found 2" },
        { NULL, "bad_b/min_x = 1\nbad_b/max_x = 2\nbad_b/min_y = 4\nbad_b/max_y = 3\n",
          "bad region bad_b: expected max_y of at least min_y, 4, found 3" },
        { "bad_a/panel = p1", "bad_a/panel = p7", "name of its panel" },
        { "bad_a/max_ss = 12\n", "", "bad region bad_a" },
        { "bad_a/max_ss = 12\n", "bad_a/max_y = 12\n", "either by fs and ss" },
        { "group_all = left,right", "group_all = left,middle", "found 'middle'" },
        { "group_right = p1", "group_right = all", "32 within another" },
        { NULL, "dim0 = fs\np2/max_fs = 3\n", "min_fs" },
        { NULL, "nothing here\n", "KEY = VALUE" },
        { NULL, "p1/dim2 = 9\n", "ss and fs as the last two" },
        { "p1/fs = -0.6x +0.8z", "p1/fs = 0x", "expected fs and ss of some length" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_experiment e;
        db_expt_content content;
        const char *const path = folder_text("wrong.geom", changed(cases[i].from, cases[i].to));
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        if (db_read_expt(test_context(), path, &the_only_one, &e, &content) == DB_OK) {
            if (i + 1 < sizeof cases / sizeof *cases) fail_msg("case %zu: was read", i);
        } else if (!strstr(db_context_message(test_context()), cases[i].expected)) {
            fail_msg("case %zu: expected '%s' in '%s'", i, cases[i].expected,
                     db_context_message(test_context()));
        }
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

static void electrons_have_the_wavelength_of_their_voltage(void **state) {
    (void)state;
    static const struct {
        const char *line;
        double voltage, wavelength; /* h / sqrt(2 m e U (1 + e U / (2 m c^2))) */
    } cases[] = {
        { "electron_voltage = 200 kV", 2e5, 0.0250793405 },
        { "electron_voltage = 300000 V", 3e5, 0.0196874889 },
        { "photon_energy = 9500\nelectron_voltage = 0.3 MV ; the last one", 3e5, 0.0196874889 },
    };
    db_context_set_notices(test_context(), keep_notice, NULL);
    notices[0] = '\0';
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_experiment e;
        db_expt_content content;
        read_experiment(
            folder_text("electrons.geom", changed("photon_energy = 9.5 keV", cases[i].line)), &e,
            &content);
        if (!(fabs(e.beam.wavelength - cases[i].wavelength) < 1e-9))
            fail_msg("%s: %.10f A", cases[i].line, e.beam.wavelength);
        if (!(fabs(content.panel[0].gain / (1e-3 * cases[i].voltage) - 1) < 1e-9))
            fail_msg("%s: gain %.10g", cases[i].line, content.panel[0].gain);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
    if (!strstr(notices, "electrons.geom: electron_voltage: the model computes X-rays of that "
                         "wavelength\n"))
        fail_msg("%s", notices);
    db_context_set_notices(test_context(), NULL, NULL);
}

static void panels_upstream_are_told(void **state) {
    (void)state;
    static const struct {
        const char *clen, *said;
    } cases[] = {
        { "clen = 2 mm", "" },
        { "clen = -1 mm",
          "upstream.geom:19: panel p1: clen + coffset is -2 mm, below 0, so 1 of 2" },
        { "clen = -80 mm",
          "upstream.geom:11: panel p0: clen + coffset is -78 mm, below 0, so 2 of 2" },
    };
    db_context_set_notices(test_context(), keep_notice, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_experiment e;
        db_expt_content content;
        notices[0] = '\0';
        read_experiment(folder_text("upstream.geom", changed("clen = 80 mm", cases[i].clen)), &e,
                        &content);
        if (!strstr(notices, cases[i].said) || (*notices && !*cases[i].said))
            fail_msg("case %zu: %s", i, notices);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
    db_context_set_notices(test_context(), NULL, NULL);
}

#if defined(DB_HAVE_HDF5)
/* A stack of modules as facilities write it; made by h5py: pixel (f, s) of module m of image i is
 * 1000 i + 300 m + 20 s + f, and two pixels of the masks are not 0. */
static const char stack_geom[] = "photon_energy = /LCLS/photon_energy_eV\n"
                                 "clen = /LCLS/detector_1/z\n"
                                 "coffset = 0.12\n"
                                 "res = 10000\nadu_per_photon = 3\n"
                                 "dim0 = %\ndim2 = ss\ndim3 = fs\n"
                                 "data = /entry_1/data_1/data\n"
                                 "mask = /entry_1/data_1/mask\nmask_good = 0\nmask_bad = 0xff\n"
                                 "flag_equal = 1045\n"
                                 "bad_r/min_x = 9.5\nbad_r/max_x = 11.5\n"
                                 "bad_r/min_y = -20.5\nbad_r/max_y = -18.5\n"
                                 "a/dim1 = 0\na/min_fs = 0\na/max_fs = 19\na/min_ss = 1\n"
                                 "a/max_ss = 8\na/fs = x\na/ss = y\na/corner_x = 0\n"
                                 "a/corner_y = -20\n"
                                 "b/dim1 = 1\nb/min_fs = 2\nb/max_fs = 11\nb/min_ss = 0\n"
                                 "b/max_ss = 11\nb/fs = x\nb/ss = y\nb/corner_x = 0\n"
                                 "b/corner_y = 0\n";

static char *stack_path(const char *image) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/hdf5_stack.h5%s", getenv("SOURCE_DIR"),
             image);
    return path;
}

static db_status read_stack(const char *geometry, const char *name, db_experiment *e,
                            db_measured_image *image) {
    const db_expt_selection selection = { .number = -1, .image = stack_path(name) };
    const char *const path = folder_text("stack.geom", geometry);
    db_expt_content content;
    expect_ok(test_context(), db_experiment_init(test_context(), e));
    memset(image, 0, sizeof *image);
    db_status status = db_read_expt(test_context(), path, &selection, e, &content);
    if (status == DB_OK)
        status = db_read_listed_image(test_context(), selection.image, &content, image);
    db_expt_content_clear(&content);
    return status;
}

static void panels_are_cut_out_of_stacks(void **state) {
    (void)state;
    db_experiment e;
    db_measured_image image;
    expect_ok(test_context(), read_stack(stack_geom, "#2", &e, &image));
    assert_true(fabs(e.beam.wavelength - 12398.419843320026 / 9500) < 1e-9);
    expect_at(&e, 0, 0, 0, 0, -2, -100);
    assert_int_equal(image.fast_pixels, 20);
    assert_int_equal(image.slow_pixels, 20);
    assert_int_equal(image.panel_count, 2);
    assert_int_equal(image.panels[1].first_row, 8);
    for (int s = 0; s < 20; s++)
        for (int f = 0; f < 20; f++) {
            const int b = s >= 8, gap = b && f >= 10;
            const int expected = b ? 1300 + 20 * (s - 8) + f + 2 : 1020 + 20 * s + f;
            const int bad = expected == 1045 || (b && s == 11 && f == 2) ||
                            (!b && s == 1 && f == 2) || (!b && s <= 1 && (f == 10 || f == 11));
            const size_t i = (size_t)(20 * s + f);
            const int mask = gap ? DB_MASK_GAP : bad ? DB_MASK_BAD : DB_MASK_TRUSTED;
            if (image.mask[i] != mask || (!gap && (int)image.value[i] != expected))
                fail_msg("pixel %d %d: expected %d, mask %d, found %g, mask %d", f, s, expected,
                         mask, (double)image.value[i], image.mask[i]);
        }
    assert_int_equal(image.masked, 12 * 10 + 7);
    db_measured_image_clear(&image);
    db_experiment_clear(&e);
}

static void images_are_named_by_events_too(void **state) {
    (void)state;
    const char *const tags = "photon_energy = 9000\nclen = 0.1\nres = 10000\ndata = /tags/%/data\n"
                             "a/min_fs = 0\na/max_fs = 19\na/min_ss = 0\na/max_ss = 11\n"
                             "a/fs = x\na/ss = y\na/corner_x = -10\na/corner_y = -6\n";
    const struct {
        const char *geometry, *name;
        int first;
        const char *expected; /* of the message */
    } cases[] = { { stack_geom, "#//1", 1020, NULL },
                  { stack_geom, "#1", 20, NULL },
                  { tags, "#b//", -48, NULL },
                  { tags, "#2", -48, NULL },
                  { tags, "#1", -49, NULL },
                  { tags, "#3", 0, "expected image 3" },
                  { tags, "#c//", 0, "c" },
                  { tags, "#a/b//", 0, "one name for each" },
                  { stack_geom, "#3", 0, "this image" },
                  { stack_geom, "#//7", 0, "this image" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_experiment e;
        db_measured_image image;
        const db_status status = read_stack(cases[i].geometry, cases[i].name, &e, &image);
        const char *const message = status == DB_OK ? "" : db_context_message(test_context());
        if (cases[i].expected) {
            if (status == DB_OK || !strstr(message, cases[i].expected))
                fail_msg("%s: expected '%s' in '%s'", cases[i].name, cases[i].expected, message);
        } else if (status != DB_OK || (int)image.value[0] != cases[i].first) {
            fail_msg("%s: expected %d: %s", cases[i].name, cases[i].first, message);
        }
        db_measured_image_clear(&image);
        db_experiment_clear(&e);
    }
}

static void what_does_not_fit_a_stack_is_named(void **state) {
    (void)state;
    const struct {
        const char *from, *to, *expected;
    } cases[] = { { "a/max_ss = 8", "a/max_ss = 99", "at least 20 x 100" },
                  { "data_1/data", "data_1/other", "other" },
                  { "data_1/mask", "data_1/none", "none" },
                  { "dim0 = %", "dim0 = 5", "5" },
                  { "b/dim1 = 1", "b/dim1 = 2", "2" },
                  { "dim2 = ss\ndim3 = fs\n", "dim1 = ss\ndim2 = fs\n", "dim" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        db_experiment e;
        db_measured_image image;
        const char *const at = strstr(stack_geom, cases[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - stack_geom), stack_geom, cases[i].to,
                 at + strlen(cases[i].from));
        const db_status status = read_stack(text, "#1", &e, &image);
        const char *const message = status == DB_OK ? "" : db_context_message(test_context());
        if (status == DB_OK || !strstr(message, cases[i].expected))
            fail_msg("case %zu: expected '%s' in '%s'", i, cases[i].expected, message);
        db_measured_image_clear(&image);
        db_experiment_clear(&e);
    }
}

#endif

/* Two images with three crystals; the first vectors of the cell are 50 A long. */
static const char *make_stream(void) {
    static char text[8192];
    static const char *const chunks =
        "----- Begin chunk -----\nImage filename: /data/run.h5\nEvent: //0\n"
        "photon_energy_eV = 9000.0\naverage_camera_length = 0.1 m\n"
        "--- Begin crystal\nastar = +0.2 +0.0 +0.0 nm^-1\nbstar = +0.0 +0.2 +0.0 nm^-1\n"
        "cstar = +0.0 +0.0 +0.1 nm^-1\npredict_refine/det_shift x = 0.100 y = -0.050 mm\n"
        "--- End crystal\n----- End chunk -----\n"
        "----- Begin chunk -----\nImage filename: /data/run.h5\nEvent: //1\n"
        "photon_energy_eV = 9500.0\naverage_camera_length = 0.1 m\n"
        "--- Begin crystal\nastar = +0.0 +0.0 +0.2 nm^-1\nbstar = +0.0 +0.2 +0.0 nm^-1\n"
        "cstar = -0.1 +0.0 +0.0 nm^-1\n--- End crystal\n"
        "--- Begin crystal\nastar = +0.2 +0.0 +0.0 nm^-1\nbstar = +0.0 +0.2 +0.0 nm^-1\n"
        "cstar = +0.0 +0.0 +0.1 nm^-1\n--- End crystal\n----- End chunk -----\n";
    snprintf(text, sizeof text,
             "CrystFEL stream format 2.3\nGenerated by a test\n----- Begin geometry file -----\n"
             "%s----- End geometry file -----\n%s",
             geom, chunks);
    return text;
}

static void crystals_of_a_stream_are_experiments(void **state) {
    (void)state;
    const struct {
        db_expt_selection selection;
        long number; /* -1: fails with */
        const char *message;
    } cases[] = { { { .number = 1 }, 1, NULL },
                  { { .number = -1, .image = "here/run.h5#1" }, 0, NULL },
                  { { .number = -1, .image = "run.h5#//0" }, 0, NULL },
                  { { .number = -1, .image = "run.h5#2" }, -1, "number 1 and 2" },
                  { { .number = -1, .image = "run.h5#3" }, -1, "none of the 3" },
                  { { .number = -1, .image = "other.h5#1" }, -1, "none of the 3" },
                  { { .number = 3 }, -1, "below 3" } };
    const char *const path = folder_text("run.stream", make_stream());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_experiment e;
        db_expt_content content;
        double a_star[9];
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        const db_status status =
            db_read_expt(test_context(), path, &cases[i].selection, &e, &content);
        if (cases[i].number < 0) {
            if (status == DB_OK || !strstr(db_context_message(test_context()), cases[i].message))
                fail_msg("case %zu: expected '%s' in '%s'", i, cases[i].message,
                         db_context_message(test_context()));
        } else {
            expect_ok(test_context(), status);
            assert_int_equal(content.number, cases[i].number);
            db_crystal_matrix(&e.crystal, a_star);
            const int second = cases[i].number == 1;
            assert_true(fabs(a_star[second ? 6 : 0] + 0.02) < 1e-12);
            assert_true(fabs(e.crystal.cell[0] - 50) < 1e-9 &&
                        fabs(e.crystal.cell[2] - 100) < 1e-9);
            assert_true(fabs(e.beam.wavelength - 12398.419843320026 / (second ? 9500 : 9000)) <
                        1e-9);
            expect_at(&e, 0, 0, 0, second ? -3.05 : -3.15, second ? -0.5 : -0.55, -82);
        }
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

static void expect_stream_fails(const char *path, const char *expected) {
    const db_expt_selection first = { .number = 0 };
    db_experiment e;
    db_expt_content content;
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    if (db_read_expt(test_context(), path, &first, &e, &content) == DB_OK)
        fail_msg("'%s': was read", expected);
    if (!strstr(db_context_message(test_context()), expected))
        fail_msg("expected '%s' in '%s'", expected, db_context_message(test_context()));
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

static void geometries_of_streams_have_some_size(void **state) {
    (void)state;
    enum { LINE = 1000 };
    const char *const start = "CrystFEL stream format 2.3\n----- Begin geometry file -----\n";
    char line[LINE + 1];
    char *const path = strdup(folder_text("empty.stream", start));
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs("----- End geometry file -----\n", file);
    fclose(file);
    expect_stream_fails(path, "empty.stream:3: the geometry of the stream is empty");
    folder_text("empty.stream", start);
    memset(line, ';', LINE - 1);
    line[LINE - 1] = '\n';
    line[LINE] = '\0';
    file = fopen(path, "a");
    assert_non_null(file);
    for (int i = 0; i < 17000; i++) fputs(line, file);
    fclose(file);
    expect_stream_fails(path,
                        "empty.stream:16780: the geometry of the stream is larger than 16 MiB");
    remove(path);
    free(path);
}

static void what_is_wrong_in_a_stream_is_named(void **state) {
    (void)state;
    const struct {
        const char *from;
        const char *to; /* NULL: the stream ends there */
        const char *expected;
    } cases[] = { { "----- End geometry", NULL, "expected a geometry" },
                  { "bstar = +0.0 +0.2 +0.0", "bstar = +0.0 x", "three numbers" },
                  { "cstar = +0.0 +0.0 +0.1 nm^-1\n", "", "astar, bstar and cstar" },
                  { "cstar = +0.0 +0.0 +0.1", "cstar = 0 0 -1", "right-handed" },
                  { "photon_energy_eV = 9000.0", "photon_energy_eV = 0", "energy > 0" },
                  { "p0/corner_x = 30.5", "p0/corner_x = oops", ":20: p0/corner_x" },
                  { "predict_refine", NULL, "the end of a crystal" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static char text[8192];
        const char *const whole = make_stream();
        const char *const at = strstr(whole, cases[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole,
                 cases[i].to ? cases[i].to : "", cases[i].to ? at + strlen(cases[i].from) : "");
        expect_stream_fails(folder_text("wrong.stream", text), cases[i].expected);
    }
}

static const char xparm[] = "XPARM.XDS    VERSION Jan 10, 2022\n"
                            "   1   10.0000   0.5000  0.999999 -0.000100  0.001000\n"
                            "   1.000000    0.000000    0.000000    1.000000\n"
                            "  89  50.0 50.0 80.0 90.0 90.0 90.0\n"
                            "  50.000000  0.000000  0.000000\n"
                            "   0.000000 30.000000 40.000000\n"
                            "   0.000000 -64.000000 48.000000\n"
                            "   2  100   90  0.100000  0.200000\n"
                            "  40.500000 30.000000 150.000000\n"
                            "  1.0 0.0 0.0\n  0.0 1.0 0.0\n  0.0 0.0 1.0\n"
                            "  1 1 100 1 40\n  0.0 0.0 0.0  1.0 0.0 0.0  0.0 1.0 0.0\n"
                            "  2 1 100 51 90\n  1.5 0.5 0.1  0.8 0.6 0.0 -0.6 0.8 0.0\n";

static void xparm_may_turn_backwards(void **state) {
    (void)state;
    db_experiment e;
    db_expt_content content;
    char text[sizeof xparm];
    memcpy(text, xparm, sizeof text);
    strstr(text, " 0.5000")[0] = '-';
    const db_expt_selection fifth = { .number = -1, .image = "frame_0005.cbf" };
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_ok(test_context(), db_read_expt(test_context(), folder_text("BACK_XPARM.XDS", text),
                                           &fifth, &e, &content));
    assert_true(fabs(content.phi - 8) < 1e-12 && fabs(content.osc_range + 0.5) < 1e-12);
    assert_true(fabs(e.goniometer.phi_step + 0.5) < 1e-12);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

static void xparm_goes_out_as_it_came_in(void **state) {
    (void)state;
    db_experiment e, back;
    db_expt_content content;
    const char *const source = folder_text("XPARM.XDS", xparm);
    const char *const path = folder_path("NEW_XPARM.XDS");
    const db_expt_selection fifth = { .number = -1, .image = "frame_0005.cbf" };
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_ok(test_context(), db_read_expt(test_context(), source, &fifth, &e, &content));
    assert_true(fabs(content.phi - 12) < 1e-12 && fabs(content.osc_range - 0.5) < 1e-12);
    assert_int_equal(content.panel_count, 2);
    assert_int_equal(e.detector.panels[1].slow_pixels, 40);
    db_expt_content_clear(&content);
    double beam[3];
    e.detector.panel_shift[1] = 0.2;
    e.crystal.misset[1] = 0.7;
    e.beam.tilt[0] = 5;
    db_experiment_beam_direction(&e, beam);
    expect_ok(test_context(), db_write_expt_like(test_context(), path, source, &fifth, &e));
    expect_ok(test_context(), db_experiment_init(test_context(), &back));
    expect_ok(test_context(), db_read_expt(test_context(), path, &fifth, &back, &content));
    for (size_t p = 0; p < 2; p++)
        for (int k = 0; k < 3; k++) {
            double at[3];
            (void)db_experiment_pixel_position(&e, p, k == 1 ? 100 : 0, k == 2 ? 40 : 0, at);
            double is[3];
            (void)db_experiment_pixel_position(&back, p, k == 1 ? 100 : 0, k == 2 ? 40 : 0, is);
            for (int i = 0; i < 3; i++)
                if (!(fabs(at[i] - is[i]) < 1e-5)) fail_msg("panel %zu: %g, %g", p, at[i], is[i]);
        }
    double a[9], b[9];
    db_crystal_matrix(&e.crystal, a);
    db_crystal_matrix(&back.crystal, b);
    for (int i = 0; i < 9; i++) assert_true(fabs(a[i] - b[i]) < 1e-9);
    for (int i = 0; i < 3; i++)
        if (!(fabs(back.beam.direction[i] - beam[i]) < 1e-7))
            fail_msg("beam %d: %g, %g", i, beam[i], back.beam.direction[i]);
    assert_true(fabs(content.phi - 12) < 1e-9);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    db_experiment_clear(&back);
}

static void what_is_wrong_in_xparm_is_named(void **state) {
    (void)state;
    const struct {
        const char *from, *to, *expected;
    } cases[] = {
        { "  2 1 100 51 90\n", "  2 1 101 51 90\n", "pixels of the detector" },
        { "  2  100   90", "  5000  100   90", "0 to 4096 segments" },
        { "  2  100   90", "  3  100   90", "ends before" },
        { "   1.000000    0.000000    0.000000    1.000000\n", "   0 0 0 1\n", "wavelength > 0" },
        { "   0.000000 30.000000 40.000000\n", "   0.0 30.0\n", "expected 3 numbers" },
        { "   0.000000 30.000000 40.000000\n", "   0 -30 -40\n", "right-handed" },
        { "  0.0 1.0 0.0\n  0.0 0.0 1.0\n", "  1.0 0.0 0.0\n  0.0 0.0 1.0\n", "perpendicular" },
        { "0.999999 -0.000100  0.001000", "0 0 0", "rotation axis" },
        { "0.5000  0.999999", "0.5000  nan", "expected 6 numbers" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        db_experiment e;
        db_expt_content content;
        const char *const at = strstr(xparm, cases[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - xparm), xparm, cases[i].to,
                 at + strlen(cases[i].from));
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        const char *const path = folder_text("XPARM.XDS", text);
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_expt(test_context(), path, &the_only_one, &e, &content), path,
                       cases[i].expected);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

static void edges_that_contradict_their_axes_are_told(void **state) {
    (void)state;
    char text[2000];
    db_experiment e;
    db_expt_content content;
    const char *const at = strstr(xparm, "50.0 80.0");
    snprintf(text, sizeof text, "%.*s51%s", (int)(at - xparm), xparm, at + 2);
    notices[0] = '\0';
    db_context_set_notices(test_context(), keep_notice, NULL);
    read_experiment(folder_text("XPARM.XDS", text), &e, &content);
    db_context_set_notices(test_context(), NULL, NULL);
    if (!strstr(notices,
                "XPARM.XDS: edge b of the cell, 51 A, is not the length of its axis, 50 A"))
        fail_msg("%s", notices);
    assert_null(strstr(notices, "edge a"));
    assert_string_equal(content.space_group, "89");
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_of_a_geometry_stand_where_it_says),
        cmocka_unit_test(panels_and_borders_are_left_out),
        cmocka_unit_test(keys_that_are_not_used_are_told),
        cmocka_unit_test(many_names_take_linear_time),
        cmocka_unit_test(a_geometry_goes_out_as_it_came_in),
        cmocka_unit_test(what_is_wrong_in_a_geometry_is_named),
        cmocka_unit_test(electrons_have_the_wavelength_of_their_voltage),
        cmocka_unit_test(panels_upstream_are_told),
        cmocka_unit_test(crystals_of_a_stream_are_experiments),
        cmocka_unit_test(geometries_of_streams_have_some_size),
        cmocka_unit_test(what_is_wrong_in_a_stream_is_named),
#if defined(DB_HAVE_HDF5)
        cmocka_unit_test(panels_are_cut_out_of_stacks),
        cmocka_unit_test(images_are_named_by_events_too),
        cmocka_unit_test(what_does_not_fit_a_stack_is_named),
#endif
        cmocka_unit_test(xparm_may_turn_backwards),
        cmocka_unit_test(xparm_goes_out_as_it_came_in),
        cmocka_unit_test(what_is_wrong_in_xparm_is_named),
        cmocka_unit_test(edges_that_contradict_their_axes_are_told),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
