/* Files that once were, or could have been, trouble: every reader must survive every one of them.
 */
#define _POSIX_C_SOURCE 200809L
#include "support/unit_test.h"
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a file, to be freed. */
static uint8_t *load(const char *path, size_t *size) {
    enum { LARGEST = 1 << 20 };
    FILE *const file = fopen(path, "rb");
    uint8_t *const bytes = malloc(LARGEST);
    if (!file || !bytes) fail_msg("cannot read %s", path);
    *size = file && bytes ? fread(bytes, 1, LARGEST, file) : 0;
    assert_true(*size < LARGEST);
    if (file) fclose(file);
    return bytes;
}

static void every_reader_survives_every_file(void **state) {
    (void)state;
    char folder[4000];
    const char *source = getenv("SOURCE_DIR"), *slash = strrchr(__FILE__, '/');
    if (source)
        snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus", source);
    else
        snprintf(folder, sizeof folder, "%.*s/corpus", slash ? (int)(slash - __FILE__) : 1,
                 slash ? __FILE__ : ".");
    DIR *directory = opendir(folder);
    if (!directory) fail_msg("no folder %s", folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.') continue;
        char path[4300];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        size_t size;
        uint8_t *const bytes = load(path, &size);
        LLVMFuzzerTestOneInput(bytes, size);
        free(bytes);
        count++;
    }
    closedir(directory);
    print_message("%d files\n", count);
    assert_true(count > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_reader_survives_every_file) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
