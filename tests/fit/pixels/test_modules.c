/* Detectors of one panel whose modules are refined: which detectors are known, how detector and
 * image are cut, and moved modules that come back. */
#include "support/expect.h"
#include "support/notices.h"
#include "fit/pixels/measured_image.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"

#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/modules.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/panel_motion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;

/* Sizes as the maker lists them. */
static void detectors_are_known_by_their_size(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int pixels[2];
        double size;
        int modules[2];
    } known[] = {
        { "EIGER 1M", { 1030, 1065 }, 0.075, { 1, 2 } },
        { "EIGER 4M", { 2070, 2167 }, 0.075, { 2, 4 } },
        { "EIGER 9M", { 3110, 3269 }, 0.075, { 3, 6 } },
        { "EIGER 16M", { 4150, 4371 }, 0.075, { 4, 8 } },
        { "EIGER2 1M", { 1028, 1062 }, 0.075, { 1, 2 } },
        { "EIGER2 1M-W", { 2068, 512 }, 0.075, { 2, 1 } },
        { "EIGER2 2M-W", { 4148, 512 }, 0.075, { 4, 1 } },
        { "EIGER2 4M", { 2068, 2162 }, 0.075, { 2, 4 } },
        { "EIGER2 9M", { 3108, 3262 }, 0.075, { 3, 6 } },
        { "EIGER2 16M", { 4148, 4362 }, 0.075, { 4, 8 } },
        { "EIGER2 16M", { 4362, 4148 }, 0.07501, { 8, 4 } },
        { "PILATUS 200K", { 487, 407 }, 0.172, { 1, 2 } },
        { "PILATUS 300K", { 487, 619 }, 0.172, { 1, 3 } },
        { "PILATUS 300K-W", { 1475, 195 }, 0.172, { 3, 1 } },
        { "PILATUS 300K-W", { 195, 1475 }, 0.172, { 1, 3 } },
        { "PILATUS 900K", { 1475, 619 }, 0.172, { 3, 3 } },
        { "PILATUS 900K-W", { 4439, 195 }, 0.172, { 9, 1 } },
        { "PILATUS 1M", { 981, 1043 }, 0.172, { 2, 5 } },
        { "PILATUS 2M", { 1475, 1679 }, 0.172, { 3, 8 } },
        { "PILATUS 6M", { 2463, 2527 }, 0.172, { 5, 12 } },
        { "PILATUS", { 2463, 2315 }, 0.172, { 5, 11 } },
        { "PILATUS4 1M", { 1033, 1080 }, 0.15, { 2, 4 } },
        { "PILATUS4 2M", { 1553, 1630 }, 0.15, { 3, 6 } },
        { "PILATUS4 4M", { 2073, 2180 }, 0.15, { 4, 8 } },
    };
    db_module_grid grid;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double size[2] = { known[i].size, known[i].size };
        assert_int_equal(db_module_grid_find(known[i].pixels, size, &grid), 1);
        assert_string_equal(grid.name, known[i].name);
        assert_memory_equal(grid.modules, known[i].modules, sizeof grid.modules);
    }
    /* one module, another pixel, one pixel more, pixels that are not square, no pixels */
    static const struct {
        int pixels[2];
        double size[2];
    } unknown[] = {
        { { 1030, 514 }, { 0.075, 0.075 } },
        { { 1030, 1065 }, { 0.172, 0.172 } },
        { { 1030, 1066 }, { 0.075, 0.075 } },
        { { 1030, 1065 }, { 0.075, 0.08 } },
        { { 0, 0 }, { 0.075, 0.075 } },
        { { -10, -37 }, { 0.075, 0.075 } },
        { { 1030, 1065 }, { 0.075, (double)NAN } },
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_int_equal(db_module_grid_find(unknown[i].pixels, unknown[i].size, &grid), 0);
    /* others in numbers */
    const int pixels[2] = { 32, 20 }, module[4] = { 10, 20, 1, 3 }, wrong[4] = { 10, 19, 1, 3 };
    assert_int_equal(db_module_grid_of(pixels, module, &grid), 1);
    assert_int_equal(grid.modules[0], 3);
    assert_int_equal(db_module_grid_of(pixels, wrong, &grid), 0);
}

