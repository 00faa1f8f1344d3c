/* Files are told by their content, and readers say what they found instead. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/expert/mosflm_matrix.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/file_kind.h>

#include <stdlib.h>
#include <string.h>

#define BYTES(text) text, sizeof(text) - 1

static const struct {
    const char *label;
    unsigned holds;
    const char *bytes;
    size_t size;
} files[] = {
    { "SMV", DB_HOLDS_IMAGES, BYTES("{\nHEADER_BYTES=512;\n") },
    { "CBF", DB_HOLDS_IMAGES | DB_HOLDS_GEOMETRY, BYTES("###CBF: VERSION 1.5\r\n\r\ndata_x\r\n") },
    { "HDF5", DB_HOLDS_IMAGES | DB_HOLDS_GEOMETRY, BYTES("\x89HDF\r\n\x1a\n0000") },
    { ".expt", DB_HOLDS_GEOMETRY | DB_HOLDS_CRYSTALS,
      BYTES("{\n  \"__id__\": \"ExperimentList\",\n") },
    { ".refl", DB_HOLDS_SPOTS,
      BYTES("\x93\xbb"
            "dials::af::reflection_table\x01\x83") },
    { "MTZ", DB_HOLDS_AMPLITUDES, BYTES("MTZ \x01\0\0\0DA\0\0") },
    { "mmCIF", DB_HOLDS_AMPLITUDES, BYTES("# of a data bank\n\ndata_4bs7\nloop_\n") },
    { "PDB", DB_HOLDS_AMPLITUDES, BYTES("HEADER    HYDROLASE\n") },
    { "Fdump", DB_HOLDS_AMPLITUDES, BYTES("-1 1 -2 2 -3 3\n\f\0\0") },
    { "matrix", DB_HOLDS_CRYSTALS, BYTES(" 0.01 0 0\n0 0.02 0\n0 0 -0.03\n  0.0 0.0 0.0\n") },
    { "h k l F", DB_HOLDS_AMPLITUDES, BYTES("# h k l F\n1 -2 3 45.5\n") },
    { "h k l F", DB_HOLDS_AMPLITUDES, BYTES("  -1 -10 -12-9999.99 1000.00   1\n") },
    { "columns", DB_HOLDS_SPOTS, BYTES("# fast slow\n10.5 20.5\n") },
    { "compressed", 0, BYTES("\x1f\x8b\x08\0\0") },
    { "picture", 0, BYTES("\x89PNG\r\n\x1a\n") },
    { "pickle", 0, BYTES("\x80\x04\x95") },
    { "JSON", 0, BYTES("{ \"a\": 1 }") },
    { "", 0, BYTES("shots:\n  list: a\n") },
    { "", 0, BYTES("") },
};

static void content_tells_the_format_whatever_the_name(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        db_file_kind kind;
        const char *const path = folder_file("wrong.mtz", files[i].bytes, files[i].size);
        expect_ok(test_context(), db_recognize_file(test_context(), path, &kind));
        assert_string_equal(kind.label, files[i].label);
        assert_int_equal(kind.holds, files[i].holds);
    }
}

static void other_formats_are_named(void **state) {
    (void)state;
    db_measured_image image;
    db_structure_factors factors = { 0 };
    double matrix[9];
    db_context *const c = test_context();
    const char *path = folder_file("a.cbf", files[5].bytes, files[5].size);
    expect_failure(c, DB_ERROR_INPUT, db_read_image(c, path, &image),
                   "expected an image (SMV, CBF, ");
    expect_failure(c, DB_ERROR_INPUT, db_read_image(c, path, &image), "found an MTZ file");
    path = folder_text("b.mat", "data_model\n");
    expect_failure(c, DB_ERROR_INPUT, db_read_mosflm_matrix(c, path, matrix), "found a CIF file");
    path = folder_file("c.hkl", files[1].bytes, files[1].size);
    expect_failure(c, DB_ERROR_INPUT, db_read_structure_factors(c, path, NULL, &factors, NULL, 0),
                   "found a CBF image");
    path = folder_file("d.cbf", BYTES("\x89PNG\r\n\x1a\n"));
    expect_failure(c, DB_ERROR_INPUT, db_read_image(c, path, &image),
                   "a picture (PNG, JPEG or GIF), which is not read");
    path = folder_file("e.img", BYTES("\x01\x02"));
    expect_failure(c, DB_ERROR_INPUT, db_read_image(c, path, &image),
                   "found 2 bytes that begin with 01 02");
    path = folder_file("f.img", "", 0);
    expect_failure(c, DB_ERROR_INPUT, db_read_image(c, path, &image),
                   "f.img: the file is empty; expected an image (SMV, ");
}

static void lists_and_experiments_are_told_apart(void **state) {
    (void)state;
    db_context *const c = test_context();
    const db_expt_selection first = { .number = 0 };
    db_experiment experiment;
    db_expt_content content;
    expect_ok(c, db_experiment_init(c, &experiment));
    const char *path = folder_text("f.expt", " 0.01 0 0\n0 0.02 0\n0 0 -0.03\n");
    expect_failure(c, DB_ERROR_INPUT, db_read_expt(c, path, &first, &experiment, &content),
                   "expected JSON");
    path = folder_text("g.expt", "CRYST1 78 78 37 90 90 90\n");
    expect_failure(c, DB_ERROR_INPUT, db_read_expt(c, path, &first, &experiment, &content),
                   "found coordinates (PDB)");
    db_experiment_clear(&experiment);
}

/* What was written with -dumpfile is read as amplitudes, too. */
static void caches_are_read_as_amplitudes(void **state) {
    (void)state;
    db_context *const c = test_context();
    db_structure_factors list = { 0 }, cache = { 0 };
    const char *const path = folder_path("cache");
    expect_ok(c, db_read_hkl(c, folder_text("list", "1 2 3 4.5\n-1 0 1 2\n"), &list));
    expect_ok(c, db_write_structure_factor_cache(c, path, &list));
    expect_ok(c, db_read_structure_factors(c, path, NULL, &cache, NULL, 0));
    assert_memory_equal(cache.extent, list.extent, sizeof list.extent);
    const size_t count = (size_t)list.extent[0] * (size_t)list.extent[1] * (size_t)list.extent[2];
    assert_memory_equal(cache.amplitude, list.amplitude, count * sizeof *list.amplitude);
    free(list.amplitude);
    free(cache.amplitude);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_tells_the_format_whatever_the_name),
        cmocka_unit_test(other_formats_are_named),
        cmocka_unit_test(lists_and_experiments_are_told_apart),
        cmocka_unit_test(caches_are_read_as_amplitudes),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
