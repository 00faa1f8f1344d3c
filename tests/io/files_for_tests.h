/* Files for tests: a folder that disappears, files with given bytes, the folder of reference data.
 */
#ifndef DB_TEST_FILES_FOR_TESTS_H
#define DB_TEST_FILES_FOR_TESTS_H

#include <stddef.h>

/* A new, empty folder; one per program. cmocka group fixtures. */
int folder_setup(void **state);
int folder_teardown(void **state);

/* Path of a file in the folder. Static storage for a few calls. */
const char *folder_path(const char *name);

/* Writes a file there and returns its path. */
const char *folder_file(const char *name, const void *bytes, size_t size);
const char *folder_text(const char *name, const char *text);

/* Number of files in the folder. */
int folder_count(void);

/* Reads a file as a whole; *size bytes and a zero behind them, to be freed. Fails the test if that
 * is impossible. */
char *load_file(const char *path, size_t *size);

/* Path of a file of tests/golden/data. Fails the test if it is not there. */
const char *golden_path(const char *name);

/* Path of a reference file (../shared beside the checkout, or SHARED_DIR). Skips the test, with a
 * message, if it is not there. */
const char *shared_path(const char *name);

#endif
