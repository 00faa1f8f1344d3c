/* The outputs of a refinement, from a made-up result: HTML page, JSON, numbers with errors. */
#define _POSIX_C_SOURCE 200809L

#include "support/unit_test.h"
#include "fit/report/pixel_frames.h"
#include "fit/scratch_file.h"
#include "fit/synthetic_result.h"
#include "fit/report/value_with_error.h"

#include <dualbragg/expert/fit_files.h>
#include <jansson.h>
#if defined(DB_HAVE_PNG)
#include <png.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static synthetic made_up;

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    if (synthetic_make(context, &made_up) == DB_OK) return 0;
    print_error("%s\n", db_context_message(context));
    return -1;
}

static int drop(void **state) {
    (void)state;
    synthetic_clear(&made_up);
    db_context_destroy(&context);
    return 0;
}

static size_t count(const char *text, const char *part) {
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, part)) != NULL; p += strlen(part)) n++;
    return n;
}

static char *written_page(const char *name) {
    const char *const path = scratch_path(name);
    const db_status status =
        db_fit_write_html(context, path, &made_up.config, &made_up.image, synthetic_list(&made_up));
    if (status != DB_OK) fail_msg("%s", db_context_message(context));
    char *const page = read_whole_file(path);
    assert_non_null(page);
    return page;
}

static void the_page_needs_nothing_from_elsewhere(void **state) {
    (void)state;
    char *const page = written_page("report.html");
    assert_int_equal(count(page, "://"), 0);
    assert_int_equal(count(page, "url("), count(page, "url(#"));
    static const char *const from_elsewhere[] = { "<script src", "import(", "fetch(",  "<link",
                                                  "src=\"",      "href=\"", "@import", "<iframe" };
    for (size_t i = 0; i < sizeof from_elsewhere / sizeof *from_elsewhere; i++)
        assert_int_equal(count(page, from_elsewhere[i]), 0);
    free(page);
}

/* The text of an element with data, which is cut out of the page. */
static char *cut_data(char *page, const char *id) {
    char opening[64];
    snprintf(opening, sizeof opening, "id=\"%s\"", id);
    char *const element = strstr(page, opening);
    assert_non_null(element);
    char *const from = strchr(element, '>') + 1, *const to = strstr(from, "</script>");
    assert_non_null(to);
    char *const text = strndup(from, (size_t)(to - from));
    assert_non_null(text);
    memset(from, ' ', (size_t)(to - from));
    return text;
}

static json_t *page_data(char *page, const char *id) {
    char *const text = cut_data(page, id);
    assert_null(strchr(text, '<')); /* what a page might take for the end of its script */
    json_error_t error;
    json_t *const root = json_loads(text, 0, &error);
    if (!root) fail_msg("%s: %s", id, error.text);
    free(text);
    return root;
}

static void every_element_of_the_page_is_closed(void **state) {
    (void)state;
    char *const page = written_page("report.html"), *const script =
                                                        strstr(page, "<script>\n(() =>");
    assert_non_null(script);
    json_decref(page_data(page, "data"));
    assert_null(strstr(page, "{{"));
    char *const end = strstr(script, "</script>\n</body>");
    assert_non_null(end);
    assert_ptr_equal(strstr(script, "</script>"), end);
    memset(script + strlen("<script>"), ' ', (size_t)(end - script) - strlen("<script>"));
    static const char *const elements[] = { "section", "div",   "svg",    "p",    "h1",
                                            "h2",      "main",  "header", "nav",  "noscript",
                                            "script",  "style", "title",  "body", "head" };
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        char plain[32], attributed[32], closing[32];
        snprintf(plain, sizeof plain, "<%s>", elements[i]);
        snprintf(attributed, sizeof attributed, "<%s ", elements[i]);
        snprintf(closing, sizeof closing, "</%s>", elements[i]);
        if (count(page, plain) + count(page, attributed) != count(page, closing))
            fail_msg("<%s>", elements[i]);
        assert_true(count(page, closing) > 0);
    }
    assert_non_null(strstr(page, "</body>\n</html>"));
    free(page);
}

