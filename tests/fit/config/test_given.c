/* What callers of the C interface hand in by mistake: lists that are NULL with a count, values that no
 * enumeration has, structs with something in what is reserved. Each is refused with its name. */
#include "support/expect.h"
#include "fit/search/check_settings.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/noise_check.h>
#include <dualbragg/fit.h>
#include <dualbragg/fit_shots.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/boxes.h>
#include <dualbragg/expert/colour.h>
#include <dualbragg/expert/fit_steps.h>
#include <dualbragg/expert/image_sum.h>
#include <dualbragg/expert/panel_motion.h>
#include <dualbragg/expert/picture_files.h>
#include <dualbragg/expert/reflection_tables.h>
#include <dualbragg/expert/spot_places.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 40 };
static db_context *context;
static db_experiment good;
static db_measured_image image;

/* What a case may spoil; all of it is as it should be when it begins. */
static db_experiment e;
static db_plan_options options;
static db_spot_options spots;
static db_noise_options noise;
static db_setup setup;
static db_fit_settings settings;
static db_measured_image measured;

static const db_parameter misset[] = { DB_MISSET_X };
static float pixels[PIXELS * PIXELS];

static db_status make_plan(void) {
    db_plan *plan = NULL;
    const db_status status = db_plan_create(context, &e, &options, &plan);
    db_plan_destroy(&plan);
    return status;
}

static db_status check_experiment(void) { return db_experiment_check(context, &e); }

static db_status copy_experiment(void) {
    db_experiment copy;
    const db_status status = db_experiment_copy(context, &e, &copy);
    db_experiment_clear(&copy);
    return status;
}

static db_status recommend(void) {
    db_precision_advice advice;
    return db_precision_recommend(context, &e, &options, &advice);
}

static db_status resolve(void) {
    db_experiment made;
    const db_status status = db_setup_resolve(context, &setup, &made, NULL, NULL);
    if (status == DB_OK) db_experiment_clear(&made);
    return status;
}

static db_status predict(void) {
    db_predicted_spots found;
    e.spread.spots = DB_SPOTS_CLOSED;
    e.spread.mosaic = 0.01;
    const db_status status = db_spots_predict(context, &e, &spots, &found);
    db_predicted_spots_clear(&found);
    return status;
}

static db_status list_reflections(void) {
    db_predicted_spots found;
    e.spread.spots = DB_SPOTS_SAMPLED;
    const db_status status = db_spots_of_image(context, &e, pixels, &spots, &found);
    db_predicted_spots_clear(&found);
    return status;
}

static db_status check_noise(void) { return db_noise_check(context, &noise); }

static db_status fit(void) {
    db_fit_result *result = NULL;
    const db_status status = fit_still(context, &e, &measured, &settings, NULL, NULL, &result);
    fit_still_destroy(&result);
    return status;
}

static db_status check_data(void) { return db_fit_check_data(context, &e, &measured, &settings); }

#define SPOIL(name, statement)                                                                     \
    static void name(void) { statement; }
