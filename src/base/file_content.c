#define _POSIX_C_SOURCE 200809L
/* Reads whole files, also pipes; unpacks gzip, refuses other compressed files. */
#include "base/file_content.h"
#include "base/context_internal.h"
#include "base/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A larger file is no plausible image or list; a source of unknown size (a pipe) has a lower limit. */
static const uint64_t regular_file_limit = (uint64_t)16 << 30;
static const size_t stream_limit = (size_t)1 << 28;

static db_status read_regular(db_context *context, const char *path, int descriptor, size_t size,
                              db_file_content *content) {
    content->bytes = malloc(size + 1);
    if (!content->bytes) return db_fail_memory(context, path);
    while (content->size < size) {
        const ssize_t got = read(descriptor, content->bytes + content->size, size - content->size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return db_fail(context, DB_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0) break; /* the file became shorter meanwhile */
        content->size += (size_t)got;
    }
    return DB_OK;
}

static db_status read_stream(db_context *context, const char *path, int descriptor,
                             db_file_content *content) {
    size_t capacity = 0;
    for (;;) {
        if (capacity - content->size < 2) {
            if (capacity >= stream_limit)
                return db_fail(context, DB_ERROR_FILE,
                               "%s: not a regular file and longer than %zu bytes", path,
                               stream_limit);
            capacity = capacity ? 2 * capacity : (size_t)1 << 16;
            char *grown = realloc(content->bytes, capacity);
            if (!grown) return db_fail_memory(context, path);
            content->bytes = grown;
        }
        const ssize_t got =
            read(descriptor, content->bytes + content->size, capacity - content->size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return db_fail(context, DB_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0) return DB_OK;
        content->size += (size_t)got;
    }
}

static db_status read_descriptor(db_context *context, const char *path, int descriptor,
                                 db_file_content *content) {
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return db_fail(context, DB_ERROR_FILE, "%s: expected a file, found a directory", path);
    if (!S_ISREG(status.st_mode) || status.st_size == 0) /* files of /proc have size 0 */
        return read_stream(context, path, descriptor, content);
    if ((uint64_t)status.st_size > regular_file_limit)
        return db_fail(context, DB_ERROR_FILE, "%s: %llu bytes, more than the limit of %llu", path,
                       (unsigned long long)status.st_size, (unsigned long long)regular_file_limit);
    return read_regular(context, path, descriptor, (size_t)status.st_size, content);
}

static db_status refuse_compressed(db_context *context, const char *path,
                                   const db_file_content *content) {
    static const struct {
        const char *name;
        const char *program;
        const char *magic;
        size_t length;
    } formats[] = {
        { "gzip", "gunzip", "\x1f\x8b", 2 }, /* gzip, with an unknown method */
        { "bzip2", "bunzip2", "BZh", 3 },
        { "xz", "unxz",
          "\xfd"
          "7zXZ",
          5 },
        { "zstd", "unzstd", "\x28\xb5\x2f\xfd", 4 },
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (content->size >= formats[i].length &&
            memcmp(content->bytes, formats[i].magic, formats[i].length) == 0)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s: compressed with %s; decompress it first (%s)", path,
                           formats[i].name, formats[i].program);
    return DB_OK;
}

static db_status read_content(db_context *context, const char *path, db_file_content *content) {
    *content = (db_file_content){ 0 };
    if (!path || !*path)
        return db_fail(context, DB_ERROR_USAGE, "expected a file name, found none");
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
    db_status status = read_descriptor(context, path, descriptor, content);
    close(descriptor);
    if (status == DB_OK) {
        content->bytes[content->size] = '\0';
        status = db_is_gzip(content->bytes, content->size)
                     ? db_gzip_unpack(context, path, &content->bytes, &content->size)
                     : refuse_compressed(context, path, content);
    }
    if (status != DB_OK) db_file_content_clear(content);
    return status;
}

db_status db_file_content_read(db_context *context, const char *path, db_file_content *content) {
    DB_TRY_STAGE(context, "read files", read_content(context, path, content));
    return DB_OK;
}

void db_file_content_clear(db_file_content *content) {
    free(content->bytes);
    *content = (db_file_content){ 0 };
}
