/* SMV images that are read: the text header ("{", KEY=value; lines, "}"), how pixels are stored, and
 * the whole image. */
#ifndef DB_IO_SMV_H
#define DB_IO_SMV_H

#include "io/images/image.h"

typedef struct db_smv_header {
    db_context *context;
    const char *path;  /* for messages */
    const char *start; /* text between the braces */
    const char *end;
    size_t bytes; /* HEADER_BYTES: where the pixels start */
} db_smv_header;

/* Finds the header; the braces must lie within HEADER_BYTES, and those within the file. */
db_status db_smv_header_open(db_context *context, const char *path, const db_file_content *content,
                             db_smv_header *header);

/* Copies the value of a key without white space around and without the semicolon. Keys match
 * exactly; the last of repeated ones counts. 0 if there is none or nothing behind it. Values longer
 * than size - 1 are cut. */
int db_smv_header_text(const db_smv_header *header, const char *key, char *value, size_t size);

/* The number (first word) a key holds; *value is untouched if there is no such key. */
db_status db_smv_header_number(const db_smv_header *header, const char *key, double *value);

/* As db_smv_header_number, for a number > 0; 0 gives a notice and counts as no key. */
db_status db_smv_header_positive(const db_smv_header *header, const char *key, double *value);

/* As db_smv_header_number, for two keys that belong together: *found is 1 if both exist. */
db_status db_smv_header_pair(const db_smv_header *header, const char *first_key,
                             const char *second_key, double value[2], int *found);

/* The reference program's way: `count` numbers after the first '=' that follows the key's last occurrence in any
 * key or value; unchanged if it does not occur. */
db_status db_smv_header_last_numbers(const db_smv_header *header, const char *key, double *value,
                                     int count);

typedef enum db_smv_type {
    DB_SMV_UINT16,
    DB_SMV_INT16,
    DB_SMV_UINT32,
    DB_SMV_INT32,
    DB_SMV_FLOAT32,
    DB_SMV_TYPES
} db_smv_type;

typedef struct db_smv_layout {
    db_smv_type type;
    int swapped; /* 1: bytes in the other order than this machine's */
    long long fast_pixels, slow_pixels;
    const char *bytes; /* the first pixel; borrowed from the file's content */
} db_smv_layout;

/* Reads it from the header, and checks that the file holds that many pixels and behind them at most
 * padding. */
db_status db_smv_layout_read(const db_smv_header *header, const db_file_content *content,
                             db_smv_layout *layout);

/* Reads only the shape, from SIZE1 and SIZE2 or DETECTOR_DIMENSIONS. */
db_status db_smv_shape(const db_smv_header *header, long long *fast_pixels, long long *slow_pixels);

/* The stored number; pixels are counted from the first one, fast index fastest. */
double db_smv_pixel(const db_smv_layout *layout, size_t pixel);

/* The largest number a type can store. */
double db_smv_type_largest(db_smv_type type);

/* Recognition by content. */
int db_is_smv(const db_file_content *content);

/* Fills an image that was prepared by db_image_init; on failure the caller clears it. path is for
 * messages. */
db_status db_smv_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image);

/* Reads the geometry from exactly these keys. Direct beam: DENZO_X_BEAM and DENZO_Y_BEAM (X along slow, Y along
 * fast, mm from the outer corner of the first pixel), else MOSFLM_CENTER_X and _Y (the same minus half a pixel),
 * else, without XDS_ORGX, BEAM_CENTER_X and _Y in the sense of ADSC headers (as DENZO). BEAM_CENTER is used if it
 * shows that the numbers of DENZO are swapped. A pair of 0 is no centre. Near point: XDS_ORGX and XDS_ORGY
 * (pixels; the middle of the first one is 1). Of a detector at two-theta the numbers are those of its last place
 * (db_image_swing); simulators of the reference's family leave two-theta out of distance and direct beam, so that
 * these are skipped where the near point and the close distance are there. */
db_status db_smv_geometry_read(const db_smv_header *header, db_image_geometry *geometry);

/* As db_smv_geometry_read, from a file; frame is 0. */
db_status db_smv_image_geometry(db_context *context, const char *path, long frame,
                                db_image_geometry *geometry);

#endif
