/* A measured still of an X-ray laser without an orientation: the experiment list beside it is of
 * another shot of the same sample. Its cell and detector suffice to find the orientation and to
 * refine. Skips where the data are not. */
#define _POSIX_C_SOURCE 200809L

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/scratch_file.h"

#include <dualbragg/fit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *in_folder(const char *name, char path[512]) {
    const char *const shared = getenv("SHARED_DIR");
    snprintf(path, 512, "%s/realdata/rayonix/%s", shared ? shared : "../shared", name);
    return path;
}

static char notice[256];

static void keep_notice(void *user, const char *line) {
    (void)user;
    if (strstr(line, "orientation found")) snprintf(notice, sizeof notice, "%s", line);
}

static void the_orientation_is_found_and_refined(void **state) {
    (void)state;
    static db_fit_config config;
    char image_path[512], list[512], text[2048];
    db_context *context;
    db_measured_image image;
    db_experiment start;
    db_fit_result *r = NULL;
    assert_int_equal(db_context_create(&context), DB_OK);
    snprintf(text, sizeof text,
             "image: %s\nmodel: {expt: %s, expt_number: 0, Ncells: [30, 20, 15], find_orientation: "
             "yes, symmetry: P 21 21 21}\nrefine: {misset_x: {}, misset_y: {}, misset_z: {}, "
             "cell_a: {range: 1}, cell_b: {range: 1.5}, cell_c: {range: 2}, Na: {}, Nb: {}, Nc: "
             "{}}\n",
             in_folder("hit-20181213155134902.cbf", image_path),
             in_folder("experiments_000.json", list));
    if (db_fit_config_read(context, scratch_file("shot.yaml", text), NULL, 0, &config) != DB_OK ||
        db_fit_config_read_image(context, &config, &image, NULL, NULL) != DB_OK ||
        db_fit_config_start(context, &config, &image, &start, keep_notice, NULL) != DB_OK ||
        fit_still(context, &start, &image, &config.settings, NULL, NULL, &r) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_non_null(r);
    const double *const cell = r->experiment.crystal.cell;
    print_message("%s; chi2/dof %.2f -> %.2f, correlation %.3f -> %.3f, strong pixels explained "
                  "%.1f -> %.1f %%, a %.2f b %.2f c %.2f\n",
                  notice, r->before.chi2_reduced, r->after.chi2_reduced, r->before.correlation,
                  r->after.correlation, 100 * r->before.strong_explained,
                  100 * r->after.strong_explained, cell[0], cell[1], cell[2]);
    assert_true(notice[0]);
    assert_true(r->after.chi2_reduced < 0.8 * r->before.chi2_reduced);
    assert_true(r->after.correlation > r->before.correlation + 0.1);
    assert_true(r->after.strong_explained > 0.2);
    /* the other shot's cell: 41.85, 76.04, 102.02; stills of one sample agree to 1 % */
    assert_true(fabs(cell[0] / 41.848 - 1) < 0.01);
    assert_true(fabs(cell[1] / 76.037 - 1) < 0.01);
    assert_true(fabs(cell[2] / 102.024 - 1) < 0.01);
    fit_still_destroy(&r);
    db_measured_image_clear(&image);
    db_experiment_clear(&start);
    db_context_destroy(&context);
}

int main(void) {
    enum { SKIPPED = 77 };
    char path[512];
    if (access(in_folder("hit-20181213155134902.cbf", path), R_OK) != 0) {
        printf("%s is not there\n", path);
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_orientation_is_found_and_refined) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
