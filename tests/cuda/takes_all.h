/* On the stand-in "auto" takes the GPU for work of any size. */
#ifndef DB_TESTS_CUDA_TAKES_ALL_H
#define DB_TESTS_CUDA_TAKES_ALL_H

#if defined(DB_ON_GPU)
static inline void machine_takes_all(void) {}
#else
#include "cuda/operations.h"

static inline void machine_takes_all(void) { db_cuda_predicted = (db_cuda_pace){ .call = 0 }; }
#endif

#endif
