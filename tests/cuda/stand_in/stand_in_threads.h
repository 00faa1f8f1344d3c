/* What a kernel knows of itself, on the stand-in: which thread of which block is running. */
#ifndef STAND_IN_THREADS_H
#define STAND_IN_THREADS_H

#include <stdint.h>

double *block_memory(void);
void block_barrier(void);
uint32_t block_number(void);
uint32_t thread_number(void);
uint32_t thread_count(void);
void warp_barrier(void);
uint32_t warp_ballot(int vote);

/* threads take turns at barriers alone */
static inline uint32_t atomic_add_32(uint32_t *to, uint32_t n) { return (*to += n) - n; }
static inline uint64_t atomic_add_64(uint64_t *to, uint64_t n) { return (*to += n) - n; }
static inline void atomic_min_64(uint64_t *to, uint64_t n) {
    if (n < *to) *to = n;
}

#endif
