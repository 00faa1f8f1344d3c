#define _DEFAULT_SOURCE /* madvise */
#include "base/large_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

void *db_allocate_large(size_t size) {
    enum { LARGE_PAGE = 1 << 21 };
    void *bytes = NULL;
    if (size < 8 * LARGE_PAGE) return malloc(size);
    if (posix_memalign(&bytes, LARGE_PAGE, size) != 0) return NULL;
#if defined(MADV_HUGEPAGE)
    madvise(bytes, size, MADV_HUGEPAGE);
#endif
    return bytes;
}