static json_t *at(json_t *list, size_t index) { return json_array_get(list, index); }
static json_t *of(json_t *object, const char *key) { return json_object_get(object, key); }
static const char *text(json_t *object, const char *key) {
    const char *const value = json_string_value(of(object, key));
    if (!value) fail_msg("no text %s", key);
    return value;
}
static double real(json_t *object, const char *key) { return json_number_value(of(object, key)); }

/* null: not known */
static void same(json_t *value, double expected) {
    assert_non_null(value);
    if (json_is_null(value) || !isfinite(expected)) {
        assert_true(json_is_null(value) && !isfinite(expected));
        return;
    }
    assert_true(fabs(json_number_value(value) - expected) <= 1e-6 * (1e-9 + fabs(expected)));
}

static void same_goodness(json_t *object, const db_fit_goodness *g) {
    same(of(object, "pixels"), (double)g->pixels);
    same(of(object, "chi2_reduced"), g->chi2_reduced);
    same(of(object, "residual"), g->residual);
    same(of(object, "correlation"), g->correlation);
}

static void same_statistics(json_t *object, const db_fit_statistics *s) {
    same(of(object, "pixels"), (double)s->pixels);
    same(of(object, "shoeboxes"), (double)s->shoeboxes);
    same(of(object, "chi2"), s->chi2);
    same(of(object, "chi2_reduced"), s->chi2_reduced);
    same(of(object, "rms_residual"), s->rms_residual);
    same(of(object, "strong_pixels"), s->strong_pixels);
    same(of(object, "strong_explained"), s->strong_explained);
    same(of(object, "correlation"), s->correlation);
    same(of(object, "centroid_rms"), s->centroid_rms);
}

