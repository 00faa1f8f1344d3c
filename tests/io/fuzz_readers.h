/* Every reader of files, on any bytes. */
#ifndef DB_TEST_FUZZ_READERS_H
#define DB_TEST_FUZZ_READERS_H

#include <stddef.h>
#include <stdint.h>

/* Writes the bytes to a file, hands it to every reader, and aborts if one breaks its promises
 * (sanitizers watch the rest). With clang this is a fuzzer: -fsanitize=fuzzer,address, this file,
 * the library; corpus/ is its start. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
