/* Shoeboxes that a list gives, pixel by pixel. */

#include "support/unit_test.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"

#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 600, FAST_HALF = 6, SLOW_HALF = 3, MOST = 400 };
static db_context *context;
static db_experiment crystal;
static db_measured_image image;
static db_fit_settings settings;
static db_fit_spots boxes;

static int make(void **state) {
    (void)state;
    if (rendered_begin(PIXELS, 2000, 5, &context, &crystal, &image) != 0) return -1;
    db_fit_settings_init(&settings);
    refine_parameter(&settings, DB_MISSET_X, -1);
    refine_parameter(&settings, DB_MISSET_Y, -1);
    refine_parameter(&settings, DB_MISSET_Z, -1);
    return 0;
}

static int drop(void **state) {
    (void)state;
    return rendered_end(&context, &crystal, &image);
}

static db_fit_result *run(void) {
    db_fit_result *result;
    const db_status status = fit_still(context, &crystal, &image, &settings, NULL, NULL, &result);
    if (status != DB_OK && status != DB_NOT_CONVERGED) fail_msg("%s", db_context_message(context));
    return result;
}

/* Lines of boxes, wider than high, around the spots of a refinement; every other one with its
 * indices. */
static char *lines_around(const db_fit_result *result, size_t *listed) {
    char *const text = calloc(MOST, 64);
    assert_non_null(text);
    *listed = 0;
    for (size_t b = 0; b < result->shoebox_count && *listed < MOST; b++, (*listed)++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        const int fast = (int)box->predicted[0], slow = (int)box->predicted[1];
        char *const end = text + strlen(text);
        const int length = sprintf(end, "0 %d %d %d %d", fast - FAST_HALF, fast + FAST_HALF,
                                   slow - SLOW_HALF, slow + SLOW_HALF);
        if (b % 2)
            sprintf(end + length, " %d %d %d\n", box->hkl[0], box->hkl[1], box->hkl[2]);
        else
            strcat(end, "\n");
    }
    return text;
}

static int has(const db_fit_result *result, const int hkl[3]) {
    for (size_t b = 0; b < result->shoebox_count; b++)
        if (memcmp(result->shoeboxes[b].hkl, hkl, 3 * sizeof *hkl) == 0) return 1;
    return 0;
}

static void given_boxes_are_the_pixels_that_count(void **state) {
    (void)state;
    db_fit_result *squares = run();
    size_t listed, same = 0;
    char *const text = lines_around(squares, &listed);
    assert_true(listed > 60);
    if (db_fit_spots_read(context, scratch_file("boxes.txt", text), DB_FIT_LISTED_BY_BOX, -1,
                          &boxes) != DB_OK)
        fail_msg("%s", db_context_message(context));
    free(text);
    assert_int_equal(boxes.count, listed);
    settings.spots = &boxes;
    db_fit_result *given = run();
    assert_int_equal(given->shoebox_half_width, FAST_HALF);
    assert_true(given->shoebox_count <= listed &&
                (double)given->shoebox_count > 0.8 * (double)listed);
    for (size_t b = 0; b < given->shoebox_count; b++) {
        const db_fit_shoebox *const box = &given->shoeboxes[b];
        same += (size_t)has(squares, box->hkl);
        int used = 0;
        for (int s = 0; s < box->region.slow_count; s++)
            for (int f = 0; f < box->region.fast_count; f++) {
                const size_t i = (size_t)s * box->region.stride + (size_t)f;
                if (!(box->sigma[i] > 0)) continue;
                used++;
                const double slow = box->region.slow_start + s + 0.5 - box->predicted[1];
                /* the start's prediction placed the box, whose pixel it may have left since */
                assert_true(fabs(slow) < SLOW_HALF + 2);
            }
        assert_true(used > 20 && used <= (2 * FAST_HALF + 1) * (2 * SLOW_HALF + 1));
    }
    assert_true((double)same > 0.95 * (double)given->shoebox_count);
    assert_true(misorientation(&crystal.crystal, &given->experiment.crystal) < 0.01);
    settings.spots = NULL;
    db_fit_spots_clear(&boxes);
    fit_still_destroy(&squares);
    fit_still_destroy(&given);
}

/* Of several reflections in a box the nearest to its middle has it, unless the list says which; a
 * box in which none is predicted is nobody's. */
static void boxes_find_their_reflections(void **state) {
    (void)state;
    db_spot list[4] = { { .hkl = { 1, 2, 3 }, .position = { 21, 20 } },
                        { .hkl = { 4, 5, 6 }, .position = { 26, 21 } },
                        { .hkl = { 7, 8, 9 }, .panel = 1, .position = { 20.5, 20.5 } },
                        { .hkl = { -1, 0, 2 }, .position = { 80, 80 } } };
    const db_predicted_spots prediction = { 4, list };
    db_fit_spot spot[3] = { { .box = { 15, 26, 15, 25 } },
                            { .hkl = { 4, 5, 6 }, .box = { 15, 26, 15, 25 } },
                            { .hkl = { 4, 5, 6 }, .box = { 75, 85, 75, 85 } } };
    const db_fit_spots all = { DB_FIT_LISTED_BY_BOX, 3, spot, 0 };
    const db_fit_spot **given;
    assert_int_equal(db_given_boxes_assign(context, &all, &prediction, &given), DB_OK);
    assert_ptr_equal(given[0], &spot[0]);
    assert_ptr_equal(given[1], &spot[1]);
    assert_null(given[2]);
    assert_null(given[3]);
    free(given);
    assert_int_equal(db_given_boxes_half_width(&all), 6);
    /* squares hold their boxes, at the panel's edges too */
    const int pixels[2] = { 90, 200 };
    const db_fit_spot corner = { .box = { 80, 89, 0, 3 } };
    const db_region region = db_given_box_region(&corner, 6, pixels);
    assert_int_equal(region.fast_start + region.fast_count, 90);
    assert_int_equal(region.slow_start, 0);
    uint8_t own[13 * 13];
    int left = 0;
    memset(own, 1, sizeof own);
    assert_true(db_given_box_pixels(&corner, &region, own));
    for (int i = 0; i < 13 * 13; i++) left += own[i];
    assert_int_equal(left, 10 * 4);
}

static void lines_that_are_no_boxes_are_refused(void **state) {
    (void)state;
    static const char *const lines[] = { "0 1 2 3\n",    "0 5 4 1 2\n",      "0 1 2 3 4 5 6\n",
                                         "-1 1 2 3 4\n", "0 1 2 3 4.5\n",    "0 1 400 3 4\n",
                                         "0 -3 4 3 4\n", "0 1 2 3 4 1 2 x\n" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(db_fit_spots_read(context, scratch_file("bad.txt", lines[i]),
                                           DB_FIT_LISTED_BY_BOX, -1, &boxes),
                         DB_ERROR_INPUT);
        if (!strstr(db_context_message(context),
                    "bad.txt:1: expected panel fast_min fast_max slow_min slow_max"))
            fail_msg("'%s': %s", lines[i], db_context_message(context));
        assert_true(!boxes.spot && !boxes.count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_boxes_are_the_pixels_that_count),
        cmocka_unit_test(boxes_find_their_reflections),
        cmocka_unit_test(lines_that_are_no_boxes_are_refused),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
