/* Numbers in a file. */
#define _POSIX_C_SOURCE 200809L
#include "fit/shots/archive.h"

#include "base/context_internal.h"

#include <errno.h>
#include <string.h>

static db_status fail(const db_archive *a, const char *what) {
    return db_fail(a->context, DB_ERROR_FILE, "%s: %s: %s", a->path, what, strerror(errno));
}

db_status db_archive_open(db_context *context, const char *path, int writes, db_archive *a) {
    *a = (db_archive){ context, path, fopen(path, writes ? "wbe" : "rbe"), writes };
    return a->file ? DB_OK : fail(a, writes ? "cannot be created" : "cannot be opened");
}

db_status db_archive_move(void *archive, void *data, size_t bytes) {
    const db_archive *const a = archive;
    const size_t done = bytes == 0  ? 0
                        : a->writes ? fwrite(data, 1, bytes, a->file)
                                    : fread(data, 1, bytes, a->file);
    if (done == bytes) return DB_OK;
    if (a->writes || ferror(a->file))
        return fail(a, a->writes ? "cannot be written" : "cannot be read");
    return db_fail(a->context, DB_ERROR_INPUT, "%s: ends too early", a->path);
}

db_status db_archive_pass(db_archive *a, size_t bytes) {
    return fseeko(a->file, (off_t)bytes, SEEK_CUR) == 0 ? DB_OK : fail(a, "cannot be read");
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
