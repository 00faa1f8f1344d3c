#include "bench/scratch_folder.h"

#include "base/context_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

db_status db_bench_scratch_create(db_context *context, char path[DB_BENCH_PATH_SIZE]) {
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent) parent = P_tmpdir;
    char *absolute = realpath(parent, NULL);
    int length = 0, error = absolute ? 0 : errno;
    *path = '\0';
    if (!error) length = snprintf(path, DB_BENCH_PATH_SIZE, "%s/dualbragg_bench.XXXXXX", absolute);
    free(absolute);
    if (length >= DB_BENCH_PATH_SIZE) error = ENAMETOOLONG;
    if (!error && !mkdtemp(path)) error = errno;
    if (!error) return DB_OK;
    *path = '\0';
    return db_fail(context, DB_ERROR_FILE, "%s: a folder for temporary files cannot be made: %s",
                   parent, strerror(error));
}

void db_bench_scratch_empty(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}

void db_bench_scratch_remove(char *path) {
    if (!*path) return;
    db_bench_scratch_empty(path);
    rmdir(path);
    *path = '\0';
}
