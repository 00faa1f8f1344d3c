/* Files for tests, in a folder of their own. */
#ifndef TESTS_FIT_SCRATCH_FILE_H
#define TESTS_FIT_SCRATCH_FILE_H

/* Name of a file in this test program's scratch folder (below the working directory; made on first
 * use). Static storage, the last four names stay valid. */
const char *scratch_path(const char *name);

/* Writes a text file into the scratch folder and returns its name. */
const char *scratch_file(const char *name, const char *text);

/* The whole file as a text, to be freed; NULL if it cannot be read. */
char *read_whole_file(const char *path);

#endif
