/* SMV files made by hand, and keys of written ones. */
#ifndef DB_TEST_SMV_FILE_H
#define DB_TEST_SMV_FILE_H

#include <stddef.h>

/* Writes "{\nHEADER_BYTES=  512;\n" keys "}\n\f", blanks up to 512 bytes, then the pixels. Returns
 * the path. */
const char *smv_file(const char *name, const char *keys, const void *pixels, size_t pixel_bytes);

/* The value of a key in the text of an SMV file, checked to be there once; a number by smv_number.
 */
const char *smv_value(const char *text, const char *key);
double smv_number(const char *text, const char *key);

#endif
