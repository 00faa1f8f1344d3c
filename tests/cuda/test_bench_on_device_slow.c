#define _POSIX_C_SOURCE 200809L
/* The benchmark of refinements on a device tells all that it is asked for, and no device for what is none. */
#include "support/unit_test.h"
#include "machine.h"

#if defined(DB_HAVE_FIT)
/* clang-format off */
#include "bench/fit/scene.c"
#include "bench/fit/parts.c"
#include "bench/fit/place.c"
#include "bench/fit/box_calls.c"
#include "bench/fit/shot_threads.c"
#include "bench/fit/devices.c"
/* clang-format on */

/* Rows of all tables that begin so, of which no column is a number that is none. */
static int rows(FILE *out, const char *begin) {
    char line[2048];
    int count = 0;
    rewind(out);
    while (fgets(line, sizeof line, out)) {
        if (strncmp(line, begin, strlen(begin)) != 0) continue;
        if (strstr(line, "nan") || strstr(line, "inf")) fail_msg("%s", line);
        count++;
    }
    return count;
}

static void tables_are_complete(void **state) {
    const db_bench_work work = {
        .device = "cuda", .repeats = 1, .pixels = 600, .boxes = 24, .shots = 2
    };
    FILE *const out = tmpfile();
    (void)state;
    assert_non_null(out);
    machine_reset();
    assert_int_equal(db_bench_devices(&work, out), 0);
    assert_true(stand_in.launches > 0);
    /* refinement and calls of the still in three places */
    assert_int_equal(rows(out, "| spots in closed form |"), 6);
    assert_int_equal(rows(out, "| spots in closed form | 24 | cuda:0"), 1);
    assert_int_equal(rows(out, "| spots in closed form | cuda:0"), 1);
    assert_int_equal(rows(out, "| cpu | 1 | 2 of 2 |"), 1);
    assert_int_equal(rows(out, "| cuda | 1 | 2 of 2 |"), 1);
    (void)fclose(out);
}

static void no_device_is_told(void **state) {
    const db_bench_work work = {
        .device = "cuda:7", .repeats = 1, .pixels = 600, .boxes = 24, .shots = 2
    };
    FILE *const out = tmpfile();
    (void)state;
    assert_non_null(out);
    machine_reset();
    assert_int_equal(db_bench_devices(&work, out), db_status_exit_code(DB_ERROR_DEVICE));
    assert_int_equal(ftell(out), 0);
    (void)fclose(out);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_device_is_told),
                                        cmocka_unit_test(tables_are_complete) };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    printf("skipped: no refinement\n");
    return SKIPPED;
}
#endif
