/* Files that a refinement reads, and the lock of its outputs. */
#define _XOPEN_SOURCE 700
#include "fit/cli/fit_run.h"

#include "cli/complaint.h"
#include "base/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OWNER_SIZE = 256 };

static struct flock whole_file(void) {
    return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

/* "process 17 on HOST, since 2025-01-31T12:00:00Z" */
static void write_owner(int file) {
    char text[OWNER_SIZE], host[128] = "", date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(text, sizeof text, "process %ld on %s, since %s\n", (long)getpid(), host, date);
    /* The text is for people; the lock does not need it. */
    if (ftruncate(file, 0) != 0 || pwrite(file, text, strlen(text), 0) < 0) errno = 0;
}

static db_status refuse_locked(const db_run_lock *lock, const char *prefix) {
    char owner[OWNER_SIZE] = "";
    struct flock other = whole_file();
    const ssize_t size = pread(lock->file, owner, sizeof owner - 1, 0);
    owner[size > 0 ? size : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
    if (!*owner && fcntl(lock->file, F_GETLK, &other) == 0 && other.l_pid > 0)
        snprintf(owner, sizeof owner, "process %ld", (long)other.l_pid);
    return db_complain("fit", DB_ERROR_FILE,
                       "output %s: another run is writing there (%s; %s is locked); choose another "
                       "--output, or wait until it has ended",
                       prefix, *owner ? owner : "of another computer", lock->path);
}

/* Is the locked file still the one with this name? A run that ends removes it. */
static int is_current(const db_run_lock *lock) {
    struct stat locked, named;
    return fstat(lock->file, &locked) == 0 && stat(lock->path, &named) == 0 &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

static void close_file(db_run_lock *lock) {
    close(lock->file);
    lock->file = 0;
}

db_status db_run_lock_take(db_run_lock *lock, const char *prefix) {
    /* A run that was killed may need a moment to disappear. */
    const struct timespec a_while = { .tv_nsec = 100000000 };
    int patience = 10;
    snprintf(lock->path, sizeof lock->path, "%s.lock", prefix);
    for (;;) {
        struct flock wanted = whole_file();
        lock->file = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->file < 0) {
            lock->file = 0;
            return db_complain("fit", DB_ERROR_FILE, "%s: cannot be created: %s", lock->path,
                               strerror(errno));
        }
        if (fcntl(lock->file, F_SETLK, &wanted) != 0) {
            const int error = errno;
            if ((error == EACCES || error == EAGAIN) && patience-- > 0) {
                close_file(lock);
                nanosleep(&a_while, NULL);
                continue;
            }
            if (error == EACCES || error == EAGAIN) {
                const db_status status = refuse_locked(lock, prefix);
                close_file(lock);
                return status;
            }
            db_remark("fit",
                      "%s: this file system has no locks (%s): another run with this "
                      "--output would not be noticed",
                      lock->path, strerror(error));
            return DB_OK;
        }
        if (is_current(lock)) break;
        close_file(lock);
    }
    lock->name = db_temporary_adopt(lock->path); /* without memory a signal leaves the file
                                                    behind */
    write_owner(lock->file);
    return DB_OK;
}

void db_run_lock_release(db_run_lock *lock) {
    if (!lock->file) return;
    db_temporary_keep(&lock->name); /* so that no signal handler removes the next owner's file */
    unlink(lock->path);             /* before others can lock it */
    close_file(lock);
}
