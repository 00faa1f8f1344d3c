/* Reflection tables of DIALS as lists of reflections and spots. table.refl was written by
 * DIALS 3.12 (five rows, two experiments); the others are that one, damaged. */

#include "support/unit_test.h"
#include "fit/scratch_file.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/fit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static db_fit_spots spots;

static const char *table(const char *name) {
    static char path[4200];
    const char *const source = getenv("SOURCE_DIR"), *const slash = strrchr(__FILE__, '/');
    if (source)
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", source, name);
    else
        snprintf(path, sizeof path, "%.*s/../fuzz/corpus/%s", (int)(slash - __FILE__), __FILE__,
                 name);
    return path;
}

static void read_as(const char *name, db_fit_listing listing, int experiment) {
    if (db_fit_spots_read(context, table(name), listing, experiment, &spots) != DB_OK)
        fail_msg("%s", db_context_message(context));
}

static void refused(db_status status, const char *name, db_fit_listing listing, int experiment,
                    const char *words) {
    const db_status found = db_fit_spots_read(context, table(name), listing, experiment, &spots);
    if (found != status || !strstr(db_context_message(context), words) ||
        !strstr(db_context_message(context), name))
        fail_msg("%s: status %d, '%s' instead of '%s'", name, (int)found,
                 found == DB_OK ? "" : db_context_message(context), words);
    assert_true(spots.count == 0 && !spots.spot);
}

static void indexed_reflections_of_an_experiment_are_listed(void **state) {
    (void)state;
    read_as("table.refl", 0, 0);
    assert_int_equal(spots.count, 2);
    const int first[3] = { -4, 5, -6 }, second[3] = { 1, 2, 3 }; /* ordered */
    assert_memory_equal(spots.spot[0].hkl, first, sizeof first);
    assert_memory_equal(spots.spot[1].hkl, second, sizeof second);
    db_fit_spots_clear(&spots);
    read_as("table.refl", 0, 1); /* one is not indexed */
    assert_int_equal(spots.count, 1);
    assert_int_equal(spots.spot[0].hkl[2], 9);
    db_fit_spots_clear(&spots);
}

static void observed_spots_of_an_experiment_are_listed(void **state) {
    (void)state;
    read_as("table.refl", 1, 1);
    assert_int_equal(spots.count, 2);
    assert_true(spots.spot[0].position[0] == 30 && spots.spot[0].position[1] == 40);
    assert_true(spots.spot[1].position[0] == 1.5 && spots.spot[1].position[1] == 2.5);
    assert_int_equal(spots.spot[1].panel, 2);
    db_fit_spots_clear(&spots);
}

static void shoeboxes_of_an_experiment_are_listed(void **state) {
    (void)state;
    read_as("table.refl", DB_FIT_LISTED_BY_BOX, 0);
    assert_int_equal(spots.count, 2);
    const int box[4] = { 0, 0, 2, 2 }, hkl[3] = { -4, 5, -6 }; /* ends are exclusive there */
    assert_memory_equal(spots.spot[1].box, box, sizeof box);
    assert_memory_equal(spots.spot[1].hkl, hkl, sizeof hkl);
    assert_int_equal(spots.spot[1].panel, 1);
    db_fit_spots_clear(&spots);
}

static void tables_that_do_not_fit_are_refused(void **state) {
    (void)state;
    refused(DB_ERROR_INPUT, "table.refl", 0, -1, "reflections of experiments 0 to 1");
    refused(DB_ERROR_INPUT, "table.refl", 0, 7, "reflections of experiment 7, found none");
    refused(DB_ERROR_INPUT, "table_cut.refl", 0, 0, "ends in the middle");
    refused(DB_ERROR_UNSUPPORTED, "table_version.refl", 0, 0, "version 3, expected 1 or 2");
    refused(DB_ERROR_INPUT, "table_rows.refl", 0, 0,
            "column miller_index: expected 6 rows of 12 bytes, found 5 rows and 60 bytes");
    refused(DB_ERROR_INPUT, "table_rows_negative.refl", 0, 0, "a number nrows");
    refused(DB_ERROR_INPUT, "table_type.refl", 1, 0,
            "column panel: expected std::size_t, found 'std::size_x'");
    refused(DB_ERROR_INPUT, "table_no_map.refl", 0, 0, "a name, a version and a map");
    refused(DB_ERROR_INPUT, "table_deep.refl", 0, 0, "");
    refused(DB_ERROR_INPUT, "table_huge_map.refl", 0, 0, "");
    refused(DB_ERROR_INPUT, "table_bytes_missing.refl", 0, 0, "");
    refused(DB_ERROR_INPUT, "table_column_text.refl", 0, 0, "a number of rows and their bytes");
    refused(DB_ERROR_INPUT, "table_no_columns.refl", 1, 0, "xyzobs.px.value and panel");
    refused(DB_ERROR_INPUT, "table_no_columns.refl", 0, 0, "miller_index");
    refused(DB_ERROR_INPUT, "table_no_columns.refl", 2, 0, "bbox and panel");
}

/* The configuration's experiment list says whose reflections count. */
static void a_configuration_reads_those_of_its_experiment(void **state) {
    (void)state;
    static db_fit_config config;
    db_experiment e;
    char text[4600];
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    for (int i = 0; i < 3; i++) e.crystal.cell[i] = 50;
    assert_int_equal(db_write_expt(context, scratch_path("one.expt"), &e, NULL), DB_OK);
    db_experiment_clear(&e);
    snprintf(text, sizeof text,
             "model: {expt: one.expt}\ndata: {reflections: %s}\nimage: none.img\n"
             "refine: {misset_x: }\n",
             table("table.refl"));
    if (db_fit_config_read(context, scratch_file("table.yaml", text), NULL, 0, &config) != DB_OK ||
        db_fit_config_read_spots(context, &config, &spots) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_int_equal(spots.count, 2);
    db_fit_spots_clear(&spots);
    config.reflection_file[0] = '\0';
    assert_int_equal(db_fit_config_read_spots(context, &config, &spots), DB_OK);
    assert_int_equal(spots.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexed_reflections_of_an_experiment_are_listed),
        cmocka_unit_test(observed_spots_of_an_experiment_are_listed),
        cmocka_unit_test(shoeboxes_of_an_experiment_are_listed),
        cmocka_unit_test(tables_that_do_not_fit_are_refused),
        cmocka_unit_test(a_configuration_reads_those_of_its_experiment),
    };
    if (!strstr(db_features(), "msgpack")) {
        puts("skipped: this build reads no reflection tables (msgpack)");
        return 77;
    }
    if (db_context_create(&context) != DB_OK) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    db_context_destroy(&context);
    return failed;
}
