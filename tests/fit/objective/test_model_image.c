/* Whole images and intensities of a refined model, checked from outside: against the image measured,
 * against rendering the refined model with its list of intensities, and against the truth. */
#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"
#include "fit/objective/intensities.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/reflections.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/fit_steps.h>
#include <dualbragg/expert/reflection_tables.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 600, ALL = PIXELS * PIXELS };
static db_context *context;
static db_experiment truth;
static db_measured_image image;
static db_fit_settings settings;
static db_fit_result *result;
static float *spots;

/* bandwidth: relative variance (1e-6) */
static void refine(db_fit_intensity intensity, double bandwidth) {
    if (rendered_experiment(context, PIXELS, 2000, &truth) != DB_OK)
        fail_msg("%s", db_context_message(context));
    truth.spread.mosaic = 0.01;
    truth.spread.bandwidth = bandwidth;
    if (rendered_image(context, &truth, 5, &image) != DB_OK)
        fail_msg("%s", db_context_message(context));
    db_experiment start = truth; /* borrows */
    start.crystal.misset[0] += 0.02;
    db_fit_settings_init(&settings);
    settings.intensity = intensity;
    settings.model_error = 0; /* the model is right */
    for (int p = DB_MISSET_X; p <= DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    if (fit_still(context, &start, &image, &settings, NULL, NULL, &result) != DB_OK ||
        db_fit_render_spots(context, result, spots) != DB_OK)
        fail_msg("%s", db_context_message(context));
}

static int begin(void **state) {
    (void)state;
    spots = malloc(ALL * sizeof *spots);
    return spots && db_context_create(&context) == DB_OK ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    free(spots);
    fit_still_destroy(&result);
    db_fit_settings_clear(&settings);
    db_measured_image_clear(&image);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    return 0;
}

/* Pixels 5 standard deviations above the background, of which the spots' excess is between half and
 * twice that measured: as the report counts them. */
static double explained(void) {
    double strong = 0, right = 0;
    for (size_t i = 0; i < ALL; i++) {
        const double background = (double)result->background_image[i],
                     excess = (double)image.value[i] - background;
        if (image.mask[i] || excess < settings.strong_sigma * sqrt(fmax(background, 1))) continue;
        strong++;
        right += (double)spots[i] > 0.5 * excess && (double)spots[i] < 2 * excess;
    }
    return right / strong;
}

/* chi2 in the shoeboxes of the report, by the two images. */
static double chi2_in_boxes(void) {
    double sum = 0, reported = 0;
    for (size_t b = 0; b < result->shoebox_count; b++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        const db_region *const r = &box->region;
        reported += box->chi2;
        for (int s = 0; s < r->slow_count; s++)
            for (int f = 0; f < r->fast_count; f++) {
                const size_t at =
                    (size_t)(r->slow_start + s) * PIXELS + (size_t)(r->fast_start + f);
                const double sigma = (double)box->sigma[(size_t)(s * r->fast_count + f)];
                const double model = (double)spots[at] + (double)result->background_image[at];
                if (sigma > 0) sum += pow(((double)image.value[at] - model) / sigma, 2);
            }
    }
    return sum / reported;
}

static void images_explain_what_the_report_says(void) {
    const double found = explained(), chi2 = chi2_in_boxes();
    print_message(
        "strong pixels explained %.4f, reported %.4f; chi2 in boxes %.4f of that reported\n", found,
        result->after.strong_explained, chi2);
    assert_true(fabs(found - result->after.strong_explained) < 0.02);
    /* planes of the boxes follow noise, as much as three of some 200 numbers can */
    assert_true(chi2 > 0.98 && chi2 < 1.06);
}

/* What sim renders from the refined model and PREFIX.hkl. */
static void is_what_sim_renders_of_the_list(void) {
    const char *const path = scratch_path("list.hkl");
    db_experiment model = result->experiment; /* borrows */
    float *const rendered = malloc(ALL * sizeof *rendered);
    db_plan *plan;
    double most = 0, difference = 0;
    assert_non_null(rendered);
    model.structure_factors = (db_structure_factors){ .default_F = 0 };
    model.beam.fluence = DB_DEFAULT_FLUENCE;
    model.beam.scale = 1;
    if (db_fit_write_intensities(context, path, result) != DB_OK ||
        db_read_hkl(context, path, &model.structure_factors) != DB_OK ||
        db_plan_create(context, &model, NULL, &plan) != DB_OK ||
        db_plan_forward(plan, rendered) != DB_OK)
        fail_msg("%s", db_context_message(context));
    for (size_t i = 0; i < ALL; i++) {
        most = fmax(most, (double)rendered[i]);
        difference = fmax(difference, fabs((double)rendered[i] - (double)spots[i]));
    }
    print_message("rendered from the list: off by %.1e of the brightest pixel\n",
                  difference / most);
    assert_true(most > 100 && difference < 1e-6 * most); /* F has nine digits there */
    free(model.structure_factors.amplitude);
    free(rendered);
    db_plan_destroy(&plan);
    remove(path);
}

static double true_square(const int hkl[3]) {
    const db_structure_factors *const f = &truth.structure_factors;
    size_t at = 0;
    for (int i = 0; i < 3; i++) at = at * (size_t)f->extent[i] + (size_t)(hkl[i] - f->min[i]);
    return f->amplitude[at] * f->amplitude[at] * truth.beam.fluence / DB_DEFAULT_FLUENCE *
           truth.beam.scale;
}

/* Of reflections that are excited well, faint ones too: nothing is left out for being faint. */
static void intensities_are_right_within_their_errors(void) {
    double sum = 0, square = 0, count = 0;
    for (size_t n = 0; n < result->reflection_count; n++) {
        const db_fit_reflection *const r = &result->reflections[n];
        assert_true(r->partiality >= 0 && r->partiality <= 1);
        if (r->partiality < 0.3) continue;
        const double pull = (r->square - true_square(r->hkl)) / r->square_sigma;
        sum += pull;
        square += pull * pull;
        count++;
    }
    print_message("%.0f of %zu intensities: pulls %+.2f on average, %.2f rms\n", count,
                  result->reflection_count, sum / count, sqrt(square / count));
    assert_true(count > 40);
    assert_true(fabs(sum / count) < 0.3 && sqrt(square / count) > 0.8 &&
                sqrt(square / count) < 1.25);
}

static void free_intensities_have_images(void **state) {
    (void)state;
    refine(DB_FIT_FREE, 0);
    images_explain_what_the_report_says();
    is_what_sim_renders_of_the_list();
    intensities_are_right_within_their_errors();
}

static void known_amplitudes_have_images_but_no_intensities(void **state) {
    (void)state;
    refine(DB_FIT_KNOWN, 0);
    images_explain_what_the_report_says();
    assert_true(!result->reflections && result->reflection_count == 0);
    assert_int_equal(db_fit_write_intensities(context, "x", result), DB_ERROR_USAGE);
    assert_int_equal(db_fit_write_table(context, "x", NULL, result), DB_ERROR_USAGE);
}

/* Numbers of a column of doubles: behind its name, its type, the number of rows (8 bytes) and of bytes (4), as msgpack has them. */
static const unsigned char *column_of(const char *bytes, size_t size, const char *name) {
    static const char type[] = "\x92\xa6"
                               "double\x92\xcf";
    const size_t length = strlen(name), head = strlen(type);
    for (size_t at = 0; at + length + head + 13 < size; at++)
        if (memcmp(bytes + at, name, length) == 0 && memcmp(bytes + at + length, type, head) == 0)
            return (const unsigned char *)bytes + at + length + head + 13;
    fail_msg("%s is no column", name);
    return NULL;
}

static const db_spot *spot_of(const db_predicted_spots *list, const int hkl[3]) {
    for (size_t i = 0; i < list->count; i++)
        if (memcmp(list->spot[i].hkl, hkl, sizeof list->spot[i].hkl) == 0) return &list->spot[i];
    return NULL;
}

/* The wavelengths in A that a list of spots of the refined model has, in the table and in the last columns of the text; their
 * spread is a part of the band's, which is 0.2 %. */
static void wavelengths_are_those_of_the_spots(const char *bytes, size_t size) {
    const unsigned char *const mean = column_of(bytes, size, "wavelength_cal"),
                               *const width = column_of(bytes, size, "wavelength_width");
    const char *const path = scratch_path("waves.hkl");
    const double wave = result->experiment.beam.wavelength;
    db_predicted_spots list;
    char line[1000];
    size_t n = 0;
    double most = 0;
    assert_int_equal(db_spots_predict(context, &result->experiment, NULL, &list), DB_OK);
    assert_int_equal(db_fit_write_intensities(context, path, result), DB_OK);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        int hkl[3];
        double table[2], text[2];
        if (line[0] == '#') {
            if (strncmp(line, "# h k l", 7) == 0)
                assert_non_null(strstr(line, "strong_pixels wavelength wavelength_width\n"));
            continue;
        }
        assert_int_equal(
            sscanf(line, "%d %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf",
                   &hkl[0], &hkl[1], &hkl[2], &text[0], &text[1]),
            5);
        memcpy(&table[0], mean + n * sizeof *table, sizeof *table);
        memcpy(&table[1], width + n * sizeof *table, sizeof *table);
        n++;
        const db_spot *const spot = spot_of(&list, hkl);
        if (!spot) continue; /* a fit looks farther from the sphere */
        const double has[2] = { spot->wavelength, spot->wavelength_width };
        assert_true(fabs(table[0] - has[0]) < 1e-7 && fabs(text[0] - has[0]) < 1e-7);
        assert_true(fabs(table[1] / has[1] - 1) < 1e-3 && fabs(text[1] / has[1] - 1) < 6e-3);
        assert_true(fabs(table[0] / wave - 1) < 4 * 0.002 && table[1] > 0 &&
                    table[1] <= 0.002 * wave);
        most = fmax(most, fabs(table[0] / wave - 1));
    }
    fclose(file);
    assert_true(n == result->reflection_count && n > 100 && most > 5e-4);
    db_predicted_spots_clear(&list);
    remove(path);
}

