/* Adds the sums that the blocks of a normal kernel have left in slots: each thread adds some slots in order, then
 * the threads' sums are added pairwise. The order depends on the number of slots only. */
#include "cuda/arguments.h"
#include "cuda/device_code.h"

DB_CUDA_KERNEL(db_cuda_add_slots_kernel, DB_CUDA_ADD_LANES *DB_CUDA_ADD_SUMS, 1) {
    const uint32_t lane = thread_number() / DB_CUDA_ADD_SUMS,
                   own = thread_number() % DB_CUDA_ADD_SUMS,
                   s = block_number() * DB_CUDA_ADD_SUMS + own;
    double *const partial = block_memory(); /* [lane][sum] */
    double sum = 0;
    if (s < a->size)
        for (uint32_t slot = lane; slot < a->slots; slot += DB_CUDA_ADD_LANES)
            sum += a->sums[(size_t)slot * a->size + s];
    partial[thread_number()] = sum;
    for (uint32_t step = DB_CUDA_ADD_LANES / 2; step > 0; step /= 2) {
        block_barrier();
        if (lane < step)
            partial[thread_number()] += partial[thread_number() + step * DB_CUDA_ADD_SUMS];
    }
    /* each block writes sums that no other one reads */
    if (lane == 0 && s < a->size) a->sums[s] = partial[own];
}
