/* DIALS experiment lists when memory runs out: at every allocation in turn. */
#include "support/expect.h"
#include "files_for_tests.h"
#include "support/every_allocation.h"

#include <dualbragg/io.h>
#include <dualbragg/setup.h>
#include <dualbragg/expert/experiment_list_content.h>

#include <stdlib.h>

#if defined(DB_HAVE_JANSSON)

static void make_experiment(double osc, db_experiment *experiment) {
    db_setup setup;
    db_setup_init(&setup);
    const double cell[6] = { 45, 55, 70, 82, 97, 105 };
    memcpy(setup.cell, cell, sizeof cell);
    setup.default_F = 1;
    setup.wavelength = 0.97934;
    setup.pixel_size = 0.1024;
    setup.detector_pixels[0] = 60;
    setup.detector_pixels[1] = 40;
    setup.distance = 123.456;
    setup.osc = osc;
    expect_ok(test_context(), db_setup_resolve(test_context(), &setup, experiment, NULL, NULL));
}

static db_experiment written;
static char *whole; /* the right content */
static size_t whole_size;

/* Leaves the file that was there, or a whole one. */
static db_status write_list(db_context *context, int *right) {
    static const char old[] = "what was there";
    const db_expt_image image = { .path = "/data/shot_0001.cbf", .pedestal = 10, .gain = 1 };
    const char *const path = folder_path("x.expt");
    const db_status status = db_write_expt(context, path, &written, &image);
    allocations_end();
    size_t size;
    char *const content = load_file(path, &size);
    if (!whole) {
        whole = content;
        whole_size = size;
    }
    const char *const expected = status == DB_OK ? whole : old;
    *right = size == (status == DB_OK ? whole_size : strlen(old)) &&
             memcmp(content, expected, size) == 0 && folder_count() == 1;
    if (content != whole) free(content);
    folder_text("x.expt", old);
    return status;
}

static void writing_ends_with_a_whole_file_or_an_error(void **state) {
    (void)state;
    for (int scan = 0; scan < 2; scan++) {
        make_experiment(scan ? 0.5 : 0, &written);
        at_every_allocation(test_context(), write_list, 300);
        free(whole);
        whole = NULL;
        db_experiment_clear(&written);
    }
}

/* Text and numbers longer than a parser's first buffer, panels in groups, masks. */
static const char list[] =
    "{\"__id__\": \"ExperimentList\", \"experiment\": [{\"beam\": 0, \"detector\": 0, "
    "\"goniometer\": 0, \"scan\": 0, \"crystal\": 0, \"imageset\": 0}],\n"
    "\"imageset\": [{\"template\": "
    "\"/a/folder/with/a/rather/long/name/and/one/more/image_name_####.cbf\"}],\n"
    "\"beam\": [{\"direction\": [0.012345678901234567, 0.0, 0.99992379208331234567], "
    "\"wavelength\": 0.97934123456789012345678901, \"polarization_fraction\": 0.999}],\n"
    "\"detector\": [{\"hierarchy\": {\"fast_axis\": [1, 0, 0], \"slow_axis\": [0, 1, 0], "
    "\"origin\": [0, 0, -200.12345678901234567], \"children\": [{\"panel\": 0}, {\"fast_axis\": "
    "[1, 0, 0], \"slow_axis\": [0, 1, 0], \"origin\": [1, 2, 0], \"children\": [{\"panel\": "
    "1}]}]},\n"
    "\"panels\": [{\"name\": \"p0\", \"fast_axis\": [1, 0, 0], \"slow_axis\": [0, -1, 0], "
    "\"origin\": [-10, 10, 0], \"image_size\": [30, 20], \"pixel_size\": [0.1, 0.1], "
    "\"trusted_range\": [-1, 65535], \"mask\": [[0, 0, 3, 4]]},\n"
    "{\"name\": \"p1\", \"fast_axis\": [1, 0, 0], \"slow_axis\": [0, -1, 0], \"origin\": [-10, "
    "10, 0], \"image_size\": [30, 20], \"pixel_size\": [0.1, 0.1], \"mask\": [[1, 2, 3, 4]]}]}],\n"
    "\"goniometer\": [{\"rotation_axis\": [1, 0, 0]}], \"scan\": [{\"image_range\": [1, 9], "
    "\"oscillation\": [3.25, 0.5]}],\n"
    "\"crystal\": [{\"real_space_a\": [60, 0, 0], \"real_space_b\": [0, 70.123456789012345, 0], "
    "\"real_space_c\": [0, 0, 80], \"space_group_hall_symbol\": \" P 4nw 2abw\"}]}\n";

/* Numbers that tell whether all of the list was read. */
static double sum_of(const db_experiment *e, const db_expt_content *content) {
    double sum = e->beam.wavelength + 3 * e->detector.distance + 7 * content->phi;
    for (int i = 0; i < 6; i++) sum += (i + 2) * e->crystal.cell[i];
    for (int i = 0; i < 3; i++) sum += (i + 11) * e->beam.direction[i];
    for (size_t p = 0; p < e->detector.panel_count; p++) {
        const db_panel *const panel = &e->detector.panels[p];
        for (int i = 0; i < 3; i++) sum += (double)(p + 1) * panel->origin[i] * (i + 1);
        for (size_t m = 0; m < content->panel[p].mask_count; m++)
            sum += content->panel[p].mask[m][3];
    }
    return sum;
}

/* What was read until then can be cleared. */
static db_status read_list(db_context *context, int *right) {
    static double sum;
    const db_expt_selection selection = { .number = -1, .image = "image_name_0004.cbf" };
    db_experiment e;
    db_expt_content content;
    *right = 1;
    if (db_experiment_init(context, &e) != DB_OK) return DB_ERROR_MEMORY;
    const db_status status = db_read_expt(context, folder_path("x.expt"), &selection, &e, &content);
    allocations_end();
    if (status == DB_OK && sum == 0) sum = sum_of(&e, &content);
    *right = status != DB_OK || sum_of(&e, &content) == sum;
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    return status;
}

static void reading_ends_with_all_of_the_list_or_an_error(void **state) {
    (void)state;
    folder_text("x.expt", list);
    at_every_allocation(test_context(), read_list, 250);
}

/* JSON is UTF-8; a file name need not be. */
static void a_name_that_json_cannot_hold_is_refused(void **state) {
    (void)state;
    db_experiment e;
    make_experiment(0.5, &e);
    const db_expt_image image = { .path = "/data/shot\xff_0001.cbf", .gain = 1 };
    expect_failure(
        test_context(), DB_ERROR_INPUT,
        db_write_expt(test_context(), folder_path("n.expt"), &e, &image),
        "n.expt: the list cannot hold the name of its image: expected UTF-8, found '/data/shot");
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writing_ends_with_a_whole_file_or_an_error),
        cmocka_unit_test(reading_ends_with_all_of_the_list_or_an_error),
        cmocka_unit_test(a_name_that_json_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
#else
int main(void) { return 77; }
#endif
