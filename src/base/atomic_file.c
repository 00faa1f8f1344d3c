#define _POSIX_C_SOURCE 200809L
/* Files that are written completely, or not at all. */
#include "base/atomic_file.h"

#include "base/context_internal.h"
#include "base/output_target.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/text_file.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or errno. */
static int write_all(int descriptor, const db_file_part *part) {
    const char *bytes = part->bytes;
    size_t done = 0;
    while (done < part->size) {
        const ssize_t written = write(descriptor, bytes + done, part->size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        if (written == 0) return ENOSPC; /* a device that is full without an error */
        done += (size_t)written;
    }
    return 0;
}

static db_status write_and_close(db_context *context, const char *path, int descriptor,
                                 db_part_source next, void *user) {
    db_file_part part = { NULL, 0 };
    db_status status;
    int error = 0;
    while ((status = next(user, &part)) == DB_OK && part.size && !error)
        error = write_all(descriptor, &part);
    /* Some file systems report a full disk only here. */
    if (close(descriptor) != 0 && !error && errno != EINTR) error = errno;
    if (error)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot write: %s", path, strerror(error));
    return status;
}

/* Writes to an open file, from its present place. */
static db_status write_directly(db_context *context, const char *path,
                                const db_output_target *target, db_part_source next, void *user) {
    const int descriptor = target->kind == DB_TARGET_DESCRIPTOR
                               ? fcntl(target->descriptor, F_DUPFD_CLOEXEC, 0)
                               : open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open for writing: %s", path,
                       strerror(errno));
    return write_and_close(context, path, descriptor, next, user);
}

/* The descriptor of a new file beside the target, or -1 with a message. */
static int create_beside(db_context *context, const char *path, const db_output_target *target,
                         db_temporary **temporary) {
    const int descriptor = db_temporary_create(target->path, 0666, temporary);
    if (descriptor < 0)
        db_record_message(context, "%s: cannot create a file in its folder: %s", path,
                          strerror(errno));
    /* An overwritten file keeps its permissions; if that is refused, the default ones do no harm. */
    else if (target->kind == DB_TARGET_FILE &&
             fchmod(descriptor, target->status.st_mode & 07777) != 0)
        errno = 0;
    return descriptor;
}

static db_status rename_or_remove(db_context *context, const char *path, const char *target,
                                  db_temporary **temporary, db_status status) {
    if (status == DB_OK && rename((*temporary)->path, target) != 0)
        status = db_fail(context, DB_ERROR_FILE, "%s: cannot write: %s", path, strerror(errno));
    if (status == DB_OK)
        db_temporary_keep(temporary);
    else
        db_temporary_remove(temporary);
    return status;
}

static db_status write_and_rename(db_context *context, const char *path,
                                  const db_output_target *target, db_part_source next, void *user) {
    db_temporary *temporary;
    const int descriptor = create_beside(context, path, target, &temporary);
    if (descriptor < 0) return DB_ERROR_FILE;
    const db_status status = write_and_close(context, path, descriptor, next, user);
    return rename_or_remove(context, path, target->path, &temporary, status);
}

static db_status check_target(db_context *context, const char *path,
                              const db_output_target *target) {
    if (target->kind == DB_TARGET_FOLDER)
        return db_fail(context, DB_ERROR_FILE,
                       "%s: expected the name of a file to write, found a directory", path);
    /* a rename alone would ignore a write protection */
    if (target->kind == DB_TARGET_FILE && access(path, W_OK) != 0)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot write: %s", path, strerror(errno));
    return DB_OK;
}

static db_status write_to(db_context *context, const char *path, const db_output_target *target,
                          db_part_source next, void *user) {
    DB_TRY(check_target(context, path, target));
    if (target->kind == DB_TARGET_STREAM || target->kind == DB_TARGET_DESCRIPTOR)
        return write_directly(context, path, target, next, user);
    return write_and_rename(context, path, target, next, user);
}

static db_status begin_beside(db_context *context, const char *path, db_output_target *target,
                              db_pending_file *pending) {
    DB_TRY(check_target(context, path, target));
    if (target->kind == DB_TARGET_STREAM || target->kind == DB_TARGET_DESCRIPTOR)
        return db_fail(context, DB_ERROR_FILE,
                       "%s: expected the name of a file, found a device or pipe, which HDF5 files "
                       "cannot be written to",
                       path);
    const int descriptor = create_beside(context, path, target, &pending->temporary);
    if (descriptor < 0) return DB_ERROR_FILE;
    close(descriptor);
    pending->target = target->path;
    target->path = NULL;
    return DB_OK;
}

db_status db_pending_begin(db_context *context, const char *path, db_pending_file *pending) {
    *pending = (db_pending_file){ NULL, NULL };
    db_output_target target;
    const int error = db_output_target_find(path, &target);
    const db_status status =
        error ? db_fail(context, DB_ERROR_FILE, "%s: cannot write: %s", path, strerror(error))
              : begin_beside(context, path, &target, pending);
    db_output_target_clear(&target);
    return status;
}

db_status db_pending_end(db_context *context, const char *path, db_pending_file *pending,
                         db_status status) {
    if (pending->temporary)
        status = rename_or_remove(context, path, pending->target, &pending->temporary, status);
    free(pending->target);
    pending->target = NULL;
    return status;
}

static db_status write_atomically(db_context *context, const char *path, db_part_source next,
                                  void *user) {
    if (!path || !*path)
        return db_fail(context, DB_ERROR_USAGE, "expected a file name, found none");
    db_output_target target;
    const int error = db_output_target_find(path, &target);
    const db_status status =
        error ? db_fail(context, DB_ERROR_FILE, "%s: cannot write: %s", path, strerror(error))
              : write_to(context, path, &target, next, user);
    db_output_target_clear(&target);
    return status;
}

db_status db_write_atomically_from(db_context *context, const char *path, db_part_source next,
                                   void *user) {
    DB_TRY_STAGE(context, "write files", write_atomically(context, path, next, user));
    return DB_OK;
}

typedef struct part_list {
    const db_file_part *next;
    const db_file_part *end;
} part_list;

static db_status next_of_list(void *user, db_file_part *part) {
    part_list *const list = user;
    while (list->next < list->end && list->next->size == 0) list->next++;
    *part = list->next < list->end ? *list->next++ : (db_file_part){ NULL, 0 };
    return DB_OK;
}

db_status db_write_atomically(db_context *context, const char *path, const db_file_part *parts,
                              size_t part_count) {
    part_list list = { parts, parts + part_count };
    return db_write_atomically_from(context, path, next_of_list, &list);
}

db_status db_write_text(db_context *context, const char *path, const char *text, size_t length) {
    const db_file_part part = { text, length };
    return db_write_atomically(context, path, &part, 1);
}