static void same_shoebox(json_t *object, const db_fit_shoebox *b) {
    for (size_t i = 0; i < 3; i++) {
        same(at(of(object, "hkl"), i), b->hkl[i]);
        same(at(of(object, "background"), i), b->background[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        same(at(of(object, "predicted"), i), b->predicted[i]);
        same(at(of(object, "centroid_offset"), i), b->centroid_offset[i]);
    }
    same(of(object, "d_spacing"), b->d_spacing);
    same(of(object, "panel"), (double)b->region.panel);
    same(of(object, "intensity"), b->intensity);
    same(of(object, "intensity_esd"), b->intensity_esd);
    same(of(object, "chi2"), b->chi2);
    same(of(object, "sigma_z"), b->sigma_z);
    same(of(object, "worst_z"), b->worst_z);
    assert_int_equal(json_is_true(of(object, "outlier")), b->outlier);
    same(of(object, "pixels_used"), b->pixels_used);
    same(of(object, "strong_pixels"), b->strong_pixels);
    same(of(object, "strong_explained"), b->strong_explained);
}

static void same_estimates(json_t *data, const db_fit_estimates *e) {
    assert_int_equal(json_array_size(of(data, "parameters")), e->count);
    for (size_t i = 0; i < e->count; i++) {
        json_t *const parameter = at(of(data, "parameters"), i);
        const db_fit_estimate *const own = &e->list[i];
        assert_string_equal(text(parameter, "name"), own->name);
        assert_string_equal(text(parameter, "unit"), own->unit);
        same(of(parameter, "start"), own->start);
        same(of(parameter, "refined"), own->value);
        same(of(parameter, "error"), own->error);
        same(of(parameter, "error_unscaled"), own->error_unscaled);
        same(of(parameter, "error_scaled"), own->error_scaled);
        same(of(parameter, "error_robust"), own->error_robust);
        assert_int_equal(json_array_size(at(of(data, "covariance"), i)), e->count);
        for (size_t k = 0; k < e->count; k++) {
            same(at(at(of(data, "correlation"), i), k), e->correlation[i][k]);
            same(at(at(of(data, "covariance"), i), k),
                 e->correlation[i][k] * own->error * e->list[k].error);
        }
    }
    assert_int_equal(json_array_size(of(data, "directions")), e->direction_count);
    for (size_t d = 0; d < e->direction_count; d++) {
        json_t *const direction = at(of(data, "directions"), d);
        same(of(direction, "eigenvalue"), e->direction[d].eigenvalue);
        same(of(direction, "condition"), e->direction[d].condition);
        for (size_t k = 0; k < e->count; k++) {
            same(at(of(direction, "component"), k), e->direction[d].component[k]);
            same(at(of(direction, "change"), k), e->direction[d].change[k]);
        }
    }
}

static void same_history(json_t *list, const db_fit_result *r) {
    assert_int_equal(json_array_size(list), r->history_count);
    for (size_t i = 0; i < r->history_count; i++) {
        const db_fit_history *const h = &r->history[i];
        same(of(at(list, i), "stage"), h->stage);
        same(of(at(list, i), "evaluation"), h->evaluation);
        same(of(at(list, i), "target"), h->target);
        same(of(at(list, i), "gradient_norm"), h->gradient_norm);
        for (size_t k = 0; k < r->estimates.count; k++)
            same(at(of(at(list, i), "values"), k), h->value[k]);
    }
}

/* Each number of the result is where its name says. */
static void numbers_are_those_of_the_result(void **state) {
    (void)state;
    char *const page = written_page("numbers.html");
    json_t *const data = page_data(page, "data");
    const db_fit_result *const r = &made_up.result;
    same_estimates(data, &r->estimates);
    same_history(of(data, "history"), r);
    same_statistics(of(of(data, "statistics"), "before"), &r->before);
    same_statistics(of(of(data, "statistics"), "after"), &r->after);
    for (size_t i = 0; i < r->shell_count; i++) {
        json_t *const shell = at(of(data, "shells"), i);
        same(of(shell, "d_max"), r->shells[i].d_max);
        same(of(shell, "d_min"), r->shells[i].d_min);
        same_goodness(of(shell, "before"), &r->shells[i].before);
        same_goodness(of(shell, "after"), &r->shells[i].after);
    }
    for (size_t i = 0; i < r->region_count; i++) {
        json_t *const region = at(of(data, "regions"), i);
        const db_fit_region *const own = &r->regions[i];
        same(of(region, "panel"), (double)own->panel);
        same(of(region, "fast_start"), own->fast_start);
        same(of(region, "slow_start"), own->slow_start);
        same(of(region, "fast_count"), own->fast_count);
        same(of(region, "slow_count"), own->slow_count);
        same(of(region, "spots"), (double)own->spots);
        for (size_t k = 0; k < 2; k++) same(at(of(region, "shift"), k), own->shift[k]);
        same_goodness(of(region, "before"), &own->before);
        same_goodness(of(region, "after"), &own->after);
    }
    for (size_t i = 0; i < r->shoebox_count; i++)
        same_shoebox(at(of(data, "shoeboxes"), i), &r->shoeboxes[i]);
    for (size_t i = 0; i < r->start_count; i++) {
        json_t *const start = at(of(data, "starts"), i);
        const db_fit_start *const own = &r->starts[i];
        same(of(start, "number"), own->number);
        for (size_t k = 0; k < 3; k++) same(at(of(start, "turn"), k), own->turn[k]);
        same(of(start, "target"), own->target);
        same(of(start, "explained"), own->explained);
        same(of(start, "evaluations"), own->evaluations);
        same(of(start, "refined_explained"), own->refined_explained);
        assert_int_equal(json_is_true(of(start, "chosen")), own->chosen);
    }
    json_t *const tests = of(of(data, "verdict"), "tests");
    assert_int_equal(json_array_size(tests), DB_FIT_TESTS);
    for (size_t k = 0; k < DB_FIT_TESTS; k++) {
        same(of(at(tests, k), "found"), r->verdict.test[k].found);
        same(of(at(tests, k), "least"), r->verdict.test[k].least);
        same(of(at(tests, k), "most"), r->verdict.test[k].most);
        assert_int_equal(json_is_true(of(at(tests, k), "passed")), r->verdict.test[k].passed);
    }
    same(of(of(data, "verdict"), "position_rms"), r->verdict.position_rms);
    assert_true(json_is_null(of(of(data, "verdict"), "centring")));
    same(of(of(data, "verdict"), "centring_gain"), r->verdict.centring_gain);
    same(of(data, "sigma_z_median"), r->sigma_z_median);
    same(of(data, "sigma_z_limit"), r->sigma_z_limit);
    for (size_t i = 0; i < r->distrusted_listed; i++) {
        json_t *const pixel = at(of(of(data, "distrusted"), "pixels"), i);
        same(of(pixel, "slow"), r->distrusted[i].slow);
        same(of(pixel, "model"), r->distrusted[i].model);
        same(of(pixel, "z"), r->distrusted[i].z);
        same(of(pixel, "trust"), r->distrusted[i].trust);
    }
    json_decref(data);
    free(page);
}

static void same_float(float found, float expected) {
    assert_true(isnan(expected) ? isnan(found) : found == expected);
}

/* Frames of an image: values of boxes in their pixels, the rendered image elsewhere. */
static void boxes_are_painted_where_they_are(void **state) {
    (void)state;
    const db_fit_result *const r = &made_up.result;
    const db_measured_image *const image = &made_up.image;
    const size_t pixels = (size_t)SYNTHETIC_FAST * SYNTHETIC_SLOW;
    int *const covered = calloc(pixels, sizeof *covered);
    db_panel_layout layout;
    db_pixel_frames frames;
    assert_int_equal(db_panel_layout_make(context, &r->experiment, image, &layout), DB_OK);
    assert_int_equal(db_pixel_frames_make(context, &made_up.config, image, r, &layout, &frames),
                     DB_OK);
    assert_true(frames.fast == SYNTHETIC_FAST && frames.slow == SYNTHETIC_SLOW);
    for (int pass = 0; pass < 2; pass++)
        for (size_t b = 0; b < r->shoebox_count; b++) {
            const db_fit_shoebox *const box = &r->shoeboxes[b];
            const db_region *const g = &box->region;
            for (int k = 0; k < g->fast_count * g->slow_count; k++) {
                const int fast = g->fast_start + k % g->fast_count,
                          slow = g->slow_start + k / g->fast_count;
                const size_t to = (size_t)(slow * SYNTHETIC_FAST + fast);
                if (pass == 0) covered[to]++;
                if (pass == 0 || covered[to] > 1) continue;
                same_float(frames.model[to], box->model[k]);
                if (box->sigma[k] > 0) same_float(frames.sigma[to], box->sigma[k]);
            }
        }
    for (size_t i = 0; i < pixels; i++) {
        same_float(frames.measured[i], image->mask[i] ? NAN : image->value[i]);
        if (covered[i]) continue;
        same_float(frames.model[i], r->model_image ? r->model_image[i] : NAN);
    }
    db_pixel_frames_clear(&frames);
    db_panel_layout_clear(&layout);
    free(covered);
}

static void the_page_has_the_result(void **state) {
    (void)state;
    char *const page = written_page("report.html");
    assert_null(strstr(page, "a<b>"));
    assert_non_null(strstr(page, "a\\u003cb>&c.cbf"));
    json_t *const data = page_data(page, "data"), *const parameters = of(data, "parameters");
    assert_string_equal(text(of(data, "provenance"), "image"), "a<b>&c.cbf");
    assert_true(json_is_false(of(data, "converged")));
    assert_non_null(strstr(text(data, "reason"), "mosaic_spread reached its lower bound"));
    assert_string_equal(text(at(parameters, 1), "text"), "58.412(15)");
    assert_string_equal(text(at(parameters, 1), "meaning"), "unit cell edge a");
    assert_float_equal(real(at(parameters, 0), "error_unscaled"), 0.0014, 1e-9);
    assert_float_equal(json_number_value(at(of(at(parameters, 1), "prior"), 0)), 58.5, 1e-9);
    assert_string_equal(text(at(parameters, 2), "follows"), "cell_a");
    assert_string_equal(text(at(parameters, 3), "at_bound"), "lower");
    json_t *const cell = of(of(data, "experiment"), "cell");
    assert_float_equal(json_number_value(at(cell, 0)), 58.412345678901, 1e-8);
    assert_float_equal(json_number_value(at(at(of(data, "correlation"), 0), 1)), -0.81, 1e-9);
    assert_string_equal(text(at(of(data, "directions"), 0), "text"),
                        "misset_x +0.71 with cell_a -0.70");
    json_t *const distrusted = of(data, "distrusted");
    assert_int_equal(json_integer_value(of(distrusted, "count")), 3);
    assert_int_equal(json_integer_value(of(at(of(distrusted, "pixels"), 0), "fast")), 117);
    assert_float_equal(real(at(of(distrusted, "pixels"), 0), "counts"), 4021, 1e-9);
    const char *const warning = json_string_value(at(of(data, "warnings"), 0));
    assert_non_null(warning);
    assert_non_null(strstr(warning, "mosaic_spread ends at its lower bound 0"));
    const char *const advice = json_string_value(at(of(data, "advice"), 0));
    assert_string_equal(advice, "widen the bound, or hold the parameter");
    assert_int_equal(json_array_size(of(data, "shoeboxes")), SYNTHETIC_BOXES);
    assert_int_equal(json_array_size(of(data, "history")), made_up.result.history_count);
    json_t *const about = page_data(page, "data-about");
    assert_int_equal(json_array_size(of(about, "boxes")), SYNTHETIC_BOXES);
    assert_int_equal(json_array_size(of(at(of(about, "resolution"), 0), "values")), 33 * 33);
    assert_non_null(strstr(text(about, "configuration"), "a<b>&c.cbf"));
    json_decref(data);
    json_decref(about);
#if defined(DB_HAVE_PNG)
    char shape[64];
    snprintf(shape, sizeof shape, "data-fast=\"%d\" data-slow=\"%d\"", SYNTHETIC_FAST,
             SYNTHETIC_SLOW);
    assert_int_equal(count(page, shape), 3);
    snprintf(shape, sizeof shape, "data-fast=\"%d\" data-slow=\"1\"", SYNTHETIC_BOXES * 13 * 13);
    assert_int_equal(count(page, shape), 3);
#endif
    free(page);
}

/* With a rendered model the residual covers the whole image. */
static void the_page_takes_a_rendered_model(void **state) {
    (void)state;
    float *const model = malloc(sizeof(float) * SYNTHETIC_FAST * SYNTHETIC_SLOW);
    assert_non_null(model);
    for (size_t i = 0; i < (size_t)SYNTHETIC_FAST * SYNTHETIC_SLOW; i++) model[i] = 10;
    made_up.result.model_image = model;
    made_up.result.fast_pixels = SYNTHETIC_FAST;
    made_up.result.slow_pixels = SYNTHETIC_SLOW;
    free(written_page("rendered.html"));
    made_up.result.model_image = NULL;
    free(model);
}

/* The lower half of the detector as a panel of its own. */
static void panels_are_shown_in_their_places(void **state) {
    (void)state;
    db_detector *const detector = &made_up.result.experiment.detector;
    db_panel *const one = detector->panels, two[2] = { one[0], one[0] };
    two[0].slow_pixels = SYNTHETIC_SLOW / 2;
    two[1].slow_pixels = SYNTHETIC_SLOW - SYNTHETIC_SLOW / 2;
    for (int i = 0; i < 3; i++)
        two[1].origin[i] += (SYNTHETIC_SLOW / 2 + 20) * one->pixel_size[1] * one->slow_axis[i];
    db_image_panel rows[2] = { { "", 0, two[0].slow_pixels },
                               { "", two[0].slow_pixels, two[1].slow_pixels } };
    detector->panels = two;
    detector->panel_count = 2;
    made_up.image.panels = rows;
    made_up.image.panel_count = 2;
    char *const page = written_page("panels.html");
    detector->panels = one;
    detector->panel_count = 1;
    made_up.image.panels = NULL;
    made_up.image.panel_count = 0;
    json_t *const about = page_data(page, "data-about");
    assert_int_equal(json_array_size(of(about, "panels")), 2);
    assert_float_equal(json_number_value(at(of(about, "picture"), 1)), SYNTHETIC_SLOW + 20, 0);
    json_decref(about);
#if defined(DB_HAVE_PNG)
    char shape[64];
    snprintf(shape, sizeof shape, "data-fast=\"%d\" data-slow=\"%d\"", SYNTHETIC_FAST,
             SYNTHETIC_SLOW + 20);
    assert_int_equal(count(page, shape), 3);
#endif
    free(page);
}

/* The two images beside each other, with a strip for their names above and one for the scale below. */
static void the_png_has_names_and_a_scale(void **state) {
    (void)state;
#if defined(DB_HAVE_PNG)
    const char *const path = scratch_path("pictures.png");
    assert_int_equal(
        db_fit_write_png(context, path, &made_up.config, &made_up.image, &made_up.result), DB_OK);
    png_image image = { .version = PNG_IMAGE_VERSION };
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.width, 2 * SYNTHETIC_FAST + 8);
    assert_int_equal(image.height, SYNTHETIC_SLOW + 2 * 28);
    image.format = PNG_FORMAT_GRAY;
    unsigned char *const grey = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(grey);
    assert_true(png_image_finish_read(&image, NULL, grey, 0, NULL));
    const size_t width = image.width;
    /* m of "measured": its dots are two pixels wide, the middle foot one of them */
    static const char *const letter[] = { "##.#.", "#.#.#", "#.#.#", "#...#", "#...#" };
    for (size_t row = 0; row < 5; row++)
        for (size_t column = 0; column < 5; column++)
            assert_int_equal(grey[(7 + 2 * (2 + row)) * width + 6 + 2 * column],
                             letter[row][column] == '#' ? 0 : 255);
    size_t dark = 0; /* of the scale's strip */
    for (size_t i = (28 + SYNTHETIC_SLOW) * width; i < image.height * width; i++)
        dark += grey[i] < 128;
    assert_true(dark > 1000);
    free(grey);
#endif
}

static void an_empty_result_still_makes_a_page(void **state) {
    (void)state;
    db_fit_result *const r = &made_up.result;
    const db_fit_result whole = *r;
    r->history_count = r->shoebox_count = r->estimates.count = 0;
    r->shell_count = r->region_count = r->warning_count = r->estimates.direction_count = 0;
    char *const page = written_page("empty.html");
    assert_non_null(strstr(page, "</html>"));
    free(page);
    *r = whole;
}

static void a_failed_output_leaves_no_file(void **state) {
    (void)state;
    assert_int_equal(db_fit_write_html(context, "no/such/folder/x.html", &made_up.config,
                                       &made_up.image, synthetic_list(&made_up)),
                     DB_ERROR_FILE);
    assert_non_null(strstr(db_context_message(context), "no/such/folder"));
    assert_int_equal(db_fit_write_json(context, "no/such/folder/x.json", &made_up.config,
                                       synthetic_list(&made_up)),
                     DB_ERROR_FILE);
}

/* No configuration describes several panels without a list: all else is told, as on the page. */
static void panels_without_a_list_have_no_model(void **state) {
    (void)state;
    const char *const path = scratch_path("two_panels.json");
    made_up.result.experiment.detector.panel_count = 2;
    const db_status status =
        db_fit_write_json(context, path, &made_up.config, synthetic_list(&made_up));
    made_up.result.experiment.detector.panel_count = 1;
    assert_int_equal(status, DB_OK);
    json_t *const root = json_load_file(path, 0, NULL);
    assert_true(json_is_null(json_object_get(root, "model")));
    assert_int_equal(json_array_size(json_object_get(root, "parameters")), 4);
    json_decref(root);
}

static void json_says_the_same(void **state) {
    (void)state;
    const char *const path = scratch_path("result.json");
    assert_int_equal(db_fit_write_json(context, path, &made_up.config, synthetic_list(&made_up)),
                     DB_OK);
    json_error_t error;
    json_t *const root = json_load_file(path, 0, &error);
    if (!root) fail_msg("%s", error.text);
    assert_true(json_is_false(json_object_get(root, "converged")));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(root, "provenance"), "version")),
        db_version());
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(root, "provenance"), "image")),
        "a<b>&c.cbf");
    json_t *const parameters = json_object_get(root, "parameters");
    assert_int_equal(json_array_size(parameters), 4);
    json_t *const a = json_array_get(parameters, 1), *const b = json_array_get(parameters, 2);
    assert_string_equal(json_string_value(json_object_get(a, "name")), "cell_a");
    assert_true(json_real_value(json_object_get(a, "refined")) == 58.412345678901);
    assert_true(json_is_null(json_object_get(b, "error")));
    assert_string_equal(json_string_value(json_object_get(b, "follows")), "cell_a");
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(parameters, 3), "at_bound")), "lower");
    assert_true(json_real_value(json_array_get(
                    json_array_get(json_object_get(root, "correlation"), 0), 1)) == -0.81);
    json_t *const cell = json_object_get(json_object_get(root, "model"), "cell");
    assert_true(json_real_value(json_array_get(cell, 1)) == 58.412345678901);
    json_t *const after = json_object_get(json_object_get(root, "statistics"), "after");
    assert_true(json_real_value(json_object_get(after, "centroid_rms")) == 0.34);
    json_t *const history = json_object_get(root, "history");
    assert_int_equal(json_array_size(history), made_up.result.history_count);
    assert_true(json_is_null(json_object_get(json_array_get(history, 4), "target")));
    assert_int_equal(json_array_size(json_object_get(json_array_get(history, 4), "values")), 4);
    assert_int_equal(json_array_size(json_object_get(root, "shoeboxes")), SYNTHETIC_BOXES);
    assert_int_equal(json_array_size(json_object_get(json_object_get(root, "settings"), "stages")),
                     SYNTHETIC_STAGES);
    json_decref(root);
}

