#define _XOPEN_SOURCE 700 /* realpath */
/* Target of a written file: follows links, recognizes devices. */
#include "base/output_target.h"
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as the kernel's limit */

/* Number of /dev/stdout, /dev/fd/3; -1: another path. */
static int descriptor_of(const char *path) {
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0) continue;
        const char *const digits = path + length;
        const size_t count = strspn(digits, "0123456789");
        if (count && count < 8 && !digits[count]) return atoi(digits);
    }
    return -1;
}

char *db_path_beside(const char *beside, const char *name) {
    const size_t folder = *name == '/' ? 0 : db_folder_length(beside);
    const size_t length = strlen(name);
    char *const joined = malloc(folder + length + 1);
    if (!joined) return NULL;
    memcpy(joined, beside, folder);
    memcpy(joined + folder, name, length + 1);
    return joined;
}

/* Target of a link, relative to the link's folder; NULL and errno. */
static char *follow_link(const char *link) {
    char text[4097];
    const ssize_t length = readlink(link, text, sizeof text - 1);
    if (length < 0) return NULL;
    text[length] = '\0';
    return db_path_beside(link, text);
}

/* Absolute path without links of a new file in an existing folder. NULL and errno. */
static char *new_file(const char *path) {
    const size_t length = db_folder_length(path);
    const char *const name = path + length;
    char *const above = length ? strndup(path, length) : strdup("./");
    char *const folder = above ? realpath(above, NULL) : NULL;
    char *whole = NULL;
    if (folder) {
        const size_t size = strlen(folder) + strlen(name) + 2;
        whole = malloc(size);
        if (whole) snprintf(whole, size, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    }
    free(folder);
    free(above);
    return whole;
}

/* Follows links to their end. NULL and errno. */
static char *end_of_links(const char *path) {
    char *name = strdup(path);
    for (int links = 0; name; links++) {
        struct stat status;
        if (descriptor_of(name) >= 0 || lstat(name, &status) != 0 || !S_ISLNK(status.st_mode))
            return name;
        char *const next = links < MOST_LINKS ? follow_link(name) : NULL;
        const int error = links < MOST_LINKS ? errno : ELOOP;
        free(name);
        name = next;
        errno = error;
    }
    return NULL;
}

static int examine(const char *name, int exists, db_output_target *target) {
    const mode_t mode = target->status.st_mode;
    target->descriptor = descriptor_of(name);
    if (target->descriptor >= 0) {
        target->kind = DB_TARGET_DESCRIPTOR;
        return fstat(target->descriptor, &target->status) == 0 ? 0 : errno;
    }
    target->kind = !exists         ? DB_TARGET_NEW
                   : S_ISDIR(mode) ? DB_TARGET_FOLDER
                   : S_ISREG(mode) ? DB_TARGET_FILE
                                   : DB_TARGET_STREAM;
    if (target->kind != DB_TARGET_NEW && target->kind != DB_TARGET_FILE) return 0;
    target->path = exists ? realpath(name, NULL) : new_file(name);
    return target->path ? 0 : errno;
}

int db_output_target_find(const char *path, db_output_target *target) {
    *target = (db_output_target){ .kind = DB_TARGET_NEW, .descriptor = -1 };
    /* the system first: it reports circles of links, and links that may not be followed */
    const int exists = stat(path, &target->status) == 0;
    if (!exists && errno != ENOENT) return errno;
    char *const name = end_of_links(path);
    if (!name) return errno;
    const int error = examine(name, exists, target);
    free(name);
    return error;
}

void db_output_target_clear(db_output_target *target) {
    free(target->path);
    target->path = NULL;
}
