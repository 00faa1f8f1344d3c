#define _POSIX_C_SOURCE 200809L
/* Text composed in memory and written as a whole. */
#include "base/text_stream.h"

#include "base/context_internal.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/text_file.h>
#include <stdlib.h>

db_status db_text_stream_open(db_context *context, db_text_stream *text) {
    text->bytes = NULL;
    text->length = 0;
    text->stream = open_memstream(&text->bytes, &text->length);
    if (!text->stream) return db_fail_memory(context, "a text");
    text->locale = db_c_locale_enter();
    return DB_OK;
}

db_status db_text_stream_finish(db_context *context, db_text_stream *text) {
    const int lost = ferror(text->stream);
    const int unfinished = fclose(text->stream);
    text->stream = NULL;
    db_c_locale_leave(text->locale);
    if (!lost && !unfinished && text->bytes) return DB_OK;
    db_text_stream_free(text);
    return db_fail_memory(context, "a text");
}

void db_text_stream_free(db_text_stream *text) {
    free(text->bytes);
    text->bytes = NULL;
}

db_status db_text_stream_write(db_context *context, db_text_stream *text, db_status status,
                               const char *path) {
    const db_status finished = db_text_stream_finish(context, text);
    if (finished != DB_OK) return status != DB_OK ? status : finished;
    if (status == DB_OK) status = db_write_text(context, path, text->bytes, text->length);
    db_text_stream_free(text);
    return status;
}