/* The gaps of a measured frame of a PILATUS 6M are those of the table. */
static void gaps_of_a_measured_frame_are_those_of_the_table(void **state) {
    (void)state;
    const char *const shared = getenv("SHARED_DIR");
    char path[1100];
    db_measured_image image;
    db_module_grid grid;
    snprintf(path, sizeof path, "%.900s/realdata/thaumatin/thau_3_2_0005.cbf",
             shared ? shared : "../shared");
    if (db_read_image(context, path, &image) != DB_OK) skip();
    const int pixels[2] = { image.fast_pixels, image.slow_pixels };
    assert_int_equal(db_module_grid_find(pixels, image.pixel_size, &grid), 1);
    assert_string_equal(grid.name, "PILATUS 6M");
    size_t bad = 0;
    for (int s = 0; s < pixels[1]; s++)
        for (int f = 0; f < pixels[0]; f++) {
            const int gap = f % (487 + 7) >= 487 || s % (195 + 17) >= 195;
            const uint8_t mask = image.mask[(size_t)s * (size_t)pixels[0] + (size_t)f];
            if (gap) assert_int_equal(mask, DB_MASK_GAP);
            bad += !gap && mask;
        }
    assert_true(bad < 1000);
    db_measured_image_clear(&image);
}

/* An EIGER 1M with a crystal in front of it: 1030 x 1065 pixels of 0.075 mm. */
enum { WIDTH = 1030, HEIGHT = 1065, MODULE = 514, GAP = 37 };
static db_experiment nominal, moved;

/* Modules: turns about fast, slow, normal (degree), shifts (mm). 0.3 pixels are 0.0225 mm. */
static const double motion[2][6] = { { 0, 0, 0.03, 0.0225, -0.0225, 0 },
                                     { 0, 0, -0.05, -0.0225, 0.0225, 0 } };

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK ||
        rendered_experiment(context, WIDTH, 2000, &nominal) != DB_OK)
        return -1;
    db_panel *const panel = &nominal.detector.panels[0];
    const double ratio = 0.075 / panel->pixel_size[0];
    panel->pixel_size[0] = panel->pixel_size[1] = 0.075;
    panel->slow_pixels = HEIGHT;
    nominal.detector.distance *= ratio;
    for (int i = 0; i < 2; i++) nominal.detector.centre[i] *= ratio;
    nominal.spread.mosaic = 0;
    return db_experiment_copy(context, &nominal, &moved) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    db_experiment_clear(&nominal);
    db_experiment_clear(&moved);
    db_context_destroy(&context);
    return 0;
}

