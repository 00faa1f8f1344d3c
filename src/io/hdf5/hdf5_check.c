/* The check of HDF5 files; remembers the files that were checked. */
#define _POSIX_C_SOURCE 200809L
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_check.h"

#include "base/context_internal.h"
#include "io/hdf5/hdf5_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 8 };                            /* that are remembered */
static const size_t MOST_REMEMBERED = 1 << 20; /* addresses */

static db_hdf5_parts remembered[FILES];
static uint64_t now;

static void close_file(db_hdf5_parts *p) {
    if (p->descriptor >= 0) close(p->descriptor);
    p->descriptor = -1;
    free(p->pages);
    free((void *)p->heap.view.bytes);
    free(p->heap.at);
    p->heap = (db_hdf5_heap){ .at = NULL };
    p->loaded = 0;
    p->pages = NULL;
    memset(p->page, 0, sizeof p->page);
}

static void forget(db_hdf5_parts *p) {
    if (!p->path) return;
    close_file(p);
    free(p->path);
    free(p->seen);
    free(p->sources);
    *p = (db_hdf5_parts){ .descriptor = -1 };
}

void db_hdf5_check_end(void) {
    for (size_t i = 0; i < FILES; i++) {
        if (!remembered[i].path) continue;
        close_file(&remembered[i]);
        if (remembered[i].seen_count > MOST_REMEMBERED) forget(&remembered[i]);
    }
}

static int is_unchanged(const db_hdf5_parts *p, const struct stat *s) {
    return p->device == s->st_dev && p->inode == s->st_ino && p->size == (uint64_t)s->st_size &&
           p->changed.tv_sec == s->st_mtim.tv_sec && p->changed.tv_nsec == s->st_mtim.tv_nsec;
}

static db_hdf5_parts *find_remembered(const char *path) {
    for (size_t i = 0; i < FILES; i++)
        if (remembered[i].path && strcmp(remembered[i].path, path) == 0) return &remembered[i];
    return NULL;
}

/* Opens the file, or takes it if it is open; *known 1: its first block and root were found sound before. */
static db_status open_file(db_context *context, const char *path, db_hdf5_parts **found,
                           int *known) {
    db_hdf5_parts *p = find_remembered(path);
    struct stat status;
    *known = 1;
    *found = p;
    if (p && p->descriptor >= 0) return DB_OK;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        const int reason = errno;
        if (descriptor >= 0) close(descriptor);
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", path, strerror(reason));
    }
    if (p && is_unchanged(p, &status)) {
        p->descriptor = descriptor;
        return DB_OK;
    }
    for (size_t i = 0; i < FILES && !p; i++)
        if (!remembered[i].path) p = &remembered[i];
    for (size_t i = 0; i < FILES && !(p && (!p->path || strcmp(p->path, path) == 0)); i++)
        if (!p || remembered[i].used < p->used) p = &remembered[i];
    forget(p);
    *p = (db_hdf5_parts){ .path = strdup(path),
                          .descriptor = descriptor,
                          .device = status.st_dev,
                          .inode = status.st_ino,
                          .changed = status.st_mtim,
                          .size = (uint64_t)status.st_size,
                          .check_header = db_hdf5_check_header };
    *known = 0;
    *found = p;
    if (p->path) return DB_OK;
    close_file(p);
    return db_fail_memory(context, path);
}

static db_status fail_unsound(db_context *context, db_hdf5_parts *p, const char *what) {
    const db_status status =
        db_fail(context, DB_ERROR_INPUT, "%s: %s: %s", p->path, what, p->reason);
    forget(p);
    return status;
}

static db_status open_sound(db_context *context, const char *path, db_hdf5_parts **found) {
    int known;
    DB_TRY(open_file(context, path, found, &known));
    (*found)->used = ++now;
    if (known || db_hdf5_check_start(*found)) return DB_OK;
    return fail_unsound(context, *found, "expected an HDF5 file, found a damaged one");
}

db_status db_hdf5_check_file(db_context *context, const char *path) {
    db_hdf5_parts *p;
    return open_sound(context, path, &p);
}

db_status db_hdf5_check_object(db_context *context, const char *path, uint64_t address,
                               const char *where, char **sources, size_t *size) {
    db_hdf5_parts *p;
    char what[400];
    *sources = NULL;
    *size = 0;
    DB_TRY(open_sound(context, path, &p));
    if (db_hdf5_check_header(p, address, 0)) {
        *sources = p->sources;
        *size = p->sources_size;
        p->sources = NULL;
        p->sources_size = 0;
        return DB_OK;
    }
    snprintf(what, sizeof what, "%.380s: damaged", where);
    return fail_unsound(context, p, what);
}
#else
typedef int db_without_hdf5_check;
#endif
