/* Copies parts of the device's memory to where they belong: what the host has sent in one copy for many
 * jobs, or has to get in one. */
#include "cuda/arguments.h"
#include "cuda/device_code.h"

enum { WORD = 16 };

DB_CUDA_KERNEL(db_cuda_copy_parts_kernel, DB_CUDA_COPY_BLOCK, 1) {
    const db_cuda_part *const part = &a->part_of_block[block_number()];
    char *const to = (char *)part->to;
    const char *const from = (const char *)part->from;
    const uint32_t bytes = (uint32_t)part->bytes, words = bytes / WORD;
    for (uint32_t w = thread_number(); w < words; w += thread_count())
        __builtin_memcpy(__builtin_assume_aligned(to + (size_t)w * WORD, WORD),
                         __builtin_assume_aligned(from + (size_t)w * WORD, WORD), WORD);
    for (uint32_t b = words * WORD + thread_number(); b < bytes; b += thread_count())
        to[b] = from[b];
}
