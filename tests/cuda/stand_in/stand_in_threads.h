/* What a kernel knows of itself, on the stand-in: which thread of which block is running. */
#ifndef STAND_IN_THREADS_H
#define STAND_IN_THREADS_H

#include <stdint.h>

double *block_memory(void);
void block_barrier(void);
uint32_t block_number(void);
uint32_t thread_number(void);
uint32_t thread_count(void);

#endif
