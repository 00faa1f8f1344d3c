#define _POSIX_C_SOURCE 200809L
#include "fit/scratch_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *scratch_path(const char *name) {
    static char paths[4][256];
    static int next;
    static char folder[64];
    if (!*folder) {
        snprintf(folder, sizeof folder, "fit_scratch_%ld", (long)getpid());
        mkdir(folder, 0777);
    }
    char *const path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *scratch_file(const char *name, const char *text) {
    const char *const path = scratch_path(name);
    FILE *const file = fopen(path, "w");
    if (!file || fputs(text, file) == EOF || fclose(file) != 0) abort();
    return path;
}

char *read_whole_file(const char *path) {
    FILE *const file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *const text = size < 0 ? NULL : calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        fclose(file);
        return NULL;
    }
    fclose(file);
    return text;
}
