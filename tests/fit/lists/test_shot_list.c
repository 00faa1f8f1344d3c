/* Lists of shots: which images they name. */

#include "support/unit_test.h"
#include "fit/scratch_file.h"

#include "fit/config/config_move.h"
#include "fit/lists/shot_list.h"
#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/fit_steps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static db_context *context;
static db_fit_config config;

/* An experiment list whose only image has a number in the place of `signs` signs '#'. */
static db_status read_template(size_t signs, const char *range, db_fit_shot_list **list) {
    char *const text = malloc(signs + 400);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text,
                                "{\"experiment\": [{\"imageset\": 0, \"scan\": 0}], "
                                "\"scan\": [{\"image_range\": %s}], "
                                "\"imageset\": [{\"template\": \"/i",
                                range);
    memset(text + at, '#', signs);
    strcpy(text + at + signs, ".cbf\"}]}");
    snprintf(config.shot_list, sizeof config.shot_list, "%s", scratch_file("shots.expt", text));
    free(text);
    return db_fit_shot_list_read(context, &config, NULL, 0, list);
}

static void a_template_of_any_length_is_filled(void **state) {
    (void)state;
    static const size_t lengths[] = { 1, 4, 31, 32, 40, 200, 100000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t signs = lengths[i];
        db_fit_shot_list *list;
        if (read_template(signs, "[7, 9]", &list) != DB_OK)
            fail_msg("%s", db_context_message(context));
        const db_fit_shot_source source = db_fit_shot_list_source(list);
        assert_int_equal(source.count, 3);
        for (size_t image = 0; image < 3; image++) {
            const char *const name = source.name(source.user, image);
            const char *const ends[] = { "7.cbf", "8.cbf", "9.cbf" };
            assert_int_equal(strlen(name), signs + 6);
            assert_memory_equal(name, "/i", 2);
            assert_int_equal(strspn(name + 2, "0"), signs - 1);
            assert_string_equal(name + 2 + signs - 1, ends[image]);
        }
        db_fit_shot_list_destroy(&list);
    }
}

/* As DIALS counts on: %03d of 12345 has five digits. */
static void a_number_longer_than_its_template_stays_whole(void **state) {
    (void)state;
    db_fit_shot_list *list;
    assert_int_equal(read_template(3, "[12345, 12345]", &list), DB_OK);
    const db_fit_shot_source source = db_fit_shot_list_source(list);
    assert_string_equal(source.name(source.user, 0), "/i12345.cbf");
    db_fit_shot_list_destroy(&list);
}

static db_status read_list(const char *text, db_fit_shot_list **list) {
    snprintf(config.shot_list, sizeof config.shot_list, "%s", scratch_file("shots.expt", text));
    return db_fit_shot_list_read(context, &config, NULL, 0, list);
}

static void expect_names(const char *text, const char *const *names, size_t count) {
    db_fit_shot_list *list;
    if (read_list(text, &list) != DB_OK) fail_msg("%s", db_context_message(context));
    const db_fit_shot_source source = db_fit_shot_list_source(list);
    assert_int_equal(source.count, count);
    for (size_t i = 0; i < count; i++) assert_string_equal(source.name(source.user, i), names[i]);
    db_fit_shot_list_destroy(&list);
}

/* The signs of a template are those of the file's name. */
static void a_folder_may_have_a_number_sign(void **state) {
    (void)state;
    static const char *const images[] = { "/run#3/i07.cbf", "/run#3/i08.cbf" };
    static const char *const frames[] = { "/run#3/m.h5#7", "/run#3/m.h5#8" };
    expect_names("{\"experiment\": [{\"imageset\": 0, \"scan\": 0}], \"scan\": [{\"image_range\": "
                 "[7, 8]}], \"imageset\": [{\"template\": \"/run#3/i##.cbf\"}]}",
                 images, 2);
    expect_names("{\"experiment\": [{\"imageset\": 0, \"scan\": 0}], \"scan\": [{\"image_range\": "
                 "[7, 8]}], \"imageset\": [{\"template\": \"/run#3/m.h5\"}]}",
                 frames, 2);
}

/* As DIALS writes stills of one HDF5 file: one sequence, of which each scan has an image. */
#define STILLS(second)                                                                             \
    "{\"experiment\": [{\"imageset\": 0, \"scan\": 0}, {\"imageset\": 0, \"scan\": 1}], "          \
    "\"scan\": "                                                                                   \
    "[{\"image_range\": [3, 3]}, {\"image_range\": [" second "]}], \"imageset\": [{\"__id__\": "   \
    "\"ImageSequence\", \"template\": \"/m.h5\", \"single_file_indices\": [0, 1, 2, 3, 4]}]}"
