/* The mask that was read last. */
#define _POSIX_C_SOURCE 200809L
#if defined(DB_HAVE_HDF5)
#include "io/nexus/kept_mask.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct run {
    uint32_t first, count, value;
} run;

static struct {
    db_file_state key;
    run *runs;
    size_t count;
} kept;

int db_file_state_get(const db_hdf5_object *mask, size_t pixels, int threshold,
                      db_file_state *key) {
    struct stat file;
    memset(key, 0, sizeof *key);
    if (!db_hdf5_is_in_file(mask) || stat(mask->file, &file) != 0) return 0;
    key->device = file.st_dev;
    key->inode = file.st_ino;
    key->size = file.st_size;
    key->changed.tv_sec = file.st_mtim.tv_sec;
    key->changed.tv_nsec = file.st_mtim.tv_nsec;
    key->threshold = threshold;
    key->pixels = pixels;
    snprintf(key->name, sizeof key->name, "%s", mask->name);
    return 1;
}

int db_file_state_same(const db_file_state *own, const db_file_state *key) {
    return own->pixels == key->pixels && own->threshold == key->threshold &&
           own->device == key->device && own->inode == key->inode && own->size == key->size &&
           own->changed.tv_sec == key->changed.tv_sec &&
           own->changed.tv_nsec == key->changed.tv_nsec && strcmp(own->name, key->name) == 0;
}

int db_kept_mask_apply(const db_file_state *key, uint8_t *mask) {
    if (!key->pixels || !db_file_state_same(&kept.key, key)) return 0;
    for (size_t i = 0; i < kept.count; i++)
        memset(mask + kept.runs[i].first, (int)kept.runs[i].value, kept.runs[i].count);
    return 1;
}

/* The next masked pixel; skips eight pixels at a time. */
static size_t next_masked(const uint8_t *mask, size_t at, size_t count) {
    uint64_t word = 0;
    for (; at < count && at % 8; at++)
        if (mask[at]) return at;
    for (; at + 8 <= count; at += 8) {
        memcpy(&word, mask + at, sizeof word);
        if (word) break;
    }
    while (at < count && !mask[at]) at++;
    return at;
}

/* The number of runs of masked pixels; 0 and no runs if there are more than `room`. */
static size_t find_runs(const uint8_t *mask, size_t count, run *runs, size_t room) {
    size_t found = 0;
    for (size_t at = next_masked(mask, 0, count); at < count; at = next_masked(mask, at, count)) {
        const size_t first = at;
        while (at < count && mask[at] == mask[first]) at++;
        if (found == room) return 0;
        runs[found++] = (run){ (uint32_t)first, (uint32_t)(at - first), mask[first] };
    }
    return found;
}

void db_kept_mask_set(const db_file_state *key, const uint8_t *mask) {
    enum { MOST_RUNS = 1 << 20 };
    run *const runs = malloc(MOST_RUNS * sizeof *runs);
    if (!runs) return;
    const size_t count = find_runs(mask, key->pixels, runs, MOST_RUNS);
    run *const fitted = count ? realloc(runs, count * sizeof *runs) : NULL;
    if (!fitted) {
        free(runs);
        return;
    }
    free(kept.runs);
    kept.runs = fitted;
    kept.count = count;
    kept.key = *key;
}
#else
typedef int db_without_kept_mask;
#endif