static void detector_and_image_are_cut_alike(void **state) {
    (void)state;
    db_experiment whole, cut;
    db_module_grid grid;
    db_measured_image image = { .fast_pixels = WIDTH, .slow_pixels = HEIGHT };
    const size_t count = (size_t)WIDTH * HEIGHT;
    const int pixels[2] = { WIDTH, HEIGHT };
    expect_ok(context, db_experiment_copy(context, &nominal, &whole));
    whole.detector.panel_shift[0] = 0.2; /* pixels stay where they are */
    whole.detector.panel_turn[2] = 1;
    expect_ok(context, db_experiment_copy(context, &whole, &cut));
    assert_int_equal(db_module_grid_find(pixels, cut.detector.panels[0].pixel_size, &grid), 1);
    assert_int_equal(db_detector_is_one_array(&cut.detector), 0);
    expect_ok(context, db_detector_cut(context, &grid, &cut));
    assert_int_equal(cut.detector.panel_count, 2);
    assert_int_equal(db_detector_is_one_array(&cut.detector), 1);
    assert_int_equal(cut.detector.panels[1].image_offset[1], MODULE + GAP);
    for (size_t p = 0; p < 2; p++) {
        double a[3], b[3];
        expect_ok(context,
                  db_experiment_pixel_position(&whole, 0, 17, 20 + (double)p * (MODULE + GAP), a));
        expect_ok(context, db_experiment_pixel_position(&cut, p, 17, 20, b));
        for (int i = 0; i < 3; i++) assert_true(fabs(a[i] - b[i]) < 1e-9);
    }
    image.value = malloc(count * sizeof *image.value);
    image.mask = calloc(count, 1);
    assert_non_null(image.value);
    assert_non_null(image.mask);
    for (size_t i = 0; i < count; i++) image.value[i] = (float)i;
    image.mask[5 * WIDTH + 7] = DB_MASK_BAD;
    image.mask[(size_t)(MODULE + 3) * WIDTH] = DB_MASK_GAP;
    image.masked = 2;
    expect_ok(context, db_measured_image_cut(context, "a.h5", &cut.detector, &image));
    assert_int_equal(image.panel_count, 2);
    assert_int_equal(image.slow_pixels, 2 * MODULE);
    assert_int_equal(image.masked, 1);
    assert_int_equal(image.mask[5 * WIDTH + 7], DB_MASK_BAD);
    assert_true(image.value[MODULE * WIDTH + 3] == (float)((MODULE + GAP) * WIDTH + 3));
    expect_failure(context, DB_ERROR_USAGE,
                   db_measured_image_cut(context, "a.h5", &cut.detector, &image),
                   "a.h5: expected an image of one panel, found 2");
    expect_failure(context, DB_ERROR_USAGE, db_detector_cut(context, &grid, &cut),
                   "one panel, found 2");
    grid.gap[1]++;
    expect_failure(context, DB_ERROR_USAGE, db_detector_cut(context, &grid, &whole),
                   "2 of 514 pixels with gaps of 38 do not fill the panel's 1065 along slow");
    db_measured_image_clear(&image);
    image = (db_measured_image){ .fast_pixels = WIDTH, .slow_pixels = HEIGHT - 1 };
    expect_failure(context, DB_ERROR_INPUT,
                   db_measured_image_cut(context, "a.h5", &cut.detector, &image),
                   "panel 1 of the detector, 1030 x 514 pixels from pixel 0, 551 on, is not within "
                   "the image of 1030 x 1064");
    image.slow_pixels = HEIGHT;
    cut.detector.panels[1].image_offset[1] = -1;
    expect_failure(context, DB_ERROR_INPUT,
                   db_measured_image_cut(context, "a.h5", &cut.detector, &image),
                   "is not within the image");
    cut.detector.panels[1].image_offset[1] = 1;
    image.slow_pixels = MODULE + 1;
    expect_failure(context, DB_ERROR_INPUT,
                   db_measured_image_cut(context, "a.h5", &cut.detector, &image),
                   "more pixels than the image");
    db_experiment_clear(&whole);
    db_experiment_clear(&cut);
}

/* The moved modules rendered, as one array with a bright gap that nothing masks. */
static void write_image(const char *path) {
    db_module_grid grid;
    const int pixels[2] = { WIDTH, HEIGHT };
    assert_int_equal(db_module_grid_find(pixels, nominal.detector.panels[0].pixel_size, &grid), 1);
    expect_ok(context, db_detector_cut(context, &grid, &moved));
    for (size_t p = 0; p < 2; p++) {
        db_panel_motion m = { 0 };
        expect_ok(context, db_panel_group_frame(context, &moved.detector, &p, 1, &m));
        memcpy(m.turn, motion[p], sizeof m.turn);
        memcpy(m.shift, motion[p] + 3, sizeof m.shift);
        expect_ok(context, db_panels_move(context, &moved.detector, &p, 1, &m));
    }
    float *const value = calloc((size_t)2 * MODULE * WIDTH, sizeof *value);
    int32_t *const number = calloc((size_t)WIDTH * HEIGHT, sizeof *number);
    assert_non_null(value);
    assert_non_null(number);
    expect_ok(context, rendered_light(context, &moved, &moved.crystal, value));
    for (int s = 0; s < HEIGHT; s++)
        for (int f = 0; f < WIDTH; f++) {
            const int row = s < MODULE ? s : s - GAP;
            const int gap = s >= MODULE && s < MODULE + GAP;
            number[s * WIDTH + f] = gap ? 50 : 5 + (int)lround((double)value[row * WIDTH + f]);
        }
    expect_ok(context, db_write_smv_numbers(context, path, &nominal, number, 32, 1, 0, NULL));
    free(value);
    free(number);
}

static db_fit_config config;
static db_measured_image image;
static db_experiment start;
static void begin(const char *yaml) {
    *notices = '\0';
    expect_ok(context, db_fit_config_read(context, yaml, NULL, 0, &config));
    expect_ok(context, db_fit_config_read_image(context, &config, &image, keep_notice, NULL));
    expect_ok(context, db_fit_config_start(context, &config, &image, &start, keep_notice, NULL));
}

