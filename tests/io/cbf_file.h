/* miniCBF files made by hand. */
#ifndef DB_TEST_CBF_FILE_H
#define DB_TEST_CBF_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Byte-offset compression: the differences of consecutive values, each in the fewest of 1, 2, 4, 8
 * bytes that hold it. Returns the number of bytes written to `bytes` (at most 15 per value). */
size_t cbf_compress(const int64_t *values, size_t count, unsigned char *bytes);

/* A file's text and what its binary header claims; the defaults of cbf_layout describe the values
 * given. */
typedef struct cbf_layout {
    const char *header;       /* lines of _array_data.header_contents */
    const char *element_type; /* "signed 32-bit integer" */
    const char *conversions;  /* "x-CBF_BYTE_OFFSET" */
    const char *md5;          /* line "Content-MD5: ...\r\n", or "" */
    long long size, elements, fast, slow;
} cbf_layout;

cbf_layout cbf_layout_of(long long fast, long long slow, long long compressed_size);

/* Builds the file: *size bytes, to be freed. */
char *cbf_bytes(const cbf_layout *layout, const unsigned char *compressed, size_t compressed_size,
                size_t *size);

/* Compresses and writes an image with the default layout and the header lines; returns the path. */
const char *cbf_file(const char *name, const char *header, const int64_t *values, int fast,
                     int slow);

#endif
