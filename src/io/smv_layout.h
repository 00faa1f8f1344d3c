/* How the pixels of an SMV image are stored. */
#ifndef DB_IO_SMV_LAYOUT_H
#define DB_IO_SMV_LAYOUT_H

#include "io/smv_header.h"

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

/* Only the shape, from SIZE1 and SIZE2 or DETECTOR_DIMENSIONS. */
db_status db_smv_shape(const db_smv_header *header, long long *fast_pixels, long long *slow_pixels);

/* The stored number; pixels are counted from the first one, fast index fastest. */
double db_smv_pixel(const db_smv_layout *layout, size_t pixel);

/* The largest number a type can store. */
double db_smv_type_largest(db_smv_type type);

#endif