SPOIL(no_sources, e.beam.sources = NULL)
SPOIL(no_panels, e.detector.panels = NULL)
SPOIL(no_background, e.background.count = 2)
SPOIL(reserved_of_experiment, e.reserved[7] = 1)
SPOIL(reserved_of_crystal, e.crystal.reserved[0] = 1e-300)
SPOIL(reserved_of_beam, e.beam.reserved[3] = 2)
SPOIL(reserved_of_goniometer, e.goniometer.reserved[3] = 2)
SPOIL(reserved_of_detector, e.detector.reserved[1] = 2)
SPOIL(reserved_of_factors, e.structure_factors.reserved[1] = 2)
SPOIL(reserved_of_background, e.background.reserved[1] = 2)
SPOIL(reserved_of_spread, e.spread.reserved[7] = 2)
SPOIL(odd_shape, e.crystal.shape = (db_crystal_shape)9)
SPOIL(odd_spots, e.spread.spots = (db_spot_model)7)
SPOIL(odd_precision, options.precision = (db_precision)2)
SPOIL(negative_precision, options.precision = (db_precision)-1)
SPOIL(odd_pixel_type, options.pixel_type = (db_pixel_type)2)
SPOIL(no_parameters, options.parameter_count = 3)
SPOIL(no_regions, options.region_count = 2)
SPOIL(reserved_of_plan, options.reserved[6] = 1)
SPOIL(size_of_plan, options.size = 8)
SPOIL(reserved_of_spots, spots.reserved[0] = 1)
SPOIL(reserved_of_noise, noise.reserved[0] = 1)
SPOIL(odd_psf, noise.psf = (db_psf_type)3)
SPOIL(reserved_of_setup, setup.reserved[0] = 1)
SPOIL(reserved_of_spread_setup, setup.spread.reserved[0] = 1)
SPOIL(odd_convention, setup.convention = (db_convention)99)
SPOIL(odd_pivot, setup.pivot = 17)
SPOIL(odd_setup_shape, setup.shape = (db_crystal_shape)-3)
SPOIL(odd_material, setup.sensor_material = (db_sensor_material)77)
SPOIL(odd_setup_spots, setup.spread.spots = (db_spot_model)5)
SPOIL(no_fit_parameters, settings.parameters = NULL)
SPOIL(no_groups, settings.panel_groups.panel_count = 3)
SPOIL(reserved_of_settings, settings.reserved[0] = 1)
SPOIL(reserved_of_parameter, settings.parameters[0].reserved[0] = 1)
SPOIL(reserved_of_stage, settings.stages[0].reserved[0] = 1)
SPOIL(odd_stage_target, settings.stages[0].target = 12)
SPOIL(odd_target, settings.target = (db_fit_target)12)
SPOIL(odd_intensity, settings.intensity = (db_fit_intensity)-1)
SPOIL(odd_pixels, settings.pixels = (db_fit_pixels)2)
SPOIL(odd_background, settings.background = (db_fit_background)33)
SPOIL(odd_parameter, settings.parameters[0].parameter = (db_parameter)9999)
SPOIL(no_values, measured.value = NULL)
SPOIL(no_mask, measured.mask = NULL)
SPOIL(reserved_of_image, measured.reserved[0] = 1)

/* Lists of other calls, by themselves. */
static db_status place_no_spots(void) {
    e.spread.spots = DB_SPOTS_CLOSED;
    e.spread.mosaic = 0.01;
    return db_spots_place(context, &e, 1, NULL, 3);
}
static db_status oversample_no_spots(void) {
    const db_predicted_spots none = { .count = 4 };
    int oversample;
    double width;
    return db_spots_oversample(context, &none, 0.1, &oversample, &width);
}
static db_status write_no_spots(void) {
    const db_predicted_spots none = { .count = 4 };
    return db_write_spots(context, scratch_path("spots.txt"), &none);
}
static db_status list_no_image(void) {
    db_predicted_spots found;
    e.spread.spots = DB_SPOTS_SAMPLED;
    return db_spots_of_image(context, &e, NULL, NULL, &found);
}
static db_status write_no_floats(void) {
    return db_write_float_image(context, scratch_path("a.bin"), NULL, 7);
}
static db_status write_no_smv(void) {
    return db_write_smv(context, scratch_path("a.img"), &e, NULL, 1, 0, NULL);
}
static db_status write_no_numbers(void) {
    return db_write_smv_numbers(context, scratch_path("a.img"), &e, NULL, 16, 1, 0, NULL);
}
static db_status write_no_pgm(void) {
    return db_write_pgm(context, scratch_path("a.pgm"), NULL, 4, 4, 1);
}
static db_status write_no_png(void) {
    return db_write_png(context, scratch_path("a.png"), NULL, 4, 4, DB_COLOUR_GREY, 0, 1);
}
static db_status write_odd_png(void) {
    return db_write_png(context, scratch_path("a.png"), pixels, 4, 4, (db_colour_map)50, 0, 1);
}
static db_status write_no_rgb(void) {
    return db_write_png_rgb(context, scratch_path("a.png"), NULL, 4, 4);
}
static db_status add_no_images(void) {
    return db_add_float_images(context, NULL, 2, NULL, scratch_path("sum.bin"), NULL);
}
static db_status ignore_nothing(void) {
    const db_summand one = { 0 };
    db_sum_options sum = DB_SUM_OPTIONS_INIT;
    sum.ignore_count = 3;
    return db_add_float_images(context, &one, 1, &sum, scratch_path("sum.bin"), NULL);
}
static db_status move_no_panels(void) {
    const db_panel_motion none = { 0 };
    return db_panels_move(context, &e.detector, NULL, 2, &none);
}
static db_status table_without_columns(void) {
    const db_table_content content = { .rows = 2, .column_count = 3 };
    return db_reflection_table_write(context, scratch_path("a.refl"), DB_TABLE_MSGPACK, &content);
}
static db_status column_without_bytes(void) {
    const db_table_column column = { "id", "int", 4, NULL };
    const db_table_content content = { .rows = 2, .column_count = 1, .columns = &column };
    return db_reflection_table_write(context, scratch_path("a.refl"), DB_TABLE_MSGPACK, &content);
}
static db_status table_without_identifiers(void) {
    const db_table_content content = { .identifier_count = 1 };
    return db_reflection_table_write(context, scratch_path("a.refl"), DB_TABLE_MSGPACK, &content);
}
static db_status table_of_odd_form(void) {
    const db_table_content content = { 0 };
    return db_reflection_table_write(context, scratch_path("a.refl"), (db_table_form)5, &content);
}
static db_status overrides_that_are_not_there(void) {
    static db_fit_config config;
    const db_status status = db_fit_config_make(context, "a.cbf", NULL, 2, &config);
    db_fit_config_clear(&config);
    return status;
}
static db_status read_odd_curve(void) {
    db_background background = { 0 };
    size_t odd;
    return db_read_stol(context, "a.stol", (db_stol_abscissa)3, &background, &odd);
}
static db_status shots_without_a_function(void) {
    const db_fit_shot_source source = { .count = 2 };
    db_fit_shots_result *result = NULL;
    return db_fit_run(context, &source, &settings, NULL, &result);
}
static db_status spoil_product(int what) {
    db_plan *plan;
    double gradient[1];
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
    options.parameters = misset;
    options.parameter_count = 1;
    expect_ok(context, db_plan_create(context, &e, &options, &plan));
    v.parameters = gradient;
    v.reserved[4] = what == 0;
    const db_status status = what == 0   ? db_plan_vjp(plan, pixels, NULL, &v)
                             : what == 1 ? db_plan_set_stream(plan, (db_stream_use)8, NULL)
                                         : db_plan_normal(plan, (db_pixel_type)4, pixels, NULL,
                                                          gradient, gradient, gradient);
    db_plan_destroy(&plan);
    return status;
}
static db_status reserved_of_a_vector(void) { return spoil_product(0); }
static db_status odd_stream(void) { return spoil_product(1); }
static db_status odd_data(void) { return spoil_product(2); }

