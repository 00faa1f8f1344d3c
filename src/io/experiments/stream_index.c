#define _POSIX_C_SOURCE 200809L /* ftello */
/* The places of images and crystals in a stream: found once, since each of many shots looks up its own. */
#include "io/experiments/stream_file.h"

#include "base/context_internal.h"
#include "base/file_stamp.h"
#include "base/growth.h"
#include "base/path.h"
#include "io/format_readers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct counted_index {
    db_stream_index index; /* first: a pointer to it is one to the whole */
    db_file_stamp stamp;
    int users;
} counted_index;

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static counted_index *kept; /* the last one; NULL: none */

static void destroy_index(counted_index *index) {
    for (size_t i = 0; i < index->index.count; i++) free(index->index.chunk[i].image);
    free(index->index.chunk);
    free(index);
}

/* FILE, or FILE#EVENT. */
static char *image_name(const db_stream_crystal *c) {
    const size_t size = strlen(c->file) + strlen(c->event) + 2;
    const int has_event = strstr(c->event, "//") && strcmp(c->event, "//") != 0;
    char *const name = malloc(size);
    if (name)
        snprintf(name, size, "%s%s%s", c->file, has_event ? "#" : "", has_event ? c->event : "");
    return name;
}

/* Completes a chunk: its image's name and the number of its crystals are known at its end. */
static db_status end_chunk(const db_stream *s, const db_stream_crystal *c, db_stream_index *index) {
    if (index->count == 0) return DB_OK;
    db_stream_chunk *const chunk = &index->chunk[index->count - 1];
    chunk->image = image_name(c);
    chunk->crystal_count = c->number + 1 - chunk->first;
    index->crystal_count = c->number + 1;
    return chunk->image ? DB_OK : db_fail_memory(s->context, s->path);
}

static db_status begin_chunk(const db_stream *s, db_stream_crystal *c, db_stream_index *index) {
    DB_GROW(s->context, index->chunk, index->room, index->count + 1, "the index of a stream");
    index->chunk[index->count++] = (db_stream_chunk){ .offset = (long long)ftello(s->file),
                                                      .line = s->number,
                                                      .first = c->number + 1 };
    db_stream_begin(c->number, c);
    return DB_OK;
}

static db_status read_all(db_stream *s, db_stream_crystal *c, db_stream_index *index) {
    db_stream_event event;
    db_stream_begin(-1, c);
    DB_TRY(db_stream_geometry(s));
    do {
        DB_TRY(db_stream_next(s, c, &event));
        if (event == DB_STREAM_CRYSTAL && index->count == 0)
            return db_stream_fail(s, "a chunk around a crystal");
        if (event == DB_STREAM_CHUNK || event == DB_STREAM_ENDS) DB_TRY(end_chunk(s, c, index));
        if (event == DB_STREAM_CHUNK) DB_TRY(begin_chunk(s, c, index));
    } while (event != DB_STREAM_ENDS);
    return DB_OK;
}

/* The kept index if it belongs to this state of the file, with its users counted up; else NULL. */
static counted_index *borrow_index(const db_file_stamp *stamp) {
    counted_index *found = NULL;
    pthread_mutex_lock(&one_at_a_time);
    if (kept && db_file_stamp_same(&kept->stamp, stamp)) found = kept;
    if (found) found->users++;
    pthread_mutex_unlock(&one_at_a_time);
    return found;
}

void db_stream_index_give_back(const db_stream_index *index) {
    counted_index *const own = (counted_index *)index;
    if (!index) return;
    pthread_mutex_lock(&one_at_a_time);
    const int last = --own->users == 0;
    pthread_mutex_unlock(&one_at_a_time);
    if (last) destroy_index(own);
}

/* Keeps this index in place of the one before. */
static void keep_index(counted_index *index) {
    pthread_mutex_lock(&one_at_a_time);
    counted_index *const before = kept;
    kept = index;
    index->users++;
    pthread_mutex_unlock(&one_at_a_time);
    if (before) db_stream_index_give_back(&before->index);
}

db_status db_stream_index_of(db_context *context, const char *path, const db_stream_index **index) {
    db_file_stamp stamp;
    db_stream_crystal c;
    db_stream s;
    const int settled = db_file_stamp_take(path, &stamp);
    counted_index *own = settled ? borrow_index(&stamp) : NULL;
    *index = own ? &own->index : NULL;
    if (own) return DB_OK;
    DB_TRY(db_stream_open(context, path, &s));
    own = calloc(1, sizeof *own);
    if (own) own->users = 1;
    const db_status status =
        own ? read_all(&s, &c, &own->index) : db_fail_memory(context, "the index of a stream");
    db_stream_close(&s);
    if (own) own->stamp = stamp;
    if (own && status == DB_OK && settled) keep_index(own);
    *index = status == DB_OK ? &own->index : NULL;
    if (status != DB_OK && own) destroy_index(own);
    return status;
}

