/* Reflection tables of DIALS as lists of reflections and spots. table.refl was written by
 * DIALS 3.12 (five rows, two experiments); the others are that one, damaged. table_hdf5.refl is the
 * same in the layout of DIALS 3.23 (written by h5py); table_hdf5_two.refl has a table for each
 * experiment, with columns in compressed chunks, of other types and byte orders. */

#include "support/unit_test.h"
#include "fit/scratch_file.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/fit.h>
#include <dualbragg/reflections.h>
#include <dualbragg/expert/fit_steps.h>
#include <dualbragg/expert/reflection_tables.h>
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

static void lists_indexed_reflections(const char *name) {
    read_as(name, 0, 0);
    assert_int_equal(spots.count, 2);
    const int first[3] = { -4, 5, -6 }, second[3] = { 1, 2, 3 }; /* ordered */
    assert_memory_equal(spots.spot[0].hkl, first, sizeof first);
    assert_memory_equal(spots.spot[1].hkl, second, sizeof second);
    db_fit_spots_clear(&spots);
    read_as(name, 0, 1); /* one is not indexed */
    assert_int_equal(spots.count, 1);
    assert_int_equal(spots.spot[0].hkl[2], 9);
    db_fit_spots_clear(&spots);
}

static void lists_observed_spots(const char *name) {
    read_as(name, 1, 1);
    assert_int_equal(spots.count, 2);
    assert_true(spots.spot[0].position[0] == 30 && spots.spot[0].position[1] == 40);
    assert_true(spots.spot[1].position[0] == 1.5 && spots.spot[1].position[1] == 2.5);
    assert_int_equal(spots.spot[1].panel, 2);
    db_fit_spots_clear(&spots);
}

static void lists_shoeboxes(const char *name) {
    read_as(name, DB_FIT_LISTED_BY_BOX, 0);
    assert_int_equal(spots.count, 2);
    const int box[4] = { 0, 0, 2, 2 }, hkl[3] = { -4, 5, -6 }; /* ends are exclusive there */
    assert_memory_equal(spots.spot[1].box, box, sizeof box);
    assert_memory_equal(spots.spot[1].hkl, hkl, sizeof hkl);
    assert_int_equal(spots.spot[1].panel, 1);
    db_fit_spots_clear(&spots);
}

static void lists_all(const char *name) {
    lists_indexed_reflections(name);
    lists_observed_spots(name);
    lists_shoeboxes(name);
}

static void tables_are_read_as_msgpack(void **state) {
    (void)state;
    lists_all("table.refl");
}

static int has_hdf5(void) { return strstr(db_features(), "HDF5") != NULL; }

static void tables_are_read_as_hdf5(void **state) {
    (void)state;
    if (!has_hdf5()) {
        refused(DB_ERROR_UNSUPPORTED, "table_hdf5.refl", 0, 0, "libhdf5-dev");
        return;
    }
    lists_all("table_hdf5.refl");
    lists_all("table_hdf5_two.refl");
    refused(DB_ERROR_INPUT, "table_hdf5_cut.refl", 0, 0, "expected an HDF5 file, found a damaged");
    refused(DB_ERROR_INPUT, "hdf5_old.h5", 0, 0, "an HDF5 file without a group /dials");
    refused(DB_ERROR_INPUT, "table_hdf5_rows.refl", 0, 0,
            "panel: 4 rows, but other columns have 5");
    refused(DB_ERROR_INPUT, "table_hdf5_lies.refl", 0, 0, "its values are not in the file");
    refused(DB_ERROR_INPUT, "table_hdf5_shape.refl", 0, 0, "a list of rows with 3 numbers each");
    refused(DB_ERROR_INPUT, "table_hdf5_float.refl", 1, 0, "panel: expected numbers from 0");
    refused(DB_ERROR_INPUT, "table_hdf5_no_ids.refl", 0, 0, "experiment_ids and identifiers");
    refused(DB_ERROR_INPUT, "table_hdf5_empty.refl", 0, 0, "a reflection table, found none");
}

