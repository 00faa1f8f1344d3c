#include "kernel/amplitude_sums.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 10, MOST_BITS = 31 };

/* Twice the room; places are at most half filled, so that a search for one ends soon. */
static int grow_list(db_amplitude_sums *sums) {
    const int bits = sums->room ? sums->bits + 1 : FIRST_BITS;
    const size_t room = (size_t)1 << (bits - 1);
    if (bits > MOST_BITS) return 0;
    uint32_t *const place = calloc((size_t)1 << bits, sizeof *place);
    uint32_t *const entry = realloc(sums->entry, room * sizeof *entry);
    if (entry) sums->entry = entry;
    double *const sum = realloc(sums->sum, room * sizeof *sum);
    if (sum) sums->sum = sum;
    if (!place || !entry || !sum) {
        free(place);
        return 0;
    }
    free(sums->place);
    sums->place = place;
    sums->room = room;
    sums->bits = bits;
    for (size_t i = 0; i < sums->count; i++) {
        size_t at = db_amplitude_place(sums, entry[i]);
        while (place[at]) at = (at + 1) & (((size_t)1 << bits) - 1);
        place[at] = (uint32_t)i + 1;
    }
    return 1;
}

int db_amplitude_sums_begin(db_amplitude_sums *sums) {
    sums->count = 0;
    sums->failed = 0;
    if (!sums->room) return grow_list(sums);
    memset(sums->place, 0, sizeof *sums->place << sums->bits);
    return 1;
}

void db_amplitude_sums_append(db_amplitude_sums *sums, uint32_t entry, double value) {
    if (sums->count == sums->room && !grow_list(sums)) {
        sums->failed = 1;
        return;
    }
    const size_t mask = ((size_t)1 << sums->bits) - 1;
    size_t at = db_amplitude_place(sums, entry);
    while (sums->place[at]) at = (at + 1) & mask;
    sums->entry[sums->count] = entry;
    sums->sum[sums->count] = value;
    sums->place[at] = (uint32_t)++sums->count;
}

void db_amplitude_sums_clear(db_amplitude_sums *sums) {
    free(sums->entry);
    free(sums->sum);
    free(sums->place);
    *sums = (db_amplitude_sums){ 0 };
}