#define SET(experiments)                                                                           \
    "{\"experiment\": [" experiments "], \"imageset\": [{\"images\": [\"/m.h5\", \"/m.h5\"], "     \
    "\"single_file_indices\": [7, 2]}]}"

static void images_of_one_file_are_told_apart(void **state) {
    (void)state;
    static const char *const sequence[] = { "/m.h5#3", "/m.h5#5" };
    static const char *const set[] = { "/m.h5#8", "/m.h5#3" };
    db_fit_shot_list *list;
    expect_names(STILLS("5, 5"), sequence, 2);
    expect_names(SET("{\"imageset\": 0}, {\"imageset\": 0}"), set, 2);
    expect_names(SET("{\"imageset\": 0}"), set, 2);
    static const char *const range[] = { "/m.h5#4", "/m.h5#5" };
    expect_names(STILLS("4, 5"), (const char *const[]){ "/m.h5#3", range[0], range[1] }, 3);
    assert_int_equal(read_list(STILLS("6, 6"), &list), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "expected the index 5 of image 6"));
    const char *const three = SET("{\"imageset\": 0}, {\"imageset\": 0}, {\"imageset\": 0}");
    assert_int_equal(read_list(three, &list), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "3 experiments share a set of 2 images"));
}

/* Lists of experiments in a list of shots: all their images, or some; settings are those of each. */
static void a_line_may_name_a_list_of_experiments(void **state) {
    (void)state;
    static const char *const names[] = { "/m.h5#3", "/m.h5#4", "/m.h5#5", "/m.h5#4", "/m.h5#5" };
    static db_fit_config one;
    db_fit_shot_list *list;
    char scan[200];
    snprintf(scan, sizeof scan, "%s", scratch_file("scan.expt", STILLS("4, 5")));
    snprintf(config.shot_list, sizeof config.shot_list, "%s",
             scratch_file("shots.txt", "scan.expt model.Ncells=[3, 4, 5]\n"
                                       "\"scan.expt#2-3\" model.b_factor=7\n"));
    if (db_fit_shot_list_read(context, &config, NULL, 0, &list) != DB_OK)
        fail_msg("%s", db_context_message(context));
    const db_fit_shot_source source = db_fit_shot_list_source(list);
    assert_int_equal(source.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(source.name(source.user, i), names[i]);
        snprintf(list->config.config_file, sizeof list->config.config_file, "%s",
                 scratch_file("all.yaml", "refine: {misset_x: }\n"));
        if (db_fit_shot_list_config(context, list, i, &one) != DB_OK)
            fail_msg("%s", db_context_message(context));
        assert_string_equal(one.expt_file, scan);
        assert_int_equal(one.setup.expt_number, i == 0 ? 0 : 1);
        assert_true((one.setup.Ncells[2] == 5) == (i < 3));
        assert_true(one.setup.b_factor == (i < 3 ? 0 : 7));
        db_fit_config_clear(&one);
    }
    db_fit_shot_list_destroy(&list);
    snprintf(config.shot_list, sizeof config.shot_list, "%s",
             scratch_file("shots.txt", "scan.expt#2-4\n"));
    assert_int_equal(db_fit_shot_list_read(context, &config, NULL, 0, &list), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "shots from 1 to 3, found 2-4"));
}

/* Data that have moved are beside their list, one image in a file or many. */
static void moved_images_are_beside_their_list(void **state) {
    (void)state;
    char one[300], many[330];
    snprintf(one, sizeof one, "%s", scratch_file("moved.cbf", ""));
    snprintf(many, sizeof many, "%s#5", scratch_file("moved.h5", ""));
    expect_names("{\"experiment\": [{\"imageset\": 0}, {\"imageset\": 1}], \"imageset\": "
                 "[{\"images\": [\"/gone/moved.cbf\"]}, {\"images\": [\"/gone/moved.h5\"], "
                 "\"single_file_indices\": [4]}]}",
                 (const char *const[]){ one, many }, 2);
}