static db_status spoil_batch(int what) {
    db_plan_batch *batch;
    void *const images[2] = { pixels, NULL };
    const db_experiment *const shots[2] = { &e, &e };
    expect_ok(context, db_plan_batch_create(context, &e, &options, &batch));
    const db_status status = what == 0   ? db_plan_batch_forward(batch, NULL, 1, images)
                             : what == 1 ? db_plan_batch_forward(batch, shots, 2, NULL)
                                         : db_plan_batch_forward(batch, shots, 2, images);
    db_plan_batch_destroy(&batch);
    return status;
}
static db_status batch_without_shots(void) { return spoil_batch(0); }
static db_status batch_without_images(void) { return spoil_batch(1); }
static db_status batch_without_one_image(void) { return spoil_batch(2); }

/* A box over the whole image, with a request that is spoilt. */
static db_status spoil_boxes(int what) {
    const db_region region = { 0, 0, 0, PIXELS, PIXELS, 0, PIXELS };
    const db_link link = { 0, 0, 1 };
    const db_box_links links = { what == 0 ? NULL : &link, 1, 1 };
    db_box_rule rule = { .solved = { 1 }, .summed = { 1 } };
    const db_loss loss = { .target = what == 1 ? (db_loss_target)9 : DB_LOSS_WEIGHTED, .gain = 1 };
    db_boxes_request request = DB_BOXES_REQUEST_INIT;
    db_box_data data = DB_BOX_DATA_INIT;
    db_box_solution solution = { .linear = { 1 } };
    static double room[100];
    db_plan *plan;
    db_boxes *boxes;
    options.parameters = misset;
    options.parameter_count = 1;
    options.regions = &region;
    options.region_count = 1;
    expect_ok(context, db_plan_create(context, &e, &options, &plan));
    expect_ok(context, db_boxes_create(plan, &boxes));
    data.value = data.weight = data.shape_variance = pixels;
    if (what == 2) data.weight = NULL;
    db_status status = db_boxes_set_data(boxes, &data);
    rule.reserved[6] = what == 3;
    request = (db_boxes_request){ .size = sizeof request,
                                  .loss = &loss,
                                  .rule = &rule,
                                  .image = what == 4 ? (db_boxes_image)7 : DB_BOXES_DERIVATIVES,
                                  .sums = what == 5 ? (db_boxes_sums)4 : DB_BOXES_NORMAL,
                                  .links = what == 6 ? NULL : &links,
                                  .link_lists = 1,
                                  .most = 1 };
    if (status == DB_OK) status = db_boxes_evaluate(boxes, &request, &solution, room);
    db_boxes_destroy(&boxes);
    db_plan_destroy(&plan);
    return status;
}
static db_status boxes_without_links(void) { return spoil_boxes(0); }
static db_status boxes_of_odd_target(void) { return spoil_boxes(1); }
static db_status boxes_without_weights(void) { return spoil_boxes(2); }
static db_status boxes_of_reserved_rules(void) { return spoil_boxes(3); }
static db_status boxes_of_odd_image(void) { return spoil_boxes(4); }
static db_status boxes_of_odd_sums(void) { return spoil_boxes(5); }
static db_status boxes_without_lists(void) { return spoil_boxes(6); }

