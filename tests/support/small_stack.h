/* Work in a thread whose stack is small, as threads of other programs may have. */
#ifndef TESTS_SUPPORT_SMALL_STACK_H
#define TESTS_SUPPORT_SMALL_STACK_H

#include <dualbragg/dualbragg.h>

#include <pthread.h>

/* What any call of the library may need (bytes). */
enum { SMALL_STACK = 256 << 10 };

/* 1 in builds whose frames are larger than they need to be: sanitizers. */
static inline int stacks_are_inflated(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 1;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return 1;
#endif
#endif
    return 0;
}

typedef struct small_task {
    db_status (*work)(void *argument);
    void *argument;
    db_status status;
} small_task;

static inline void *run_small_task(void *argument) {
    small_task *const t = argument;
    t->status = t->work(t->argument);
    return NULL;
}

/* Runs the work in a thread with so small a stack, and returns what it returned. A program that
 * needs more crashes. */
static inline db_status on_small_stack(db_status (*work)(void *argument), void *argument) {
    small_task t = { work, argument, DB_ERROR_MEMORY };
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes)) return DB_ERROR_MEMORY;
    if (!pthread_attr_setstacksize(&attributes, SMALL_STACK) &&
        !pthread_create(&thread, &attributes, run_small_task, &t))
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return t.status;
}

#endif
