#define _POSIX_C_SOURCE 200809L
#include "cli/output.h"

#include "cli/complaint.h"
#include "cli/standard_streams.h"
#include "base/output_target.h"

#include <dualbragg/version.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 0, or errno: whether the file can be created or replaced. */
static int check_target(const char *path, const db_output_target *target) {
    if (target->kind == DB_TARGET_DESCRIPTOR) return 0;
    if (target->kind != DB_TARGET_NEW && access(path, W_OK) != 0) return errno;
    if (!target->path) return 0; /* written in place */
    char *const slash = strrchr(target->path, '/');
    slash[slash == target->path] = 0; /* its folder */
    return access(target->path, W_OK | X_OK) == 0 ? 0 : errno;
}

db_status db_output_check(const char *command, const char *flag, const char *path) {
    db_output_target target;
    if (!path) return DB_OK;
    int error = db_output_target_find(path, &target);
    const int folder = !error && target.kind == DB_TARGET_FOLDER;
    if (!error && !folder) error = check_target(path, &target);
    db_output_target_clear(&target);
    if (folder)
        return db_complain(command, DB_ERROR_FILE, "%s %s: expected a file name, found a directory",
                           flag, path);
    if (!error) return DB_OK;
    return db_complain(command, DB_ERROR_FILE, "%s %s: cannot write there: %s", flag, path,
                       strerror(error));
}

db_status db_output_check_image(const char *command, const char *flag, const char *path) {
    if (path && strcmp(path, DB_STANDARD_OUTPUT) == 0 && isatty(STDOUT_FILENO))
        return db_complain(command, DB_ERROR_USAGE,
                           "%s: expected a file or a pipe; standard output is a terminal", flag);
    return db_output_check(command, flag, path);
}

char *db_output_path(const char *directory, const char *prefix, const char *name,
                     const char *suffix) {
    const size_t size = strlen(directory) + strlen(prefix) + strlen(name) + strlen(suffix) + 4;
    char *path = malloc(size);
    if (path && *prefix == '/')
        snprintf(path, size, "%s_%s.%s", prefix, name, suffix);
    else if (path)
        snprintf(path, size, "%s/%s_%s.%s", directory, prefix, name, suffix);
    return path;
}

int db_output_has_png(void) { return strstr(db_features(), "PNG") != NULL; }