/* Values have the types that docs/reference/json.md tells, and every line of it occurs. Any number
 * may be null. */
typedef struct schema {
    char *text;    /* of the table's section */
    char *visited; /* one per character of the text: 1 at the lines met */
} schema;

static const char *type_name(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "object";
    case JSON_ARRAY: return "list";
    case JSON_STRING: return "text";
    case JSON_INTEGER: return "integer";
    case JSON_REAL: return "number";
    case JSON_TRUE:
    case JSON_FALSE: return "yes/no";
    case JSON_NULL: break;
    }
    return "null";
}

static void walk(schema *documented, const char *path, json_t *value) {
    char start[256];
    snprintf(start, sizeof start, "\n| `%s` | ", path);
    const char *const line = *path ? strstr(documented->text, start) : NULL;
    if (*path && !line) fail_msg("%s is not documented", path);
    if (line) {
        documented->visited[line - documented->text] = 1;
        const char *const type = line + strlen(start);
        const size_t length = strcspn(type, "|\n");
        char allowed[64];
        snprintf(allowed, sizeof allowed, "%.*s", (int)length, type);
        if (!strstr(allowed, type_name(value)) &&
            !(json_is_null(value) && strcmp(allowed, "number ") == 0))
            fail_msg("%s is %s, documented as %s", path, type_name(value), allowed);
        if (strstr(allowed, "configuration")) return;
    }
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach(value, key, member) {
            char longer[200];
            snprintf(longer, sizeof longer, "%s%s%s", path, *path ? "." : "", key);
            walk(documented, longer, member);
        }
    } else if (json_is_array(value)) {
        size_t index;
        json_t *member;
        json_array_foreach(value, index, member) {
            if (!json_is_object(member)) continue; /* numbers, or lists of them */
            char longer[200];
            snprintf(longer, sizeof longer, "%s[]", path);
            const char *key;
            json_t *inner;
            json_object_foreach(member, key, inner) {
                char whole[256];
                snprintf(whole, sizeof whole, "%s.%s", longer, key);
                walk(documented, whole, inner);
            }
        }
    }
}

