#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "failing_allocation.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* OpenMP ends a program where it has no memory for its threads: libgomp.so, libomp.so. */
static int is_of_openmp(const void *caller) {
    Dl_info object;
    return dladdr(caller, &object) && object.dli_fname && strstr(object.dli_fname, "omp.so");
}

/* The address sanitizer allocates before its memory is mapped: nothing here may be checked by it. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

UNCHECKED static int fails(const void *caller) {
    if (!on || is_of_openmp(caller) || reached++ != wanted) return 0;
    failed = 1;
    errno = ENOMEM;
    return 1;
}

/* Seen by libraries, too. */
#define EXPORT UNCHECKED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)
EXPORT void *malloc(size_t size) { return fails(CALLER) ? NULL : REAL(malloc)(size); }
EXPORT void *calloc(size_t count, size_t size) {
    return fails(CALLER) ? NULL : REAL(calloc)(count, size);
}
EXPORT void *realloc(void *block, size_t size) {
    return fails(CALLER) ? NULL : REAL(realloc)(block, size);
}
#else
int can_fail_allocations(void) { return 0; }
#endif
