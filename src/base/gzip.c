/* Files packed by gzip, by zlib. */
#include "base/gzip.h"

#include "base/context_internal.h"

#include <stdint.h>
#include <stdlib.h>

#if defined(DB_HAVE_ZLIB)
#include <zlib.h>

/* A small file may unpack to a thousand times its size. */
static const size_t MOST = (size_t)1 << 30;

enum { WITH_HEADER = 16 + MAX_WBITS };

static uInt piece(size_t bytes) { return bytes < (1U << 30) ? (uInt)bytes : 1U << 30; }

/* Unpacks as much as there is room for; a file may consist of several packed ones. Returns Z_STREAM_END at its
 * end, Z_OK if there is more, or an error. */
static int unpack_gzip(z_stream *z, const char *end, char *out, size_t room, size_t *done) {
    *done = 0;
    for (;;) {
        z->avail_in = piece((size_t)(end - (const char *)z->next_in));
        z->next_out = (Bytef *)out + *done;
        z->avail_out = piece(room - *done);
        const uInt before = z->avail_out;
        const int result = inflate(z, Z_NO_FLUSH);
        *done += before - z->avail_out;
        const size_t left = (size_t)(end - (const char *)z->next_in);
        if (result == Z_STREAM_END) {
            /* zeros behind the end are padding */
            if (!left || !*z->next_in) return Z_STREAM_END;
            if (inflateReset(z) != Z_OK) return Z_DATA_ERROR;
        } else if (result != Z_OK && !(result == Z_BUF_ERROR && *done == room)) {
            return result;
        }
        if (*done == room) return Z_OK;
    }
}

static int open_stream(z_stream *z, const char *bytes) {
    memset(z, 0, sizeof *z);
    z->next_in = (z_const Bytef *)(uintptr_t)bytes;
    return inflateInit2(z, WITH_HEADER) == Z_OK;
}

/* What has been unpacked so far. */
typedef struct unpacked {
    char *bytes;
    size_t size, room;
} unpacked;

static db_status grow_text(db_context *context, const char *path, unpacked *out) {
    if (out->room >= MOST)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: packed by gzip: expected at most %zu MiB, found more", path,
                       MOST >> 20);
    out->room = 2 * out->room < MOST ? 2 * out->room : MOST;
    char *const grown = realloc(out->bytes, out->room + 1);
    if (!grown) return db_fail_memory(context, path);
    out->bytes = grown;
    return DB_OK;
}

static db_status unpack_all(db_context *context, const char *path, z_stream *z, const char *end,
                            unpacked *out) {
    size_t done;
    int result = Z_OK;
    while (result == Z_OK) {
        DB_TRY(grow_text(context, path, out));
        result = unpack_gzip(z, end, out->bytes + out->size, out->room - out->size, &done);
        out->size += done;
    }
    if (result == Z_STREAM_END) return DB_OK;
    return result == Z_MEM_ERROR
               ? db_fail_memory(context, path)
               : db_fail(context, DB_ERROR_INPUT,
                         "%s: packed by gzip: damaged or cut off after %zu unpacked bytes (%s)",
                         path, out->size, z->msg ? z->msg : "the end is missing");
}

db_status db_gzip_unpack(db_context *context, const char *path, char **bytes, size_t *size) {
    z_stream z;
    unpacked out = { .room = *size < (1U << 16) ? 1U << 16 : 2 * *size };
    if (!open_stream(&z, *bytes)) return db_fail_memory(context, path);
    const db_status status = unpack_all(context, path, &z, *bytes + *size, &out);
    inflateEnd(&z);
    if (status != DB_OK) {
        free(out.bytes);
        return status;
    }
    out.bytes[out.size] = '\0';
    free(*bytes);
    *bytes = out.bytes;
    *size = out.size;
    return DB_OK;
}

size_t db_gzip_start(const char *bytes, size_t size, char *start, size_t room) {
    z_stream z;
    size_t done = 0;
    if (!open_stream(&z, bytes)) return 0;
    (void)unpack_gzip(&z, bytes + size, start, room, &done);
    inflateEnd(&z);
    return done;
}

#else
db_status db_gzip_unpack(db_context *context, const char *path, char **bytes, size_t *size) {
    (void)bytes;
    (void)size;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: packed by gzip, which this build does not read: it was made without zlib "
                   "(Debian: zlib1g-dev); unpack it first (gunzip)",
                   path);
}

size_t db_gzip_start(const char *bytes, size_t size, char *start, size_t room) {
    (void)bytes;
    (void)size;
    (void)start;
    (void)room;
    return 0;
}
#endif
