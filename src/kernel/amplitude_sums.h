/* Sums by structure factor over the pixels of some tiles. Few entries of a large table occur there: the sums are a
 * list, in the order of first occurrence, and found by hashing. The list depends on the order of the pixels only. */
#ifndef DB_KERNEL_AMPLITUDE_SUMS_H
#define DB_KERNEL_AMPLITUDE_SUMS_H

#include <stddef.h>
#include <stdint.h>

typedef struct db_amplitude_sums {
    uint32_t *entry; /* [count]: entries of the table */
    double *sum;     /* [count]: sums of these entries */
    size_t count, room;
    uint32_t *place; /* [1 << bits]: number in the list + 1, where an entry's hash leads; 0: free */
    int bits;
    int failed; /* 1: without memory; sums are missing */
} db_amplitude_sums;

/* Makes the list empty and its places free; 0 without memory. */
int db_amplitude_sums_begin(db_amplitude_sums *sums);

/* Adds an entry that is not in the list. */
void db_amplitude_sums_append(db_amplitude_sums *sums, uint32_t entry, double value);

void db_amplitude_sums_clear(db_amplitude_sums *sums);

/* Multiplication by 2^32 over the golden ratio spreads neighbours evenly. */
static inline size_t db_amplitude_place(const db_amplitude_sums *sums, uint32_t entry) {
    return (entry * 2654435769U) >> (32 - sums->bits);
}

static inline void db_amplitude_sums_add(db_amplitude_sums *sums, uint32_t entry, double value) {
    const size_t mask = ((size_t)1 << sums->bits) - 1;
    for (size_t at = db_amplitude_place(sums, entry);; at = (at + 1) & mask) {
        const uint32_t number = sums->place[at];
        if (number == 0) break;
        if (sums->entry[number - 1] != entry) continue;
        sums->sum[number - 1] += value;
        return;
    }
    db_amplitude_sums_append(sums, entry, value);
}

#endif
