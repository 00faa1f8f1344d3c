/* Blocks of numbers in a file. */
#define _POSIX_C_SOURCE 200809L
#include "fit/shots/archive.h"

#include "base/context_internal.h"
#include "base/md5.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* How a block begins. */
typedef struct head {
    uint64_t bytes;
    char digest[32];
} head;
_Static_assert(sizeof((head *)NULL)->digest >= DB_MD5_TEXT_SIZE, "a digest has room");

static db_status fail(const db_archive *a, const char *what) {
    return db_fail(a->context, DB_ERROR_FILE, "%s: %s: %s", a->path, what, strerror(errno));
}

db_status db_archive_open(db_context *context, const char *path, int writes, db_archive *a) {
    *a = (db_archive){ context, path, fopen(path, writes ? "wbe" : "rbe"), writes };
    return a->file ? DB_OK : fail(a, writes ? "cannot be created" : "cannot be opened");
}

static db_status write_bytes(const db_archive *a, const void *data, size_t bytes) {
    return fwrite(data, 1, bytes, a->file) == bytes ? DB_OK : fail(a, "cannot be written");
}

static db_status read_bytes(const db_archive *a, void *data, size_t bytes) {
    if (fread(data, 1, bytes, a->file) == bytes) return DB_OK;
    return ferror(a->file) ? fail(a, "cannot be read")
                           : db_fail(a->context, DB_ERROR_INPUT, "%s: ends too early", a->path);
}

db_status db_archive_put(db_archive *a, const void *data, size_t bytes) {
    head h = { .bytes = bytes };
    db_md5_base64(data, bytes, h.digest);
    DB_TRY(write_bytes(a, &h, sizeof h));
    return write_bytes(a, data, bytes);
}

db_status db_archive_get(db_archive *a, void *data, size_t bytes) {
    head h, found = { .bytes = bytes };
    DB_TRY(read_bytes(a, &h, sizeof h));
    if (h.bytes != bytes)
        return db_fail(a->context, DB_ERROR_INPUT, "%s: expected %zu bytes at byte %ld, found %llu",
                       a->path, bytes, ftell(a->file), (unsigned long long)h.bytes);
    DB_TRY(read_bytes(a, data, bytes));
    db_md5_base64(data, bytes, found.digest);
    return memcmp(&found, &h, sizeof h) == 0
               ? DB_OK
               : db_fail(a->context, DB_ERROR_INPUT, "%s: is damaged before byte %ld", a->path,
                         ftell(a->file));
}

db_status db_archive_skip(db_archive *a) {
    head h;
    DB_TRY(read_bytes(a, &h, sizeof h));
    if (h.bytes > INT64_MAX)
        return db_fail(a->context, DB_ERROR_INPUT, "%s: is damaged before byte %ld", a->path,
                       ftell(a->file));
    return fseeko(a->file, (off_t)h.bytes, SEEK_CUR) == 0 ? DB_OK : fail(a, "cannot be read");
}

int db_archive_at_end(db_archive *a) {
    const int next = getc(a->file);
    if (next != EOF) ungetc(next, a->file);
    return next == EOF;
}

db_status db_archive_close(db_archive *a) {
    const int failed = a->file && fclose(a->file) != 0 && a->writes;
    a->file = NULL;
    return failed ? fail(a, "cannot be written") : DB_OK;
}
