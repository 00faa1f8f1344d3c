/* Lists of shots and results when memory runs out: at every allocation in turn. */
#define _POSIX_C_SOURCE 200809L

#include "support/context.h"
#include "fit/scratch_file.h"
#include "fit/synthetic_result.h"
#include "support/every_allocation.h"

#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/fit_shots.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *list_name;
static db_status read_shots(db_context *own, int *right) {
    static db_fit_config config;
    db_fit_shot_list *list;
    db_fit_config_init(&config);
    snprintf(config.shot_list, sizeof config.shot_list, "%s", scratch_path(list_name));
    const db_status status = db_fit_shot_list_read(own, &config, NULL, 0, &list);
    allocations_end();
    *right = status != DB_OK && !list;
    if (status != DB_OK) return status;
    const db_fit_shot_source source = db_fit_shot_list_source(list);
    *right = source.count == 3 && strstr(source.name(source.user, 0), "image_0001.cbf") &&
             strstr(source.name(source.user, 2), "image_0003.cbf");
    db_fit_shot_list_destroy(&list);
    return status;
}

static void reading_a_list_of_shots(void **state) {
    (void)state;
    scratch_file("shots.txt", "a_folder/image_0001.cbf model.phi=3 model.matrix=a.mat\n"
                              "a_folder/image_0002.cbf model.Ncells=[3, 4, 5]\nimage_0003.cbf\n");
    list_name = "shots.txt";
    at_every_allocation(context, read_shots, 10);
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
    at_every_allocation(context, read_shots, 60);
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

static db_status write_json(db_context *own, int *right) {
    const char *const path = scratch_path("out.json");
    const db_status status = db_fit_write_json(own, path, &made.config, synthetic_list(&made));
    allocations_end();
    *right = is_whole(path, status);
    return status;
}

static db_status write_yaml(db_context *own, int *right) {
    const char *const path = scratch_path("out.yaml");
    const db_status status = db_fit_write_yaml(own, path, &made.config, &made.result);
    allocations_end();
    *right = is_whole(path, status);
    return status;
}

static void writing(trial *attempt, long least) {
    assert_int_equal(synthetic_make(context, &made), DB_OK);
    snprintf(made.config.image_file, sizeof made.config.image_file, "%s",
             scratch_file("image.cbf", "not looked at"));
    whole = NULL;
    at_every_allocation(context, attempt, least);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_a_list_of_shots),
        cmocka_unit_test(reading_an_experiment_list_as_shots),
        cmocka_unit_test(writing_results_as_json),
        cmocka_unit_test(writing_a_refined_configuration),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