/* What was written is read again, with the identifiers of its experiments. */
static void tables_are_written_in_both_forms(void **state) {
    (void)state;
    const int hkl[2][3] = { { 1, -2, 3 }, { 4, 5, -6 } }, id[2] = { 0, 7 };
    const double position[2][3] = { { 1.5, 2.5, 0.5 }, { 3.25, -1, 0.5 } };
    const uint64_t panel[2] = { 3, 0 };
    const unsigned char truth[2] = { 1, 0 };
    const db_table_column columns[] = {
        { "miller_index", "cctbx::miller::index<>", 12, hkl },
        { "xyzobs.px.value", "vec3<double>", 24, position },
        { "panel", "std::size_t", 8, panel },
        { "id", "int", 4, id },
        { "entering", "bool", 1, truth },
    };
    const db_table_identifier identifiers[] = { { 0, "first" }, { 7, "\xc3\xa4" } };
    const db_table_content content = { 2, 5, columns, 2, identifiers };
    for (int form = 0; form < 2; form++) {
        db_reflection_table back;
        char bytes[16];
        const char *const path = scratch_path(form ? "hdf5.refl" : "msgpack.refl");
        const db_status status =
            db_reflection_table_write(context, path, (db_table_form)form, &content);
        if (form && !has_hdf5()) {
            assert_int_equal(status, DB_ERROR_UNSUPPORTED);
            continue;
        }
        assert_int_equal(status, DB_OK);
        FILE *const file = fopen(path, "rb");
        static char all[1 << 16];
        const size_t size = fread(all, 1, sizeof all, file);
        fclose(file);
        memcpy(bytes, all, sizeof bytes);
        assert_int_equal(db_is_reflection_table(bytes, sizeof bytes), form);
        assert_int_equal(db_is_reflection_table(all, size), 1);
        if (db_reflection_table_read(context, path, all, size, &back) != DB_OK)
            fail_msg("%s", db_context_message(context));
        assert_int_equal(back.count, 2);
        assert_memory_equal(back.hkl, hkl, sizeof hkl);
        assert_memory_equal(back.position, position, sizeof position);
        assert_memory_equal(back.experiment, id, sizeof id);
        assert_true(back.panel[0] == 3 && back.panel[1] == 0 && !back.box);
        assert_int_equal(back.identifier_count, 2);
        assert_string_equal(back.identifier[1].text, "\xc3\xa4");
        assert_int_equal(db_reflection_table_number(&back, 3, "\xc3\xa4"), 7);
        assert_int_equal(db_reflection_table_number(&back, 3, "other"), 3);
        assert_int_equal(db_reflection_table_number(&back, 3, ""), 3);
        db_reflection_table_clear(&back);
    }
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

/* Gives the only experiment of a list an identifier. */
static void name_experiment(const char *list, const char *identifier) {
    static const char key[] = "\"identifier\": \"";
    static char text[1 << 16], named[1 << 16];
    FILE *file = fopen(scratch_path(list), "rb");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *const experiment = strstr(text, "\"Experiment\"");
    char *const at = experiment ? strstr(experiment, key) : NULL;
    assert_non_null(at);
    const size_t before = (size_t)(at - text) + sizeof key - 1;
    snprintf(named, sizeof named, "%.*s%s%s", (int)before, text, identifier, text + before);
    file = fopen(scratch_path(list), "wb");
    fputs(named, file);
    fclose(file);
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
    name_experiment("one.expt", "b"); /* it has another number in the table */
    if (db_fit_config_read_spots(context, &config, &spots) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_int_equal(spots.count, 1);
    assert_int_equal(spots.spot[0].hkl[2], 9);
    db_fit_spots_clear(&spots);
    config.reflection_file[0] = '\0';
    assert_int_equal(db_fit_config_read_spots(context, &config, &spots), DB_OK);
    assert_int_equal(spots.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read_as_msgpack),
        cmocka_unit_test(tables_are_read_as_hdf5),
        cmocka_unit_test(tables_are_written_in_both_forms),
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
