/* CBF images that are read: the binary section (MIME header, marker, compressed integers), and
 * miniCBF or full CBF (imgCIF) around it.
 *
 * Decoded here and not by CBFlib, because detector files come from anywhere: CBFlib's byte-offset
 * decoder writes past its output when a file holds more elements than it declares, and reports
 * errors on stderr. */
#ifndef DB_IO_CBF_H
#define DB_IO_CBF_H

#include "io/experiments/expt_circles.h"
#include "io/images/image.h"
#include <dualbragg/expert/experiment_list_content.h>

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

/* Which numbers the elements can be, and which of them no counter reaches. */
typedef struct db_cbf_range {
    int64_t lowest, highest;
    int64_t mark; /* of unsigned elements: from here on marks of pixels without data */
    double
        clips; /* from here on signed elements are cut off; INFINITY: the type is wider than counters */
} db_cbf_range;

db_cbf_range db_cbf_range_of(const db_cbf_binary *binary);

/* Finds the next binary section at or behind `from`; checks that it is complete, of integers and
 * compressed in a known way. *binary is all 0 (bytes NULL) if there is none. */
db_status db_cbf_binary_next(db_context *context, const char *path, const db_file_content *content,
                             const char *from, db_cbf_binary *binary);

/* Compares the pixels with the checksum that the section states: a wrong difference would shift all later pixels unnoticed. */
db_status db_cbf_binary_check(db_context *context, const char *path, const db_cbf_binary *binary);

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
    /* A difference uses the first of 1, 2, 4, 8 bytes that can hold it; the most negative number of a width means
     * that a wider one follows. */
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

/* How a pixel is predicted: by the one before it, or by the mean of its earlier neighbours. */
enum { DB_PACKED_FLAT = 1, DB_PACKED_UNCORRELATED_SECTIONS = 2, DB_PACKED_VERSION_2 = 4 };

/* Unpacks fast x slow x sections 32-bit elements (two's complement; unsigned ones have the same bits) from size
 * bytes. Returns the number of elements found: fewer if the data end early, or state another number. */
size_t db_cbf_unpack(const unsigned char *bytes, size_t size, size_t fast, size_t slow,
                     size_t sections, int flags, int32_t *element);

/* Recognition by content. */
int db_is_cbf(const db_file_content *content);

/* Fill an image prepared by db_image_init; on failure the caller clears it. path is for messages.
 * db_cbf_full_decode reads files without a miniCBF header, whose tables describe the arrays of pixels. */
db_status db_cbf_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image);
db_status db_cbf_full_decode(db_context *context, const char *path, const db_file_content *content,
                             db_measured_image *image);

/* Does the file have tables of axes that place the detector? */
db_status db_cbf_has_axes(db_context *context, const char *path, const db_file_content *content,
                          int *has);

/* Fills what an image can hold from the tables of axes (io/images/imgcif.h): distance, beam centre and scan, if
 * the panel faces the beam and the spindle is along its fast axis. geometry gets the full place of a single panel.
 * Without tables: wavelength, polarization and pixel size. */
db_status db_cbf_tell_axes(db_context *context, const char *path, const db_file_content *content,
                           db_image_geometry *geometry, db_measured_image *image);

/* The geometry of a single panel, for set-ups: from the tables, else from the lines "# Key value". frame is 0. */
db_status db_cbf_geometry(db_context *context, const char *path, long frame,
                          db_image_geometry *geometry);

/* Reads detector, beam and goniometer of a file whose tables place them; as db_read_expt. */
db_status db_cbf_experiment(db_context *context, const char *path,
                            const db_expt_selection *selection, db_experiment *experiment,
                            db_expt_content *content);

/* The circles of the file's goniometer that stand still. found 0: the file has no tables of axes. */
db_status db_cbf_circles(db_context *context, const char *path, db_circles *circles, int *found);

/* The start of a header's lines "# Key value": after _array_data.header_contents, else at the first known key;
 * NULL: there are none. The text ends with a zero. */
const char *db_cbf_mini_header_find(const char *text);

/* Reads the experiment from these lines, which TIFF images of Pilatus detectors have, too. placed 1: skips
 * detector and scan, which the tables give. */
db_status db_cbf_mini_header_read(db_context *context, const char *path, const char *text,
                                  int placed, db_measured_image *image);

#endif
