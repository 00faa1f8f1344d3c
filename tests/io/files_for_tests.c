#define _XOPEN_SOURCE 700
#include "support/unit_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files_for_tests.h"

enum { PATH_SIZE = 4096 };
static char folder[10] = "io-";

int folder_setup(void **state) {
    (void)state;
    memset(folder + 3, 'X', 6); /* for mkdtemp to replace */
    return mkdtemp(folder) ? 0 : -1;
}

static int visit(int delete_files) {
    int count = 0;
    DIR *directory = opendir(folder);
    if (!directory) return -1;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        count++;
        const char *path = folder_path(entry->d_name);
        if (delete_files && unlink(path) != 0) rmdir(path);
    }
    closedir(directory);
    return count;
}

int folder_teardown(void **state) {
    (void)state;
    visit(1);
    return rmdir(folder);
}

int folder_count(void) { return visit(0); }

/* One of several static buffers, so that a call may use more than one path. */
static char *next_buffer(void) {
    static char buffers[8][PATH_SIZE];
    static int next;
    return buffers[next++ % 8];
}

const char *folder_path(const char *name) {
    char *path = next_buffer();
    assert_true(snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE);
    return path;
}

const char *folder_file(const char *name, const void *bytes, size_t size) {
    const char *path = folder_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *folder_text(const char *name, const char *text) {
    return folder_file(name, text, strlen(text));
}

char *load_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long length = ftell(file);
    assert_true(length >= 0);
    rewind(file);
    *size = (size_t)length;
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

const char *golden_path(const char *name) {
    char *path = next_buffer();
    const char *source = getenv("SOURCE_DIR"), *slash = strrchr(__FILE__, '/');
    if (source)
        snprintf(path, PATH_SIZE, "%s/tests/golden/data/%s", source, name);
    else /* started by hand: from the folder of this file */
        snprintf(path, PATH_SIZE, "%.*s/../golden/data/%s", slash ? (int)(slash - __FILE__) : 1,
                 slash ? __FILE__ : ".", name);
    if (access(path, R_OK) != 0) fail_msg("no file %s", path);
    return path;
}

const char *shared_path(const char *name) {
    char *path = next_buffer();
    const char *shared = getenv("SHARED_DIR");
    if (shared) {
        snprintf(path, PATH_SIZE, "%s/%s", shared, name);
    } else { /* three levels above the folder of this file */
        const char *slash = strrchr(__FILE__, '/');
        snprintf(path, PATH_SIZE, "%.*s/../../../shared/%s", slash ? (int)(slash - __FILE__) : 1,
                 slash ? __FILE__ : ".", name);
    }
    if (access(path, R_OK) != 0) {
        print_message("skipped: no reference file %s\n", path);
        skip();
    }
    return path;
}
