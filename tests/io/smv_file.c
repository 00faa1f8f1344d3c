#include "smv_file.h"
#include "support/expect.h"
#include "files_for_tests.h"

#include <stdlib.h>

const char *smv_file(const char *name, const char *keys, const void *pixels, size_t pixel_bytes) {
    enum { HEADER = 512 };
    char *bytes = malloc(HEADER + pixel_bytes + 1);
    assert_non_null(bytes);
    const int length = snprintf(bytes, HEADER, "{\nHEADER_BYTES=  512;\n%s}\n\f", keys);
    assert_true(length < HEADER);
    memset(bytes + length, ' ', (size_t)(HEADER - length));
    memcpy(bytes + HEADER, pixels, pixel_bytes);
    const char *path = folder_file(name, bytes, HEADER + pixel_bytes);
    free(bytes);
    return path;
}

const char *smv_value(const char *text, const char *key) {
    static char value[200];
    char pattern[80];
    snprintf(pattern, sizeof pattern, "\n%s=", key);
    const char *start = strstr(text, pattern);
    if (!start) fail_msg("no key %s", key);
    start += strlen(pattern);
    if (strstr(start, pattern)) fail_msg("key %s is there twice", key);
    const size_t length = strcspn(start, "\n");
    assert_true(length > 0 && length < sizeof value && start[length - 1] == ';');
    memcpy(value, start, length - 1);
    value[length - 1] = '\0';
    return value;
}

double smv_number(const char *text, const char *key) {
    char *end;
    const double number = strtod(smv_value(text, key), &end);
    assert_true(*end == '\0');
    return number;
}