static const struct {
    void (*spoil)(void); /* NULL: the call itself is wrong */
    db_status (*call)(void);
    const char *message;
} cases[] = {
    { no_sources, check_experiment, "sources of the beam: expected a list of 1, found NULL" },
    { no_panels, check_experiment, "panels of the detector" },
    { no_background, make_plan, "amorphous amplitudes: expected a list of 2, found NULL" },
    { reserved_of_experiment, check_experiment, "experiment: expected 0 in the reserved members" },
    { reserved_of_crystal, make_plan, "crystal: expected 0" },
    { reserved_of_beam, fit, "beam: expected 0" },
    { reserved_of_goniometer, make_plan, "goniometer: expected 0" },
    { reserved_of_detector, check_data, "detector: expected 0" },
    { reserved_of_factors, make_plan, "structure factors: expected 0" },
    { reserved_of_background, make_plan, "background: expected 0" },
    { reserved_of_spread, predict, "spread: expected 0" },
    { odd_shape, make_plan, "crystal shape" },
    { odd_spots, make_plan, "spots" },
    { odd_precision, make_plan, "precision of a plan: expected a value from 0 to 1, found 2" },
    { negative_precision, recommend, "precision of a plan" },
    { odd_pixel_type, make_plan, "pixel type of a plan" },
    { no_parameters, make_plan, "parameters of a plan: expected a list of 3" },
    { no_regions, make_plan, "regions of a plan: expected a list of 2" },
    { no_regions, recommend, "regions of a plan" },
    { reserved_of_plan, make_plan, "plan options: expected 0" },
    { reserved_of_plan, recommend, "plan options: expected 0" },
    { size_of_plan, make_plan, "plan options: size is 8" },
    { reserved_of_spots, predict, "spot options: expected 0" },
    { reserved_of_spots, list_reflections, "spot options: expected 0" },
    { reserved_of_noise, check_noise, "noise options: expected 0" },
    { odd_psf, check_noise, "point spread function" },
    { reserved_of_setup, resolve, "set-up: expected 0" },
    { reserved_of_spread_setup, resolve, "spread of a set-up: expected 0" },
    { odd_convention, resolve, "convention: expected a value from 0 to" },
    { odd_pivot, resolve, "pivot: expected a value from 0 to 1, found 17" },
    { odd_setup_shape, resolve, "crystal shape: expected a value" },
    { odd_material, resolve, "material of the sensor" },
    { odd_setup_spots, resolve, "spots: expected a value" },
    { no_sources, copy_experiment, "sources of the beam" },
    { no_groups, fit, "groups of panels: expected a list of 3" },
    { no_fit_parameters, check_data, "parameters of a fit: expected a list of 1" },
    { no_fit_parameters, fit, "parameters of a fit: expected a list of 1" },
    { reserved_of_settings, fit, "fit settings: expected 0" },
    { reserved_of_settings, check_data, "fit settings: expected 0" },
    { reserved_of_parameter, fit, "misset_x: expected 0" },
    { reserved_of_stage, fit, "stage one: expected 0" },
    { odd_stage_target, fit, "stage one" },
    { odd_target, fit, "target of a fit" },
    { odd_intensity, check_data, "intensities of a fit" },
    { odd_pixels, fit, "pixels of a fit" },
    { odd_background, fit, "background of a fit" },
    { odd_parameter, fit, "parameter number 9999 does not exist" },
    { no_values, fit, "measured image: expected values and a mask" },
    { no_mask, check_data, "measured image: expected values and a mask" },
    { reserved_of_image, fit, "measured image: expected 0" },
    { NULL, place_no_spots, "spots to be placed: expected a list of 3" },
    { NULL, oversample_no_spots, "spots: expected a list of 4" },
    { NULL, write_no_spots, "spots: expected a list of 4" },
    { NULL, list_no_image, "image whose reflections are listed" },
    { NULL, write_no_floats, "pixels of an image: expected a list of 7" },
    { NULL, write_no_smv, "pixels of an image" },
    { NULL, write_no_numbers, "pixels of an image" },
    { NULL, write_no_pgm, "pixels of a picture" },
    { NULL, write_no_png, "pixels of a picture" },
    { NULL, write_odd_png, "colour map" },
    { NULL, write_no_rgb, "pixels of a picture" },
    { NULL, add_no_images, "images to add: expected a list of 2" },
    { NULL, ignore_nothing, "values to ignore: expected a list of 3" },
    { NULL, move_no_panels, "panels to be moved: expected a list of 2" },
    { NULL, table_without_columns, "columns of a reflection table: expected a list of 3" },
    { NULL, column_without_bytes, "id: expected a list of 2" },
    { NULL, table_without_identifiers, "identifiers of a reflection table" },
    { NULL, table_of_odd_form, "form of a reflection table" },
    { NULL, overrides_that_are_not_there, "overrides of a configuration: expected a list of 2" },
    { NULL, read_odd_curve, "found number 3" },
    { NULL, shots_without_a_function, "shots: expected a function that loads them" },
    { NULL, reserved_of_a_vector, "expected 0 in the reserved members" },
    { NULL, odd_stream, "found 8" },
    { NULL, odd_data, "found type 4" },
    { NULL, batch_without_shots, "shot 0: expected an experiment, found NULL" },
    { NULL, batch_without_images, "batch: expected room for an image, found NULL" },
    { NULL, batch_without_one_image, "shot 1: expected room for an image, found NULL" },
    { NULL, boxes_without_links, "a list of links of boxes: expected a list of 1" },
    { NULL, boxes_of_odd_target, "target of boxes" },
    { NULL, boxes_without_weights, "found NULL for the weights" },
    { NULL, boxes_of_reserved_rules, "rule of a box: expected 0" },
    { NULL, boxes_of_odd_image, "image of boxes" },
    { NULL, boxes_of_odd_sums, "sums of boxes" },
    { NULL, boxes_without_lists, "links of boxes: expected a list of 1" },
};

