/* The only use of CUDA's language by the kernels. The rest of them is plain C, which is also compiled for the
 * processor with a stand-in for the CUDA runtime (tests/cuda). */
#ifndef DB_CUDA_DEVICE_CODE_H
#define DB_CUDA_DEVICE_CODE_H

#include "cuda/arguments.h"

#include <stdint.h>

#if defined(__CUDACC__)
#define DB_CUDA_ENTRY(most_threads, least_blocks)                                                  \
    extern "C" __global__ void __launch_bounds__(most_threads, least_blocks)
#define DB_CUDA_PARAMETER const __grid_constant__ db_cuda_arguments
#define DB_CUDA_FN static __device__ __forceinline__
#define DB_CUDA_UNROLL _Pragma("unroll")
#define DB_CUDA_LOOP _Pragma("unroll 1")
/* The shared memory of a block of threads, whose size the launch sets. It is read and written 16 bytes at a time. */
DB_CUDA_FN double *block_memory(void) {
    extern __shared__ __align__(16) double db_cuda_block_memory[];
    return db_cuda_block_memory;
}
DB_CUDA_FN void block_barrier(void) { __syncthreads(); }
DB_CUDA_FN uint32_t block_number(void) { return blockIdx.x; }
DB_CUDA_FN uint32_t thread_number(void) { return threadIdx.x; }
DB_CUDA_FN uint32_t thread_count(void) { return blockDim.x; }
/* Atomic operations on integers, whose order does not matter; they return the value before. */
DB_CUDA_FN uint32_t atomic_add_32(uint32_t *to, uint32_t n) { return atomicAdd(to, n); }
DB_CUDA_FN uint64_t atomic_add_64(uint64_t *to, uint64_t n) {
    return atomicAdd((unsigned long long *)to, (unsigned long long)n);
}
DB_CUDA_FN void atomic_min_64(uint64_t *to, uint64_t n) {
    atomicMin((unsigned long long *)to, (unsigned long long)n);
}
/* Must be called by all DB_CUDA_WARP threads of a warp. warp_barrier: their writes to memory can be read;
 * warp_ballot: a bit for the vote of each. */
DB_CUDA_FN void warp_barrier(void) { __syncwarp(); }
DB_CUDA_FN uint32_t warp_ballot(int vote) { return __ballot_sync(0xffffffffU, vote); }
#else
#include <stand_in_threads.h>
#define DB_CUDA_ENTRY(most_threads, least_blocks) void
#define DB_CUDA_PARAMETER const db_cuda_arguments
#define DB_CUDA_FN static inline __attribute__((unused))
#define DB_CUDA_UNROLL
#define DB_CUDA_LOOP
#endif

DB_CUDA_FN uint32_t lane_number(void) { return thread_number() % DB_CUDA_WARP; }

#if defined(__CUDA_ARCH__)
DB_CUDA_FN uint32_t count_bits(uint32_t bits) { return (uint32_t)__popc((int)bits); }
DB_CUDA_FN uint32_t lowest_bit(uint32_t bits) { return (uint32_t)__ffs((int)bits) - 1; }
#else
DB_CUDA_FN uint32_t count_bits(uint32_t bits) { return (uint32_t)__builtin_popcount(bits); }
DB_CUDA_FN uint32_t lowest_bit(uint32_t bits) { return (uint32_t)__builtin_ctz(bits); }
#endif

/* Defines a kernel with db_cuda_arguments as parameter; the body follows, with the arguments as `a`. */
#define DB_CUDA_KERNEL(name, most_threads, least_blocks)                                           \
    DB_CUDA_KERNEL_(name, most_threads, least_blocks)
#define DB_CUDA_KERNEL_(name, most_threads, least_blocks)                                          \
    DB_CUDA_FN void name##_body(const db_cuda_arguments *a);                                       \
    DB_CUDA_ENTRY(most_threads, least_blocks) name(DB_CUDA_PARAMETER own);                         \
    DB_CUDA_ENTRY(most_threads, least_blocks) name(DB_CUDA_PARAMETER own) { name##_body(&own); }   \
    DB_CUDA_FN void name##_body(const db_cuda_arguments *a)

/* Tells the compiler that a pointer points to the block's memory. */
#if defined(__CUDA_ARCH__)
#define DB_CUDA_IN_BLOCK_MEMORY(pointer) __builtin_assume(__isShared(pointer))
#else
#define DB_CUDA_IN_BLOCK_MEMORY(pointer) (void)0
#endif

#endif