static void end(void) {
    db_measured_image_clear(&image);
    db_experiment_clear(&start);
    db_fit_config_clear(&config);
}

/* To their errors, which are much smaller than the motions. */
static void expect_moved(const db_fit_result *result) {
    for (size_t i = 0; i < result->estimates.count; i++) {
        const int group = strncmp(result->estimates.list[i].name, "panel_", 6) == 0
                              ? result->estimates.list[i].name[6] - '0'
                              : -1;
        if (group < 0) continue;
        const double should =
            strstr(result->estimates.list[i].name, "turn_normal")  ? motion[group][2]
            : strstr(result->estimates.list[i].name, "shift_fast") ? motion[group][3]
                                                                   : motion[group][4];
        const double off = result->estimates.list[i].value - should;
        if (!(fabs(off) < 4 * result->estimates.list[i].error &&
              result->estimates.list[i].error < 0.3 * fabs(should)))
            fail_msg("%s: %g instead of %g, error %g", result->estimates.list[i].name,
                     result->estimates.list[i].value, should, result->estimates.list[i].error);
    }
}

static void moved_modules_come_back(void **state) {
    (void)state;
    db_fit_result *result = NULL;
    write_image(scratch_path("eiger.img"));
    expect_ok(context, db_write_expt(context, scratch_path("eiger.expt"), &nominal, NULL));
    const char *const yaml = scratch_file(
        "modules.yaml", "image: eiger.img\n"
                        "model: {expt: eiger.expt, shape: gauss, Ncells: [10.3, 10.3, 4.635], "
                        "oversample: 1}\n"
                        "panel_groups: panels\n"
                        "refine:\n"
                        "  panel_groups:shift_fast: {}\n  panel_groups:shift_slow: {}\n"
                        "  panel_groups:turn_normal: {}\n"
                        "data: {target: poisson, model_error: 0, gain: 1}\n");
    begin(yaml);
    assert_int_equal(config.settings.panel_groups.count, 2);
    assert_non_null(strstr(notices, "cut into 1 x 2 modules of 1030 x 514 pixels, with gaps of 10 "
                                    "and 37 pixels: EIGER 1M"));
    assert_non_null(strstr(notices, "38110 trusted pixels in the gaps have counts"));
    expect_ok(context, fit_still(context, &start, &image, &config.settings, NULL, NULL, &result));
    expect_moved(result);

    /* the list has two panels in one array, and says so: the fit goes on from it */
    expect_ok(context, db_fit_write_yaml(context, scratch_path("again.yaml"), &config, result));
    expect_ok(context,
              db_write_expt(context, scratch_path("again.expt"), &result->experiment, NULL));
    end();
    begin(scratch_path("again.yaml"));
    assert_int_equal(image.panel_count, 2);
    assert_int_equal(start.detector.panel_count, 2);
    for (size_t p = 0; p < 2; p++) {
        double x[3], y[3];
        expect_ok(context, db_experiment_pixel_position(&result->experiment, p, 11, 170, x));
        expect_ok(context, db_experiment_pixel_position(&start, p, 11, 170, y));
        for (int i = 0; i < 3; i++) assert_true(fabs(x[i] - y[i]) < 1e-9);
    }
    fit_still_destroy(&result);
    end();
}

#define WHOLE                                                                                      \
    "image: eiger.img\nmodel: {expt: eiger.expt, Ncells: [9, 9, 5]}\nrefine: {misset_x: {}}\n"

static void read_config(const char *name, const char *text) {
    expect_ok(context, db_fit_config_read(context, scratch_file(name, text), NULL, 0, &config));
}

