#include "failing_allocation.h"

#include <errno.h>
#include <stdlib.h>

static _Thread_local int on, failed;
static _Thread_local long wanted, reached;

void fail_allocation(long position) {
    wanted = position;
    reached = 0;
    failed = 0;
    on = 1;
}

long stop_failing_allocations(int *has_failed) {
    on = 0;
    if (has_failed) *has_failed = failed;
    return reached;
}

/* Under the address sanitizer the real functions are its interceptors. The thread sanitizer calls
 * them before it is ready, so that there no allocation can fail. */
#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS(address_sanitizer)
#define REAL(name) __interceptor_##name
#elif defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) && !HAS(thread_sanitizer)
#define REAL(name) __libc_##name
#endif

#if defined(REAL)
int can_fail_allocations(void) { return 1; }

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *block, size_t size);

static int fails(void) {
    if (!on || reached++ != wanted) return 0;
    failed = 1;
    errno = ENOMEM;
    return 1;
}

/* Seen by libraries, too. */
#define EXPORT __attribute__((visibility("default")))
EXPORT void *malloc(size_t size) { return fails() ? NULL : REAL(malloc)(size); }
EXPORT void *calloc(size_t count, size_t size) {
    return fails() ? NULL : REAL(calloc)(count, size);
}
EXPORT void *realloc(void *block, size_t size) {
    return fails() ? NULL : REAL(realloc)(block, size);
}
#else
int can_fail_allocations(void) { return 0; }
#endif
