/* Configurations, lists of shots and results when memory runs out: at every allocation in turn. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fit/scratch_file.h"
#include "fit/synthetic_result.h"
#include "support/failing_allocation.h"

#include <dualbragg/fit_shots.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static db_context *context;

static long reached; /* allocations of the last trial */

/* What is tried. It stops failing allocations once the library has returned. *right: 1 if the
 * result is what it is with enough memory. */
typedef db_status trial(int *right);

/* Every failure is told for what it is, and success means a right result. Of many positions
 * about `most` are tried. */
static void at_every_allocation(trial *attempt, long least, long most) {
    int right = 0;
    if (!can_fail_allocations()) skip();
    if (attempt(&right) != DB_OK || !right) fail_msg("%s", db_context_message(context));
    fail_allocation(-1);
    assert_int_equal(attempt(&right), DB_OK);
    const long positions = reached;
    const long stride = positions / most + 1;
    print_message("%ld positions, one of %ld tried\n", positions, stride);
    assert_true(positions >= least);
    for (long position = 0; position < positions; position += stride) {
        fail_allocation(position);
        const db_status status = attempt(&right);
        if (status == DB_OK ? !right
                            : status != DB_ERROR_MEMORY &&
                                  !strstr(db_context_message(context), "Cannot allocate memory"))
            fail_msg("position %ld: status %d: %s", position, (int)status,
                     db_context_message(context));
    }
}

static const char yaml[] =
    "image: shot_0001.cbf\n"
    "model:\n"
    "  cell: [58.123456789012345678, 58.4, 152.2, 90, 90, 90]\n"
    "  orientation: &o [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
    "  cells: [20, 20, 20]\n"
    "panel_groups: {near: [0, 3-4], far: [1, 2]}\n"
    "intensity: {known: a/file/with/a/name/that/is/rather/long/F.mtz, space_group: P 41 21 2}\n"
    "refine:\n"
    "  misset_x: {range: 0.5, prior: [0, 0.2]}\n"
    "  misset_y:\n"
    "  cell_a: {min: 57, max: 60}\n"
    "  cell_b: {follows: cell_a}\n"
    "  near:shift_fast: {range: 0.1}\n"
    "stages:\n"
    "  - {name: first, refine: [misset_x, misset_y], blur: 3}\n"
    "  - {name: \"second, with a name\", refine: [misset_x, misset_y, cell_a, cell_b]}\n";

static db_status read_configuration(int *right) {
    static db_fit_config config;
    static const char *const overrides[] = { "stages.first.blur=2", "model.phi=3.5" };
    const db_status status =
        db_fit_config_read(context, scratch_path("fit.yaml"), overrides, 2, &config);
    reached = stop_failing_allocations(NULL);
    const db_fit_settings *const s = &config.settings;
    *right = status == DB_OK && config.setup.cell[0] == 58.123456789012345678 &&
             config.setup.phi == 3.5 && s->stage_count == 2 && s->stages[0].blur == 2 &&
             strcmp(s->stages[1].name, "second, with a name") == 0 && s->parameter_count == 5 &&
             s->parameters[0].prior[1] == 0.2 && s->panel_groups.count == 2 &&
             strstr(config.hkl_file, "long/F.mtz") != NULL &&
             strcmp(config.hkl_space_group, "P 41 21 2") == 0;
    return status;
}

static void reading_a_configuration(void **state) {
    (void)state;
    scratch_file("fit.yaml", yaml);
    at_every_allocation(read_configuration, 500, 4000);
}

static const char *list_name;
static db_status read_shots(int *right) {
    static db_fit_config config;
    db_fit_shot_list *list;
    db_fit_config_init(&config);
    snprintf(config.shot_list, sizeof config.shot_list, "%s", scratch_path(list_name));
    const db_status status = db_fit_shot_list_read(context, &config, NULL, 0, &list);
    reached = stop_failing_allocations(NULL);
    *right = 0;
    if (status != DB_OK) {
        assert_null(list);
        return status;
    }
    const db_fit_shot_source source = db_fit_shot_list_source(list);
    *right = source.count == 3 && strstr(source.name(source.user, 0), "image_0001.cbf") &&
             strstr(source.name(source.user, 2), "image_0003.cbf");
    db_fit_shot_list_destroy(&list);
    return status;
}

static void reading_a_list_of_shots(void **state) {
    (void)state;
    scratch_file("shots.txt", "a_folder/image_0001.cbf model.phi=3 model.matrix=a.mat\n"
                              "a_folder/image_0002.cbf model.cells=[3, 4, 5]\nimage_0003.cbf\n");
    list_name = "shots.txt";
    at_every_allocation(read_shots, 10, 4000);
}

static void reading_an_experiment_list_as_shots(void **state) {
    (void)state;
    scratch_file(
        "shots.expt",
        "{\"__id__\": \"ExperimentList\", \"experiment\": [{\"imageset\": 0, \"scan\": 0}, "
        "{\"imageset\": 0, \"scan\": 1}, {\"imageset\": 1}],\n"
        "\"scan\": [{\"image_range\": [1, 1]}, {\"image_range\": [2, 2]}],\n"
        "\"imageset\": [{\"template\": \"/a/folder/with/a/long/name/image_####.cbf\"}, "
        "{\"images\": [\"/a/folder/with/a/long/name/and/more/image_0003.cbf\"]}]}\n");
    list_name = "shots.expt";
    at_every_allocation(read_shots, 60, 4000);
}

static synthetic made;
static char *whole; /* the right content of the file that a trial writes, but for the date */

/* 1 if the file is whole, or not there in spite of an error. */
static int is_whole(const char *path, db_status status) {
    char *const text = read_whole_file(path);
    if (!text) return status != DB_OK;
    char *const date = strstr(text, "\"date\"");
    if (date) memset(date, ' ', strcspn(date, "\n"));
    if (!whole) whole = strdup(text);
    const int same = strcmp(text, whole) == 0;
    free(text);
    unlink(path);
    return same;
}

static db_status write_json(int *right) {
    const char *const path = scratch_path("out.json");
    const db_status status = db_fit_write_json(context, path, &made.config, &made.result);
    reached = stop_failing_allocations(NULL);
    *right = is_whole(path, status);
    if (!*right) fail_msg("part of a file, or none");
    return status;
}

static db_status write_yaml(int *right) {
    const char *const path = scratch_path("out.yaml");
    const db_status status = db_fit_write_yaml(context, path, &made.config, &made.result);
    reached = stop_failing_allocations(NULL);
    *right = is_whole(path, status);
    if (!*right) fail_msg("part of a file, or none");
    return status;
}

static void writing(trial *attempt, long least) {
    assert_int_equal(synthetic_make(context, &made), DB_OK);
    snprintf(made.config.image_file, sizeof made.config.image_file, "%s",
             scratch_file("image.cbf", "not looked at"));
    whole = NULL;
    at_every_allocation(attempt, least, 5000);
    free(whole);
    synthetic_clear(&made);
}

static void writing_results_as_json(void **state) {
    (void)state;
    writing(write_json, 3000);
}

static void writing_a_refined_configuration(void **state) {
    (void)state;
    writing(write_yaml, 5);
}

static int set_up(void **state) {
    (void)state;
    return db_context_create(&context) != DB_OK;
}

static int tear_down(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_a_configuration),
        cmocka_unit_test(reading_a_list_of_shots),
        cmocka_unit_test(reading_an_experiment_list_as_shots),
        cmocka_unit_test(writing_results_as_json),
        cmocka_unit_test(writing_a_refined_configuration),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
