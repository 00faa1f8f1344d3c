/* A text composed in memory, in the C locale, and then written as a whole. */
#ifndef DB_BASE_TEXT_STREAM_H
#define DB_BASE_TEXT_STREAM_H

#include "base/c_locale.h"

#include <dualbragg/context.h>
#include <stddef.h>
#include <stdio.h>

typedef struct db_text_stream {
    FILE *stream; /* print here */
    char *bytes;
    size_t length;
    db_c_locale locale;
} db_text_stream;

DB_API db_status db_text_stream_open(db_context *context, db_text_stream *text);

/* Ends the text, and sets bytes and length. DB_ERROR_MEMORY if part of it was lost. */
DB_API db_status db_text_stream_finish(db_context *context, db_text_stream *text);
DB_API void db_text_stream_free(db_text_stream *text);

/* Ends the text, writes it to a file (atomically) unless `status` is a failure of composing it, and frees it. */
DB_API db_status db_text_stream_write(db_context *context, db_text_stream *text, db_status status,
                                      const char *path);

#endif