/* In quotes a # begins no comment, and behind them it does. */
static void names_in_quotes_may_have_signs_behind_blanks(void **state) {
    (void)state;
    db_fit_shot_list *list;
    snprintf(config.shot_list, sizeof config.shot_list, "%s",
             scratch_file("shots.txt", "\"/sp #3/set.h5#1\" model.b_factor=7 # \"a comment\"\n"
                                       "'/a \" #4.cbf'\n# it's one\n\"/sp #3/set.h5#2-3\"\n"));
    if (db_fit_shot_list_read(context, &config, NULL, 0, &list) != DB_OK)
        fail_msg("%s", db_context_message(context));
    static const char *const names[] = { "/sp #3/set.h5#1", "/a \" #4.cbf", "/sp #3/set.h5#2",
                                         "/sp #3/set.h5#3" };
    const db_fit_shot_source source = db_fit_shot_list_source(list);
    assert_int_equal(source.count, 4);
    for (size_t i = 0; i < 4; i++) assert_string_equal(source.name(source.user, i), names[i]);
    assert_int_equal(list->entry[0].count, 1);
    db_fit_shot_list_destroy(&list);
}

/* Whatever their characters mean in YAML. */
static void lists_name_files_as_they_are(void **state) {
    (void)state;
    static db_fit_config one;
    db_fit_shot_list *list;
    char scan[200], expt[200];
    snprintf(scan, sizeof scan, "%s", scratch_file("[a #3]: b.expt", STILLS("4, 4")));
    snprintf(expt, sizeof expt, "%s", scratch_path("c #4, \\.expt"));
    snprintf(
        config.shot_list, sizeof config.shot_list, "%s",
        scratch_file("shots.txt", "\"[a #3]: b.expt\"\n/m.h5#3 model.expt=\"c #4, \\.expt\"\n"));
    if (db_fit_shot_list_read(context, &config, NULL, 0, &list) != DB_OK)
        fail_msg("%s", db_context_message(context));
    snprintf(list->config.config_file, sizeof list->config.config_file, "%s",
             scratch_file("all.yaml", "refine: {misset_x: }\n"));
    for (size_t i = 0; i < 3; i++) {
        if (db_fit_shot_list_config(context, list, i, &one) != DB_OK)
            fail_msg("%s", db_context_message(context));
        assert_string_equal(one.expt_file, i < 2 ? scan : expt);
        db_fit_config_clear(&one);
    }
    db_fit_shot_list_destroy(&list);
}

static void a_number_below_zero_is_refused(void **state) {
    (void)state;
    db_fit_shot_list *list;
    assert_int_equal(read_template(5, "[-12, 9]", &list), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "image_range"));
    assert_non_null(strstr(db_context_message(context), "-12"));
    assert_null(list);
}

/* And the message says so, however long the name. */
static void a_name_beyond_all_length_is_refused(void **state) {
    (void)state;
    static db_fit_config one;
    db_fit_shot_list *list;
    assert_int_equal(read_template(100000, "[7, 9]", &list), DB_OK);
    snprintf(list->config.config_file, sizeof list->config.config_file, "%s",
             scratch_file("all.yaml", "refine: {misset_x: }\n"));
    assert_int_equal(db_fit_shot_list_config(context, list, 0, &one), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "/i0000"));
    assert_non_null(strstr(db_context_message(context), "1023 characters"));
    db_fit_shot_list_destroy(&list);
}

/* Spindle angle of a frame of a series whose header says 5 degree. */
static double angle_with(const char *said) {
    static db_fit_config frame;
    char text[400];
    db_measured_image image = { .fast_pixels = 100, .slow_pixels = 100, .phi = 5 };
    db_experiment start;
    snprintf(text, sizeof text,
             "shots: {list: frames.txt, series: yes}\n"
             "model: {geometry: given, cell: [50, 50, 50, 90, 90, 90], wavelength: 1,"
             " distance: 100, pixel_size: 0.1, detector_pixels: [100, 100],"
             " beam_centre_px: [50, 50]%s}\n"
             "refine: {misset_x: }\n",
             said);
    const char *const path = scratch_file("frame.yaml", text);
    if (db_fit_config_read(context, path, NULL, 0, &frame) != DB_OK ||
        db_fit_config_start(context, &frame, &image, &start, NULL, NULL) != DB_OK)
        fail_msg("%s", db_context_message(context));
    const double angle = start.goniometer.phi;
    db_experiment_clear(&start);
    db_fit_config_clear(&frame);
    return angle;
}

static void an_angle_that_is_said_counts_though_it_is_0(void **state) {
    (void)state;
    assert_true(angle_with("") == 5);
    assert_true(angle_with(", phi: 7") == 7);
    assert_true(angle_with(", phi: 0") == 0);
}

/* What is written elsewhere finds the files that it names. */
static void names_of_files_are_moved(void **state) {
    (void)state;
    static db_fit_config moved;
    char written[DB_FIT_PATH_SIZE];
    char *const named[] = { moved.matrix_file, moved.expt_file, moved.hkl_file,
                            moved.reference_file };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        strcpy(named[i], scratch_file("named.txt", ""));
    snprintf(written, sizeof written, "elsewhere/refined.yaml");
    assert_int_equal(db_fit_config_move_names(context, written, &moved), DB_OK);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        assert_int_equal(named[i][0], '/');
        assert_int_equal(access(named[i], R_OK), 0);
    }
}