static void json_is_what_the_documentation_says(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/reference/json.md",
             getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : "../..");
    schema documented = { read_whole_file(path), NULL };
    assert_non_null(documented.text);
    char *const of_many = strstr(documented.text, "\n## Also for many shots");
    assert_non_null(of_many);
    of_many[1] = '\0';
    documented.visited = calloc(strlen(documented.text) + 1, 1);
    assert_non_null(documented.visited);
    const char *const file = scratch_path("schema.json");
    assert_int_equal(db_fit_write_json(context, file, &made_up.config, synthetic_list(&made_up)),
                     DB_OK);
    json_t *const root = json_load_file(file, 0, NULL);
    assert_non_null(root);
    walk(&documented, "", root);
    for (const char *line = documented.text; (line = strstr(line, "\n| `")) != NULL; line++)
        if (!documented.visited[line - documented.text] &&
            strncmp(line + 4, "shots[].operator`", 17) != 0 && /* of joint intensities */
            strncmp(line + 4, "shots[].probability`", 20) != 0)
            fail_msg("documented, but not in the file: %.60s", line + 3);
    json_decref(root);
    free(documented.visited);
    free(documented.text);
}

static void large_frames_are_averaged_over_blocks(void **state) {
    (void)state;
    enum { FAST = 7, SLOW = 5 }; /* one column and one row too many for blocks of 2 x 2 */
    db_pixel_frames p;
    int bin;
    assert_int_equal(db_pixel_frames_allocate(context, FAST, SLOW, &p), DB_OK);
    for (int i = 0; i < FAST * SLOW; i++) {
        const int fast = i % FAST, slow = i / FAST;
        p.measured[i] = (float)(100 * slow + 10 * fast);
        p.model[i] = (float)(slow * slow + fast);
        p.sigma[i] = fast < 2 ? 6 : (float)(1 + 2 * (fast % 2));
    }
    p.measured[2 * FAST + 5] = NAN;
    assert_int_equal(db_pixel_frames_reduce(context, FAST * SLOW, &p, &bin), DB_OK);
    assert_true(bin == 1 && p.fast == FAST && p.slow == SLOW);
    assert_int_equal(db_pixel_frames_reduce(context, 9, &p, &bin), DB_OK);
    assert_true(bin == 2 && p.fast == 3 && p.slow == 2);
    static const float measured[] = { 55, 75, 95, 255, 275, NAN }, model[] = { 1, 3, 5, 7, 9, 11 };
    for (int i = 0; i < 6; i++) {
        assert_true(p.measured[i] == measured[i] || (isnan(p.measured[i]) && isnan(measured[i])));
        assert_true(p.model[i] == model[i]);
        /* of a mean of four: half the root of the mean square */
        const double sigma = i % 3 == 0 ? 3 : sqrt((2 * 1 + 2 * 9) / 4.0) / 2;
        assert_true(fabs((double)p.sigma[i] - sigma) < 1e-6);
    }
    db_pixel_frames_clear(&p);
}