/* Is the chunk of that image? */
static int chunk_shows(const char *name, const char *image) {
    db_event_name wanted, own;
    if (!image) return 1;
    if (!db_event_name_read(name, &own) || !db_event_name_read(image, &wanted) ||
        strcmp(db_file_name(wanted.file), db_file_name(own.file)) != 0)
        return 0;
    const int has_event = own.index_count >= 0 && (*own.path || own.index_count > 0);
    if (!has_event) return wanted.number <= 1 && wanted.index_count <= 0;
    if (wanted.index_count < 0)
        return !*own.path && own.index_count == 1 && wanted.number == own.index[0] + 1;
    return strcmp(wanted.path, own.path) == 0 && wanted.index_count == own.index_count &&
           memcmp(wanted.index, own.index, (size_t)own.index_count * sizeof *own.index) == 0;
}

static db_status select_number(db_context *context, const char *path, const db_stream_index *index,
                               long number, const db_stream_chunk **chunk) {
    size_t low = 0, high = index->count; /* the last chunk that begins with it or before */
    if (number >= index->crystal_count)
        return db_fail(context, DB_ERROR_INPUT, "%s: crystal %ld: expected a number below %ld",
                       path, number, index->crystal_count);
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (index->chunk[middle].first <= number)
            low = middle;
        else
            high = middle;
    }
    *chunk = &index->chunk[low];
    return DB_OK;
}

db_status db_stream_select(db_context *context, const char *path, const db_stream_index *index,
                           const db_expt_selection *selection, const db_stream_chunk **chunk,
                           long *crystal) {
    const db_stream_chunk *bare = NULL;
    const char *const image = selection->image;
    long fitting = 0, second = 0;
    *chunk = NULL;
    *crystal = selection->number;
    if (selection->number >= 0)
        return select_number(context, path, index, selection->number, chunk);
    for (size_t i = 0; i < index->count; i++) {
        const db_stream_chunk *const own = &index->chunk[i];
        if (!chunk_shows(own->image, image)) continue;
        if (own->crystal_count == 0 && image) bare = own;
        if (own->crystal_count == 0) continue;
        if (fitting == 1) second = own->first;
        if (fitting == 0 && own->crystal_count > 1) second = own->first + 1;
        if (fitting == 0) *chunk = own;
        fitting += own->crystal_count;
    }
    *crystal = *chunk ? (*chunk)->first : -1;
    if (fitting == 0 && bare) *chunk = bare;
    if (*chunk && fitting <= 1) return DB_OK;
    if (fitting > 1)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: %ld crystals%s%s, the first ones number %ld and %ld (from 0); expected "
                       "the number of one",
                       path, fitting, image ? " on " : "", image ? image : "", *crystal, second);
    return db_fail(context, DB_ERROR_INPUT, "%s: none of the %ld crystals is on %s", path,
                   index->crystal_count, image ? image : "any image");
}

db_status db_stream_select_chunk(db_context *context, const char *path,
                                 const db_stream_index *index, const db_expt_selection *selection,
                                 const db_stream_chunk **chunk) {
    if (selection->number >= 0)
        return select_number(context, path, index, selection->number, chunk);
    const int only = !selection->image && index->count == 1;
    for (size_t i = 0; i < index->count; i++) {
        if (!only && (!selection->image || !chunk_shows(index->chunk[i].image, selection->image)))
            continue;
        *chunk = &index->chunk[i];
        return DB_OK;
    }
    return db_fail(context, DB_ERROR_INPUT, "%s: none of the %zu images is %s", path, index->count,
                   selection->image ? selection->image : "named; expected the name of one");
}

/* Lists a shot per crystal; if the stream has no crystal at all, a shot per image. */
db_status db_stream_shots(db_context *context, const char *path, db_listed_shots *shots) {
    const db_stream_index *index;
    db_status status = DB_OK;
    DB_TRY(db_stream_index_of(context, path, &index));
    for (size_t i = 0; i < index->count && status == DB_OK; i++) {
        const db_stream_chunk *const chunk = &index->chunk[i];
        const long count = index->crystal_count ? chunk->crystal_count : 1;
        for (long k = 0; k < count && status == DB_OK; k++)
            if (!db_listed_shots_add(shots, index->crystal_count ? chunk->first + k : -1,
                                     strdup(chunk->image)))
                status = db_fail_memory(context, path);
    }
    db_stream_index_give_back(index);
    return status;
}

db_status db_stream_count(db_context *context, const char *path, size_t *count) {
    const db_stream_index *index;
    *count = 0;
    DB_TRY(db_stream_index_of(context, path, &index));
    *count = (size_t)index->crystal_count;
    db_stream_index_give_back(index);
    return DB_OK;
}
