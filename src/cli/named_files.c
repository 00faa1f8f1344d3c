#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/named_files.h"

#include "cli/complaint.h"
#include "cli/standard_streams.h"
#include "base/growth.h"
#include "base/frame_name.h"
#include "base/output_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct db_named_file {
    db_file_role role;
    size_t number; /* in the order of naming */
    char *name;    /* name in messages */
    /* identity of the file: an existing one, or its path */
    dev_t device;
    ino_t node;
    char *path; /* path of a new file; else NULL */
};
typedef struct db_named_file named_file;

/* 0: the name cannot meet another file: a device, or an impossible path. */
static int identify_file(const char *path, named_file *file, int *descriptor) {
    db_output_target target;
    const int error = db_output_target_find(path, &target);
    const mode_t mode = target.status.st_mode;
    const int device = target.kind != DB_TARGET_NEW && (S_ISCHR(mode) || S_ISBLK(mode));
    int known = !error && target.kind != DB_TARGET_FOLDER;
    *descriptor = target.descriptor;
    if (known && target.kind == DB_TARGET_NEW) {
        file->path = target.path;
        target.path = NULL;
    } else if (known && target.kind == DB_TARGET_DESCRIPTOR && device) {
        file->node = (ino_t)target.descriptor; /* one terminal, but two streams */
        file->path = strdup("");
        known = file->path != NULL;
    } else {
        file->device = target.status.st_dev;
        file->node = target.status.st_ino;
        known &= !device;
    }
    db_output_target_clear(&target);
    return known;
}

static char *name_of(const char *flag, const char *path) {
    if (strcmp(path, DB_STANDARD_OUTPUT) == 0) path = "-";
    const size_t size = strlen(flag) + strlen(path) + 2;
    char *const name = malloc(size);
    if (name) snprintf(name, size, "%s%s%s", flag, *path ? " " : "", path);
    return name;
}

static void add_file(db_named_files *files, named_file file, const char *flag, const char *path) {
    named_file *const grown =
        db_grown(files->file, &files->capacity, files->count + 1, sizeof *grown);
    if (grown) files->file = grown;
    file.name = name_of(flag, path);
    if (!file.name || !grown) {
        files->incomplete = 1;
        free(file.name);
        free(file.path);
        return;
    }
    file.number = files->count;
    files->file[files->count++] = file;
}

void db_named_files_add(db_named_files *files, db_file_role role, const char *flag,
                        const char *path) {
    named_file file = { .role = role };
    int descriptor;
    if (!path || !*path) return;
    char whole[4096];
    if (role == DB_ROLE_INPUT && db_frame_split(path, whole, sizeof whole) != 0) path = whole;
    const int known = identify_file(path, &file, &descriptor);
    files->takes_output |= role == DB_ROLE_OUTPUT && descriptor == STDOUT_FILENO;
    if (known) add_file(files, file, flag, path);
}

void db_named_files_add_printed(db_named_files *files) {
    named_file file = { .role = DB_ROLE_OUTPUT };
    int descriptor;
    if (!files->takes_output && identify_file(DB_STANDARD_OUTPUT, &file, &descriptor))
        add_file(files, file, "standard output", "");
}

/* By file; names of one file by role, outputs first, and in the order of naming. */
static int compare_files(const named_file *a, const named_file *b) {
    if (!a->path != !b->path) return a->path ? 1 : -1;
    const int paths = a->path ? strcmp(a->path, b->path) : 0;
    return paths                    ? paths
           : a->device != b->device ? (a->device > b->device) - (a->device < b->device)
                                    : (a->node > b->node) - (a->node < b->node);
}

static int by_file(const void *first, const void *second) {
    const named_file *const a = first;
    const named_file *const b = second;
    const int files = compare_files(a, b);
    return files                ? files
           : a->role != b->role ? (a->role == DB_ROLE_OUTPUT ? -1 : 1)
                                : (a->number > b->number) - (a->number < b->number);
}

static db_status refuse_file(const char *command, const named_file *output,
                             const named_file *other) {
    if (other->role == DB_ROLE_OUTPUT)
        return db_complain(command, DB_ERROR_USAGE, "%s and %s are one file; expected two",
                           output->name, other->name);
    return db_complain(command, DB_ERROR_USAGE,
                       "%s would replace the input of %s; choose another name", output->name,
                       other->name);
}

db_status db_named_files_check(const char *command, db_named_files *files) {
    db_status status = DB_OK;
    if (files->incomplete)
        status = db_complain(command, DB_ERROR_MEMORY, "out of memory for names of files");
    if (files->count) qsort(files->file, files->count, sizeof *files->file, by_file);
    size_t end = 0;
    for (size_t i = 0; i < files->count && status == DB_OK; i = end) {
        for (end = i + 1; end < files->count; end++)
            if (compare_files(&files->file[i], &files->file[end]) != 0) break;
        if (end > i + 1 && files->file[i].role == DB_ROLE_OUTPUT)
            status = refuse_file(command, &files->file[i], &files->file[end - 1]);
    }
    db_named_files_clear(files);
    return status;
}

void db_named_files_clear(db_named_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        free(files->file[i].name);
        free(files->file[i].path);
    }
    free(files->file);
    *files = (db_named_files){ 0 };
}
