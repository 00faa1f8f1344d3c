#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/output.h"

#include "cli/complaint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or errno: whether files can be created in the folder of a path. Cuts the path off behind the
 * folder. */
static int check_folder(char *path) {
    struct stat info;
    char *slash = strrchr(path, '/');
    const char *folder = !slash ? "." : slash == path ? "/" : path;
    if (slash) *slash = 0;
    if (stat(folder, &info) != 0) return errno;
    if (!S_ISDIR(info.st_mode)) return ENOTDIR;
    return access(folder, W_OK | X_OK) == 0 ? 0 : errno;
}

db_status db_output_check(const char *command, const char *flag, const char *path) {
    struct stat info;
    if (!path) return DB_OK;
    const int exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return db_complain(command, DB_ERROR_FILE, "%s %s: expected a file name, found a directory",
                           flag, path);
    int error = exists && access(path, W_OK) != 0 ? errno : 0;
    if (!error && !(exists && !S_ISREG(info.st_mode))) { /* a device is written in place */
        char *target = exists ? realpath(path, NULL) : strdup(path);
        if (!target) return db_complain(command, DB_ERROR_MEMORY, "out of memory for a path");
        error = check_folder(target);
        free(target);
    }
    if (!error) return DB_OK;
    return db_complain(command, DB_ERROR_FILE, "%s %s: cannot write there: %s", flag, path,
                       strerror(error));
}

char *db_output_path(const char *directory, const char *prefix, const char *name,
                     const char *suffix) {
    const size_t size = strlen(directory) + strlen(prefix) + strlen(name) + strlen(suffix) + 4;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s_%s.%s", directory, prefix, name, suffix);
    return path;
}

int db_output_has_png(void) { return strstr(db_features(), "PNG") != NULL; }