/* Bounds of motions count from what was found of them, though symmetry has dropped parameters. */
static void motions_count_from_where_they_are(void **state) {
    (void)state;
    db_fit_settings settings;
    db_fit_estimate list[] = { { .name = "half:shift_fast", .value = 0.25 } };
    const db_fit_estimates found = { .count = 1, .list = list };
    db_fit_settings_init(&settings);
    assert_int_equal(db_fit_panel_groups_add(context, &settings.panel_groups, "half"), DB_OK);
    db_fit_parameter p = db_fit_parameter_free(DB_CELL_ALPHA);
    assert_int_equal(db_fit_settings_add_parameter(context, &settings, &p), DB_OK);
    p = db_fit_parameter_free(DB_PANEL_SHIFT_FAST);
    p.group = 0;
    p.lower = -1;
    p.upper = 1;
    assert_int_equal(db_fit_settings_add_parameter(context, &settings, &p), DB_OK);
    db_fit_settings_count_from(&found, &settings);
    assert_true(settings.parameters[1].lower == -1.25 && settings.parameters[1].upper == 0.75);
    db_fit_settings_clear(&settings);
}

static int set_up(void **state) {
    (void)state;
    db_fit_config_init(&config);
    return db_context_create(&context) != DB_OK;
}

static int tear_down(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

/* Cells of a list whose shots name a symmetry in their own configurations keep it. */
static void a_symmetry_of_the_shots_is_that_of_the_list(void **state) {
    (void)state;
    static const char *const shot = "image: /%d.cbf\nmodel: {cell: [40, 40, 60, 90, 90, 90]%s}\n"
                                    "refine: {cell_a: }\n";
    static const struct {
        const char *list, *own[2], *taken; /* taken: of the list; NULL: refused */
    } cases[] = { { "", { ", symmetry: tetragonal", "" }, "tetragonal" },
                  { "", { "", ", symmetry: P43212" }, "P43212" },
                  { "", { "", "" }, "" },
                  { "triclinic", { ", symmetry: tetragonal", ", symmetry: cubic" }, "triclinic" },
                  { "", { ", symmetry: tetragonal", ", symmetry: orthorhombic" }, NULL } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        static db_fit_config one;
        db_fit_shot_list *list;
        for (int k = 0; k < 2; k++) {
            char text[200];
            snprintf(text, sizeof text, shot, k, cases[c].own[k]);
            (void)scratch_file(k ? "b.yaml" : "a.yaml", text);
        }
        snprintf(config.shot_list, sizeof config.shot_list, "%s",
                 scratch_file("shots.txt", "a.yaml\nb.yaml\n"));
        snprintf(config.symmetry, sizeof config.symmetry, "%s", cases[c].list);
        const db_status status = db_fit_shot_list_read(context, &config, NULL, 0, &list);
        config.symmetry[0] = '\0';
        if (!cases[c].taken) {
            assert_int_equal(status, DB_ERROR_INPUT);
            assert_non_null(strstr(db_context_message(context), "expected one symmetry"));
            continue;
        }
        if (status != DB_OK) fail_msg("%s", db_context_message(context));
        assert_string_equal(list->config.symmetry, cases[c].taken);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(db_fit_shot_list_config(context, list, k, &one), DB_OK);
            assert_string_equal(one.symmetry, cases[c].taken);
            db_fit_config_clear(&one);
        }
        db_fit_shot_list_destroy(&list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_template_of_any_length_is_filled),
        cmocka_unit_test(a_folder_may_have_a_number_sign),
        cmocka_unit_test(a_number_longer_than_its_template_stays_whole),
        cmocka_unit_test(images_of_one_file_are_told_apart),
        cmocka_unit_test(a_line_may_name_a_list_of_experiments),
        cmocka_unit_test(moved_images_are_beside_their_list),
        cmocka_unit_test(names_in_quotes_may_have_signs_behind_blanks),
        cmocka_unit_test(lists_name_files_as_they_are),
        cmocka_unit_test(a_number_below_zero_is_refused),
        cmocka_unit_test(a_name_beyond_all_length_is_refused),
        cmocka_unit_test(an_angle_that_is_said_counts_though_it_is_0),
        cmocka_unit_test(names_of_files_are_moved),
        cmocka_unit_test(motions_count_from_where_they_are),
        cmocka_unit_test(a_symmetry_of_the_shots_is_that_of_the_list),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
