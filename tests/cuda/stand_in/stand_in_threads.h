/* What a kernel knows of itself, on the stand-in: which thread of which block is running. */
#ifndef STAND_IN_THREADS_H
#define STAND_IN_THREADS_H

#include <stdint.h>

double *block_memory(void);
void block_barrier(void);
uint32_t job_number(void);
uint32_t block_number(void);
uint32_t thread_number(void);
uint32_t thread_count(void);

/* A kernel whose parameter is an array of arguments, for the jobs in y of the grid. */
void stand_in_note_many(const void *kernel);

#endif
