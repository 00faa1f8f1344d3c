/* Results of many shots when memory runs out while they are written: at every allocation in turn.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/unit_test.h"
#include "fit/scratch_file.h"
#include "fit/synthetic_result.h"
#include "support/every_allocation.h"

#include <dualbragg/fit_shots.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/fit_files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOTS = 3 };

static db_context *context;
static synthetic made;
static db_fit_shots_result result;
static char *whole; /* the right content of the file that a trial writes, but for the date */

/* 1 if the file is whole, or not there in spite of an error. */
static int is_whole(const char *path, db_status status) {
    char *const text = read_whole_file(path);
    if (!text) return status != DB_OK;
    char *const date = strstr(text, "\"date\"");
    if (date) memset(date, ' ', strcspn(date, "\n"));
    if (!whole) whole = strdup(text);
    const int same = whole && strcmp(text, whole) == 0;
    free(text);
    unlink(path);
    return same;
}

static db_status write_json(db_context *own, int *right) {
    const char *const path = scratch_path("shots.json");
    const db_status status = db_fit_write_json(own, path, &made.config, &result);
    allocations_end();
    *right = is_whole(path, status);
    return status;
}

static db_status write_list(db_context *own, int *right) {
    const char *const path = scratch_path("shots.expt");
    const db_status status = db_fit_shots_write_expt(own, path, scratch_path("."), &result);
    allocations_end();
    *right = is_whole(path, status);
    return status;
}

static void results_as_json(void **state) {
    (void)state;
    at_every_allocation(context, write_json, 300);
}

/* The lists of single shots are read meanwhile. */
static void the_list_of_all_shots(void **state) {
    (void)state;
    for (size_t s = 0; s < SHOTS; s++) {
        char name[DB_FIT_PATH_SIZE], file[DB_FIT_PATH_SIZE + 8];
        const db_expt_image image = { .path = result.shot[s].name, .gain = 1 };
        db_fit_shots_model_name(&result, s, name);
        snprintf(file, sizeof file, "%s.expt", name);
        if (db_write_expt(context, scratch_path(file), &made.result.experiment, &image) != DB_OK)
            fail_msg("%s", db_context_message(context));
    }
    at_every_allocation(context, write_list, 600);
}

static int set_up(void **state) {
    (void)state;
    static db_fit_result shots[SHOTS];
    static const char *const names[SHOTS] = { "/d/a_0001.cbf", "/d/a_0002.cbf", "/d/b_0001.cbf" };
    if (db_context_create(&context) != DB_OK || synthetic_make(context, &made) != DB_OK) return -1;
    for (size_t s = 0; s < SHOTS; s++) {
        shots[s].name = names[s];
        shots[s].used = 1;
    }
    result.shot_count = result.used = SHOTS;
    result.shot = shots;
    return 0;
}

static int forget_content(void **state) {
    (void)state;
    free(whole);
    whole = NULL;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    synthetic_clear(&made);
    db_context_destroy(&context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(results_as_json, forget_content),
        cmocka_unit_test_teardown(the_list_of_all_shots, forget_content),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