/* Everything as it should be. */
static void begin(void) {
    static const db_plan_options plan = DB_PLAN_OPTIONS_INIT;
    static const db_spot_options spot = DB_SPOT_OPTIONS_INIT;
    static const db_noise_options noises = DB_NOISE_OPTIONS_INIT;
    const double cell[6] = { 40, 50, 60, 90, 90, 90 };
    e = good; /* borrows its lists */
    options = plan;
    spots = spot;
    noise = noises;
    measured = image;
    db_setup_init(&setup);
    memcpy(setup.cell, cell, sizeof cell);
    setup.default_F = 1;
    setup.distance = 100;
    setup.wavelength = 1;
    db_fit_settings_init(&settings);
    refine_parameter(&settings, DB_MISSET_X, -1);
    db_fit_settings_default_stages(&settings);
    settings.stage_count = 1;
    strcpy(settings.stages[0].name, "one");
}

static void mistakes_are_refused_by_name(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        db_fit_parameter *const own = settings.parameters;
        if (cases[i].spoil) cases[i].spoil();
        const db_status status = cases[i].call();
        const char *const message = db_context_message(context);
        if (status != DB_ERROR_USAGE && status != DB_ERROR_INPUT)
            fail_msg("case %zu, %s: status %d", i, cases[i].message, (int)status);
        if (!strstr(message, cases[i].message))
            fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].message, message);
        settings.parameters = own;
        db_fit_settings_clear(&settings);
    }
}

/* What the cases begin with is right: it is the spoilt member that is refused. */
static void nothing_else_is_wrong(void **state) {
    (void)state;
    static db_status (*const calls[])(void) = { check_experiment, make_plan, recommend,
                                                resolve,          predict,   check_noise,
                                                copy_experiment };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        begin();
        expect_ok(context, calls[i]());
        db_fit_settings_clear(&settings);
    }
}

static int make(void **state) {
    (void)state;
    return db_context_create(&context) != DB_OK ||
                   rendered_experiment(context, PIXELS, 1000, &good) != DB_OK ||
                   rendered_image(context, &good, 3, &image) != DB_OK
               ? -1
               : 0;
}

static int drop(void **state) {
    (void)state;
    db_measured_image_clear(&image);
    db_experiment_clear(&good);
    db_context_destroy(&context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_else_is_wrong),
        cmocka_unit_test(mistakes_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