/* Positions of a list in the whole image lead to modules. */
static void spots_of_the_whole_image_are_found_on_modules(void **state) {
    (void)state;
    db_fit_spots spots;
    (void)scratch_file("spots.txt", "12.5 30.5\n100 551\n100 530\n200 900.5 0\n300 20 1\n");
    (void)scratch_file("boxes.txt", "0 10 20 500 520\n0 10 20 548 560\n0 10 20 520 530\n");
    read_config("spots.yaml", WHOLE "panel_groups: {lower: [1]}\ndata: {spots: spots.txt}\n");
    expect_ok(context, db_fit_config_read_spots(context, &config, &spots));
    assert_int_equal(spots.count, 4); /* one was in the gap */
    assert_int_equal(spots.spot[0].panel, 0);
    assert_int_equal(spots.spot[1].panel, 1);
    assert_true(spots.spot[1].position[1] == 0);
    assert_true(spots.spot[2].panel == 1 && spots.spot[2].position[1] == 349.5);
    assert_true(spots.spot[3].panel == 1 && spots.spot[3].position[1] == 20);
    db_fit_spots_clear(&spots);
    (void)scratch_file("spots.txt", "12.5 30.5 0 strong\n12.5 30.5 p3\n");
    expect_failure(context, DB_ERROR_INPUT, db_fit_config_read_spots(context, &config, &spots),
                   "spots.txt:2: expected fast slow, and perhaps the number of a panel, found "
                   "'12.5 30.5 p3'");
    db_fit_config_clear(&config);
    /* boxes end with their module */
    read_config("boxes.yaml", WHOLE "panel_groups: {lower: [1]}\ndata: {boxes: boxes.txt}\n");
    expect_ok(context, db_fit_config_read_spots(context, &config, &spots));
    assert_int_equal(spots.count, 2);
    assert_true(spots.spot[0].panel == 0 && spots.spot[0].box[3] == MODULE - 1);
    assert_true(spots.spot[1].panel == 1 && spots.spot[1].box[2] == 0 && spots.spot[1].box[3] == 9);
    db_fit_spots_clear(&spots);
    db_fit_config_clear(&config);
}

static void other_detectors_are_told_by_numbers(void **state) {
    (void)state;
    expect_failure(
        context, DB_ERROR_USAGE,
        db_fit_config_read(context,
                           scratch_file("odd.yaml", WHOLE "panel_groups: panels\n"
                                                          "data: {modules: [500, 1065, 10, 0]}\n"),
                           NULL, 0, &config),
        "data.modules: modules of 500 x 1065 pixels with gaps of 10 and 0 pixels do not "
        "fill the detector's 1030 x 1065");
    expect_failure(
        context, DB_ERROR_USAGE,
        db_fit_config_read(context,
                           scratch_file("none.yaml", WHOLE "panel_groups: panels\n"
                                                           "data: {modules: [0, 1065, 0, 0]}\n"),
                           NULL, 0, &config),
        "data.modules: modules of 0 x 1065 pixels");
    read_config("halves.yaml", WHOLE "panel_groups: panels\ndata: {modules: [515, 1065, 0, 0]}\n");
    assert_int_equal(config.settings.panel_groups.count, 2);
    expect_ok(context, db_fit_config_read_image(context, &config, &image, NULL, NULL));
    assert_int_equal(image.panel_count, 2);
    assert_int_equal(image.fast_pixels, 515);
    db_measured_image_clear(&image);
    db_fit_config_clear(&config);
    /* of no known size, with a group of panel 3 */
    db_experiment odd;
    expect_ok(context, db_experiment_copy(context, &nominal, &odd));
    odd.detector.panels[0].slow_pixels = 1000;
    expect_ok(context, db_write_expt(context, scratch_path("odd.expt"), &odd, NULL));
    read_config("unknown.yaml", "image: eiger.img\nmodel: {expt: odd.expt, Ncells: [9, 9, 5]}\n"
                                "panel_groups: {a: [3]}\nrefine: {misset_x: {}}\n");
    expect_failure(
        context, DB_ERROR_USAGE, db_fit_config_read_image(context, &config, &image, NULL, NULL),
        "panel_groups: panel 3 is named, but the detector has one panel, and 1030 x 1000 "
        "pixels of 0.075 mm are no detector with known modules");
    db_fit_config_clear(&config);
    db_experiment_clear(&odd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detectors_are_known_by_their_size),
        cmocka_unit_test(gaps_of_a_measured_frame_are_those_of_the_table),
        cmocka_unit_test(detector_and_image_are_cut_alike),
        cmocka_unit_test(moved_modules_come_back),
        cmocka_unit_test(spots_of_the_whole_image_are_found_on_modules),
        cmocka_unit_test(other_detectors_are_told_by_numbers),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
