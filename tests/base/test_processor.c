/* Instruction sets of this processor, against the list that the kernel of Linux makes of them. */
#include "support/unit_test.h"
#include "base/processor.h"

#include <stdio.h>
#include <string.h>

static char listed[8000]; /* the first processor's flags, a space around each */

static int read_list(void **state) {
    char line[sizeof listed];
    FILE *const file = fopen("/proc/cpuinfo", "r");
    (void)state;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "flags", 5)) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(listed, sizeof listed, "%.*s ", (int)sizeof listed - 2, strchr(line, ':') + 1);
            break;
        }
    if (file) fclose(file);
    return 0;
}

static int all_listed(const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, " %s ", names[i]);
        if (!strstr(listed, name)) return 0;
    }
    return 1;
}

static void sets_are_those_that_linux_lists(void **state) {
    static const char *const avx2[] = { "avx", "avx2", "fma" };
    static const char *const avx512[] = { "avx",      "avx2",     "fma",      "avx512f",
                                          "avx512dq", "avx512vl", "avx512bw", "avx512cd" };
    (void)state;
    if (!*listed) skip();
    assert_int_equal(db_processor_has_avx2(), all_listed(avx2, 3));
    assert_int_equal(db_processor_has_avx512(), all_listed(avx512, 8));
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(sets_are_those_that_linux_lists) };
    return cmocka_run_group_tests(tests, read_list, NULL);
}
