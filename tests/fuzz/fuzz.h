/* Every reader of files, on any bytes. */
#ifndef DB_TEST_FUZZ_H
#define DB_TEST_FUZZ_H

#include <dualbragg/context.h>

#include <stddef.h>
#include <stdint.h>

/* Writes the bytes to a file, hands it to every reader, or to the one that FUZZ_READER names, and
 * aborts if one breaks its promises (sanitizers watch the rest). With clang this is a fuzzer, which
 * tests/fuzz.sh builds and runs; corpus/ is its start. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A reader, and the checks of what it promises. */
typedef struct fuzz_reader {
    const char *name;
    void (*read)(db_context *context, const char *path);
} fuzz_reader;

/* The library's, and those of the refinement where that is built; each ends with an empty name. */
extern const fuzz_reader fuzz_file_readers[], fuzz_fit_readers[];

/* Aborts, with a message, unless the condition holds. */
void fuzz_require(int condition, const char *what, const char *detail);

/* 1 for DB_OK. A failure must explain itself and name the file, or have run out of memory. */
int fuzz_is_ok(const db_context *context, const char *path, db_status status, const char *reader);

#endif
