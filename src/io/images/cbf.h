/* CBF images that are read: the binary section (MIME header, marker, compressed integers), and
 * miniCBF or full CBF (imgCIF) around it.
 *
 * Decoded here and not by CBFlib, because detector files come from anywhere: CBFlib's byte-offset
 * decoder writes past its output when a file holds more elements than it declares, and reports
 * errors on stderr. */
#ifndef DB_IO_CBF_H
#define DB_IO_CBF_H

#include "io/images/image.h"

typedef enum db_cbf_compression { DB_CBF_BYTE_OFFSET, DB_CBF_PACKED } db_cbf_compression;

typedef struct db_cbf_binary {
    const char *section; /* where the section begins, within the file */
    const char *bytes;   /* compressed pixels, within the file */
    size_t size;
    long long fast_pixels, slow_pixels, sections; /* elements along the three dimensions */
    long long id;                                 /* X-Binary-ID; 1 */
    db_cbf_compression compression;
    int packed_flags; /* DB_PACKED_* */
    int bits;         /* of an element: 8, 16, 32, 64 */
    int is_signed;
} db_cbf_binary;

/* Finds the next binary section at or behind `from`; checks that it is complete, of integers and
 * compressed in a known way. *binary is all 0 (bytes NULL) if there is none. */
db_status db_cbf_binary_next(db_context *context, const char *path, const db_file_content *content,
                             const char *from, db_cbf_binary *binary);

/* Reads elements one after the other, as sums of differences. */
typedef struct db_byte_offset {
    const unsigned char *next;
    const unsigned char *end;
    int64_t value;
} db_byte_offset;

/* Little-endian two's complement of `bytes` bytes at p. */
static inline int64_t db_byte_offset_difference(const unsigned char *p, int bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < bytes; i++) bits |= (uint64_t)p[i] << (8 * i);
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return (int64_t)((bits ^ sign) - sign);
}

/* Takes the next element into value, in wrapping arithmetic; 0 at the end of the data. */
static inline int db_byte_offset_next(db_byte_offset *stream) {
    /* A difference is stored in the first of 1, 2, 4, 8 bytes that can hold it; the most negative
     * number of a width says that a wider one follows. */
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
        if (stream->end - stream->next < bytes) return 0;
        const int64_t difference = db_byte_offset_difference(stream->next, bytes);
        stream->next += bytes;
        if (bytes == 8 || difference != -((int64_t)1 << (8 * bytes - 1))) {
            stream->value = (int64_t)((uint64_t)stream->value + (uint64_t)difference);
            return 1;
        }
    }
    return 0;
}

/* How each pixel is predicted: by the one before it, or by the mean of its earlier neighbours. */
enum { DB_PACKED_FLAT = 1, DB_PACKED_UNCORRELATED_SECTIONS = 2, DB_PACKED_VERSION_2 = 4 };

/* Unpacks fast x slow x sections 32-bit elements (as two's complement; the sum of an unsigned one
 * is the same bits) from size bytes. Returns the number of elements found: fewer where the data
 * end before, or where the packed data say that there are others. */
size_t db_cbf_unpack(const unsigned char *bytes, size_t size, size_t fast, size_t slow,
                     size_t sections, int flags, int32_t *element);

/* Recognition by content. */
int db_is_cbf(const db_file_content *content);

/* Fill an image that was prepared by db_image_init; on failure the caller clears it. path is for
 * messages. The second is for files without a miniCBF header, whose arrays of pixels come with
 * tables that say what they are. */
db_status db_cbf_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image);
db_status db_cbf_full_decode(db_context *context, const char *path, const db_file_content *content,
                             db_measured_image *image);

/* What lines "# Key value" say of the experiment; TIFF images of Pilatus detectors have them, too. */
db_status db_cbf_mini_header_read(db_context *context, const char *path, const char *text,
                                  db_measured_image *image);

#endif