static void errors_in_units_of_the_last_digit(void **state) {
    (void)state;
    static const struct {
        double value, error;
        const char *text;
    } cases[] = {
        { 58.41234, 0.003, "58.412(3)" },
        { 58.41234, 0.0123, "58.412(12)" },
        { 58.41234, 0.00195, "58.412(2)" },
        { 58.41234, 0.0019, "58.4123(19)" },
        { 58.41234, 0.002, "58.412(2)" },
        { -0.5, 0.25, "-0.5(3)" },
        { 351, 12, "351(12)" },
        { 351, 200, "400(200)" },
        { 351, 2000, "400(2000)" },
        { 4321, 120000, "4000(120000)" },
        { -6, 3000, "-6(3000)" },
        { 0, 3000, "0(3000)" },
        { 1.5, NAN, "1.5" },
        { 1.5, 0, "1.5" },
        { 1.5, INFINITY, "1.5(?)" },
        { 58.412345678, NAN, "58.41235" },
        { 0.0996, 0.0996, "0.10(10)" },
        { 1e-5, 3e-7, "0.0000100(3)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[DB_VALUE_TEXT_SIZE];
        assert_string_equal(db_value_with_error(text, cases[i].value, cases[i].error),
                            cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_needs_nothing_from_elsewhere),
        cmocka_unit_test(every_element_of_the_page_is_closed),
        cmocka_unit_test(numbers_are_those_of_the_result),
        cmocka_unit_test(boxes_are_painted_where_they_are),
        cmocka_unit_test(the_page_has_the_result),
        cmocka_unit_test(the_page_takes_a_rendered_model),
        cmocka_unit_test(panels_are_shown_in_their_places),
        cmocka_unit_test(the_png_has_names_and_a_scale),
        cmocka_unit_test(an_empty_result_still_makes_a_page),
        cmocka_unit_test(a_failed_output_leaves_no_file),
        cmocka_unit_test(panels_without_a_list_have_no_model),
        cmocka_unit_test(json_says_the_same),
        cmocka_unit_test(json_is_what_the_documentation_says),
        cmocka_unit_test(large_frames_are_averaged_over_blocks),
        cmocka_unit_test(errors_in_units_of_the_last_digit),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
