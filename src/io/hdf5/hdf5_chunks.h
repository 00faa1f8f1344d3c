/* Pixels of HDF5 data sets: parts of chunks are gathered as they are stored, data sets that are put
 * together from others included, and unpacked on all threads without libhdf5. */
#ifndef DB_IO_HDF5_CHUNKS_H
#define DB_IO_HDF5_CHUNKS_H

#include "io/hdf5/hdf5_file.h"
#include "io/images/counts.h"

enum { DB_HDF5_RANK = 4, DB_HDF5_FILTERS = 8, DB_HDF5_FILTER_VALUES = 8 };

typedef struct db_hdf5_filter {
    H5Z_filter_t id;
    unsigned value[DB_HDF5_FILTER_VALUES];
    size_t values;
} db_hdf5_filter;

/* The storage format of a data set's elements. */
typedef struct db_hdf5_format {
    db_pixel_kind kind;
    size_t width; /* bytes of an element */
    int swapped;  /* 1: bytes in the other order than this machine's */
    int filters;
    db_hdf5_filter filter[DB_HDF5_FILTERS];
} db_hdf5_format;

/* A part of a chunk, and its place in the image. Elements are counted along the fast axis first. */
typedef struct db_hdf5_piece {
    db_hdf5_format format;
    unsigned char *bytes; /* as stored; owned */
    size_t size;
    unsigned skipped; /* bit i: filter i was not used */
    size_t elements;  /* of the whole chunk */
    size_t from, row; /* first element wanted; elements of a row of the chunk */
    size_t rows, columns;
    size_t to, to_row; /* the same in the image */
} db_hdf5_piece;

typedef struct db_hdf5_pieces {
    db_hdf5_piece *piece;
    size_t count, capacity;
    size_t covered; /* elements in all of them */
} db_hdf5_pieces;

void db_hdf5_pieces_clear(db_hdf5_pieces *pieces);

/* Gathers the pieces of a rectangle, or of a part of a list (rank 1). start and extent have `rank` numbers; all
 * extents but the last two are 1. The rectangle goes to element `to` of an image with rows of to_row elements.
 * Call between db_hdf5_enter and _leave. */
db_status db_hdf5_gather(const db_hdf5_object *data, int rank, const hsize_t *start,
                         const hsize_t *extent, size_t to, size_t to_row, db_hdf5_pieces *pieces);

/* Takes `count` elements in this machine's byte order, for the image's elements from `to` on. Several threads call
 * it at once. */
typedef void db_hdf5_sink(void *user, const db_hdf5_format *format, const unsigned char *elements,
                          size_t count, size_t to);

/* Unpacks everything. Needs no db_hdf5_enter. path is for messages. */
db_status db_hdf5_unpack(db_context *context, const char *path, const db_hdf5_pieces *pieces,
                         db_hdf5_sink *sink, void *user);

/* As db_hdf5_unpack, if only the bits count: the sink may get elements of one byte, 1 if the lowest bit is set,
 * else 2 if any bit is; it may not get elements without bits. */
db_status db_hdf5_unpack_flags(db_context *context, const char *path, const db_hdf5_pieces *pieces,
                               db_hdf5_sink *sink, void *user);

/* 1 if db_hdf5_unpack can undo the filter. */
int db_hdf5_filter_is_known(const db_hdf5_filter *filter);

/* Undoes all filters of a piece's whole chunk: format.width * elements bytes. room: of that size; work:
 * DB_BLOCK_WORK bytes. *result points to the result, in chunk or room. Returns NULL, or the reason of a failure. */
const char *db_hdf5_undo_filters(const db_hdf5_piece *piece, unsigned char *chunk,
                                 unsigned char *room, unsigned char *work, unsigned char **result);

#endif
