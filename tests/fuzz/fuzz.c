#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fuzz_require(int condition, const char *what, const char *detail) {
    if (condition) return;
    fprintf(stderr, "broken promise: %s: %s\n", what, detail);
    abort();
}

int fuzz_is_ok(const db_context *context, const char *path, db_status status, const char *reader) {
    if (status == DB_OK) return 1;
    fuzz_require(strstr(db_context_message(context), path) != NULL || status == DB_ERROR_MEMORY,
                 reader, db_context_message(context));
    return 0;
}

static int run(const fuzz_reader *readers, const char *wanted, db_context *context,
               const char *path) {
    int count = 0;
    for (; readers->name; readers++) {
        if (wanted && strcmp(wanted, readers->name) != 0) continue;
        readers->read(context, path);
        count++;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static db_context *context;
    static char path[64];
    if (!context) {
        fuzz_require(db_context_create(&context) == DB_OK, "context", "not created");
        snprintf(path, sizeof path, "fuzz-input-%ld", (long)getpid());
    }
    FILE *file = fopen(path, "wb");
    fuzz_require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "input file",
                 path);
    const char *const wanted = getenv("FUZZ_READER");
    const int count = run(fuzz_file_readers, wanted, context, path) +
                      run(fuzz_fit_readers, wanted, context, path);
    fuzz_require(count > 0, "FUZZ_READER: no such reader", wanted ? wanted : "");
    unlink(path);
    return 0;
}
