/* Reads streams of CrystFEL line by line, since they may be larger than the memory; and an index of their
 * crystals. */
#ifndef DB_IO_STREAM_FILE_H
#define DB_IO_STREAM_FILE_H

#include "io/experiments/geom.h"

#include <stdio.h>

enum { DB_STREAM_LINE = 4096 };

/* What the stream says of the current chunk and crystal. */
typedef struct db_stream_crystal {
    /* the crystal's number in the stream, from 0; before a chunk's first crystal that of the
     * last one */
    long number;
    char file[DB_STREAM_LINE], event[256];
    db_geom_image image;
    double divergence, bandwidth; /* of the beam: rad, fraction; not used */
    double reciprocal[9];         /* rows a*, b*, c* (1/nm), in the frame of CrystFEL */
    int axes;                     /* bits: which of them were read */
} db_stream_crystal;

typedef struct db_stream {
    db_context *context;
    const char *path;
    FILE *file;
    char line[DB_STREAM_LINE];
    size_t number;  /* of the line, from 1 */
    char *geometry; /* owned until it is parsed */
    size_t geometry_line;
} db_stream;

db_status db_stream_open(db_context *context, const char *path, db_stream *stream);
void db_stream_close(db_stream *stream);

/* The next line without its end; 0: there is none. A too long one is cut. */
int db_stream_next_line(db_stream *stream);
/* The rest of the line after this beginning; NULL: the line begins otherwise. */
const char *db_stream_behind(const db_stream *stream, const char *start);
/* Fails at the line. */
db_status db_stream_fail(const db_stream *stream, const char *expected);

/* The geometry at the beginning. */
db_status db_stream_geometry(db_stream *stream);

/* The next event; the lines before it have been read into `crystal`. */
typedef enum db_stream_event {
    DB_STREAM_ENDS,
    DB_STREAM_CHUNK,  /* its first line has been read, and db_stream_begin is due */
    DB_STREAM_PEAKS,  /* the title of a list of peaks */
    DB_STREAM_CRYSTAL /* its last line has been read */
} db_stream_event;
db_status db_stream_next(db_stream *stream, db_stream_crystal *crystal, db_stream_event *event);

/* Nothing of a chunk is known yet. number: of the last crystal before it. */
void db_stream_begin(long number, db_stream_crystal *crystal);

/* A chunk: an image. */
typedef struct db_stream_chunk {
    long long offset;          /* of the line after its first */
    size_t line;               /* the number of that */
    char *image;               /* FILE or FILE#EVENT; owned */
    long first, crystal_count; /* its crystals, counted through the stream */
} db_stream_chunk;

/* The chunks of a stream. */
typedef struct db_stream_index {
    size_t count, room;
    db_stream_chunk *chunk; /* owned */
    long crystal_count;
} db_stream_index;

/* The index of a stream; do not change it, and give it back. The last one is kept for the next call. */
db_status db_stream_index_of(db_context *context, const char *path, const db_stream_index **index);
void db_stream_index_give_back(const db_stream_index *index);

/* The chunk of a selection, and the number of its crystal; -1: the image has none. */
db_status db_stream_select(db_context *context, const char *path, const db_stream_index *index,
                           const db_expt_selection *selection, const db_stream_chunk **chunk,
                           long *crystal);

/* The chunk of a selection, which may have several crystals: by the number of one, or the image. */
db_status db_stream_select_chunk(db_context *context, const char *path,
                                 const db_stream_index *index, const db_expt_selection *selection,
                                 const db_stream_chunk **chunk);

/* Goes to the beginning of a chunk, and reads it up to the end of a crystal (-1: up to its list of peaks, or its
 * end). */
db_status db_stream_read_chunk(db_stream *stream, const db_stream_chunk *chunk, long number,
                               db_stream_crystal *crystal);

#endif
