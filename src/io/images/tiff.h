/* TIFF images, plain ones and those of MarCCD and Rayonix detectors; images of mar345 scanners. */
#ifndef DB_IO_TIFF_H
#define DB_IO_TIFF_H

#include "io/images/image.h"

/* Reads page `frame` (as db_format.frame) of a TIFF file, with the header of Pilatus detectors. */
db_status db_tiff_read(db_context *context, const char *path, long frame, db_measured_image *image);

/* Images of a TIFF file, without small versions of them. */
db_status db_tiff_count(db_context *context, const char *path, size_t *count);

/* 1 for a TIFF image with a MarCCD header in its first 4096 bytes. Needs no libtiff. */
int db_is_mar_ccd(const db_file_content *start);
db_status db_mar_ccd_decode(db_context *context, const char *path, const db_file_content *content,
                            db_measured_image *image);

int db_is_mar345(const db_file_content *start);
db_status db_mar345_decode(db_context *context, const char *path, const db_file_content *content,
                           db_measured_image *image);

/* Words of headers in either order. */
static inline uint32_t db_word_at(const char *bytes, size_t at, int big_endian) {
    const unsigned char *const b = (const unsigned char *)bytes + at;
    return big_endian ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                      : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

#endif