static void reflection_tables_are_read_back(void **state) {
    (void)state;
    db_reflection_table table;
    refine(DB_FIT_FREE, 4);
    const char *const path = scratch_path("table.refl");
    db_fit_spots listed;
    if (db_fit_write_table(context, path, NULL, result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    FILE *const file = fopen(path, "rb");
    static char bytes[1 << 20];
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(db_is_reflection_table(bytes, size));
    const db_status status = db_reflection_table_read(context, path, bytes, size, &table);
    if (status == DB_ERROR_UNSUPPORTED) skip(); /* no msgpack */
    if (status != DB_OK) fail_msg("%s", db_context_message(context));
    assert_int_equal(table.count, result->reflection_count);
    for (size_t n = 0; n < table.count; n++) {
        const db_fit_reflection *const r = &result->reflections[n];
        assert_memory_equal(table.hkl[n], r->hkl, sizeof r->hkl);
        assert_int_equal(table.box[n][0], r->region.fast_start);
        assert_int_equal(table.box[n][3], r->region.slow_start + r->region.slow_count);
        assert_int_equal(table.panel[n], r->region.panel);
        assert_int_equal(table.experiment[n], 0);
    }
    wavelengths_are_those_of_the_spots(bytes, size);
    db_reflection_table_clear(&table);
    /* and a refinement takes it as a list */
    if (db_fit_spots_read(context, path, DB_FIT_LISTED_BY_INDEX, 0, &listed) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_int_equal(listed.count, result->reflection_count);
    db_fit_spots_clear(&listed);
    remove(path);
}

/* Spots of a reflection have one F: of the mean of their F^2, of which a negative one is a measurement as any. */
static void negative_squares_count(void **state) {
    (void)state;
    db_fit_reflection list[] = {
        { .hkl = { 1, 0, 0 }, .square = 4, .square_sigma = 1, .F = 2 },
        { .hkl = { 1, 0, 0 }, .square = -6, .square_sigma = 2, .F = 0 },
        { .hkl = { 2, 0, 0 }, .square = 3, .square_sigma = 1, .F = sqrt(3) },
        { .hkl = { 2, 0, 0 }, .square = -3.5, .square_sigma = 1, .F = 0 },
        { .hkl = { 3, 0, 0 }, .square = 9, .square_sigma = 1, .F = 2.5 }, /* by a prior */
    };
    db_intensities_share(list, 5);
    const double shared = sqrt((4 - 6 / 4.0) / (1 + 1 / 4.0)),
                 expected[] = { shared, shared, 0, 0, 2.5 };
    for (int i = 0; i < 5; i++) assert_true(fabs(list[i].F - expected[i]) < 1e-12);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(free_intensities_have_images),
        TEST(known_amplitudes_have_images_but_no_intensities),
        TEST(reflection_tables_are_read_back),
        cmocka_unit_test(negative_squares_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
