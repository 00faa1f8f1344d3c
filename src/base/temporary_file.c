#define _POSIX_C_SOURCE 200809L
/* Temporary files, in a list for signal handlers. */
#include "base/path.h"
#include "base/temporary_file.h"

#include <dualbragg/expert/output_files.h>
#include <dualbragg/io.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* All temporary files of the process. Slots are reused and never freed. Whoever takes a file out of its slot owns
 * it: threads and a signal handler can meet here at any time. */
typedef struct slot {
    _Atomic(db_temporary *) file; /* NULL: free */
    struct slot *next;
} slot;

static _Atomic(slot *) slots;

/* Files that a signal handler has removed: a handler cannot free memory. */
static _Atomic(db_temporary *) removed;

/* 0 without memory. */
static int remember_temporary(db_temporary *file) {
    for (slot *s = atomic_load(&slots); s; s = s->next) {
        db_temporary *none = NULL;
        if (atomic_compare_exchange_strong(&s->file, &none, file)) return 1;
    }
    slot *const made = malloc(sizeof *made);
    if (!made) return 0;
    atomic_init(&made->file, file);
    made->next = atomic_load(&slots);
    while (!atomic_compare_exchange_weak(&slots, &made->next, made)) continue;
    return 1;
}

/* 0 if a signal handler has removed it. */
static int is_there(const db_temporary *file) {
    for (slot *s = atomic_load(&slots); s; s = s->next)
        if (atomic_load(&s->file) == file) return 1;
    return 0;
}

static int take_out(db_temporary *file) {
    for (slot *s = atomic_load(&slots); s; s = s->next) {
        db_temporary *found = file;
        if (atomic_compare_exchange_strong(&s->file, &found, NULL)) return 1;
    }
    return 0;
}

static void end(db_temporary **temporary, int remove_it) {
    db_temporary *const file = *temporary;
    *temporary = NULL;
    if (!file || !take_out(file)) return;
    if (remove_it) unlink(file->path);
    free(file);
}

void db_temporary_remove(db_temporary **temporary) { end(temporary, 1); }

void db_temporary_keep(db_temporary **temporary) { end(temporary, 0); }

void db_remove_unfinished_files(void) {
    const int error = errno;
    const long self = (long)getpid();
    for (slot *s = atomic_load(&slots); s; s = s->next) {
        db_temporary *const file = atomic_exchange(&s->file, NULL);
        if (!file) continue;
        if (file->owner == self) unlink(file->path);
        file->next = atomic_load(&removed);
        while (!atomic_compare_exchange_weak(&removed, &file->next, file)) continue;
    }
    errno = error;
}

/* A name that no other process uses on any machine; not the target's name with a suffix, which could be too long. */
static db_temporary *make_name(const char *beside) {
    static atomic_uint counter;
    const int folder_length = (int)db_folder_length(beside);
    const size_t size = (size_t)folder_length + 96;
    struct timespec now = { 0 };
    clock_gettime(CLOCK_REALTIME, &now);
    db_temporary *const file = malloc(sizeof *file + size);
    if (!file) return NULL;
    file->owner = (long)getpid();
    snprintf(file->path, size, "%.*s.dualbragg-%ld-%lx%lx-%u.tmp", folder_length, beside,
             file->owner, (unsigned long)now.tv_sec, (unsigned long)now.tv_nsec,
             atomic_fetch_add(&counter, 1));
    return file;
}

db_temporary *db_temporary_adopt(const char *path) {
    const size_t size = strlen(path) + 1;
    db_temporary *const file = malloc(sizeof *file + size);
    if (!file) return NULL;
    file->owner = (long)getpid();
    memcpy(file->path, path, size);
    if (remember_temporary(file)) return file;
    free(file);
    return NULL;
}

int db_temporary_create(const char *beside, unsigned mode, db_temporary **temporary) {
    db_temporary *const file = *temporary = make_name(beside);
    if (!file ||
        !remember_temporary(file)) { /* listed before it exists, so that a handler can remove it */
        free(file);
        *temporary = NULL;
        errno = ENOMEM;
        return -1;
    }
    const int descriptor = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0) {
        const int error = errno;
        db_temporary_keep(temporary); /* a file of this name is not ours */
        errno = error;
        return -1;
    }
    if (is_there(file)) return descriptor;
    close(descriptor); /* a signal handler ran before the file existed */
    unlink(file->path);
    *temporary = NULL;
    errno = EINTR;
    return -1;
}
