/* The linker sends calls of malloc here (--wrap), so that a block that is freed at once counts too.
 * What shared libraries ask for is seen in the C library's own books. */
#include "bench/allocations.h"

#include <malloc.h>
#include <stdatomic.h>

static atomic_size_t calls;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
    atomic_fetch_add(&calls, 1);
    return __real_posix_memalign(block, alignment, size);
}

db_bench_heap db_bench_heap_now(void) {
    const struct mallinfo2 books = mallinfo2();
    return (db_bench_heap){ atomic_load(&calls), books.uordblks + books.hblkhd };
}
