/* Makes one allocation fail, of the library or of any library that it uses. failing_allocation.c
 * replaces malloc, calloc and realloc in a program. */
#ifndef DB_TEST_FAILING_ALLOCATION_H
#define DB_TEST_FAILING_ALLOCATION_H

/* 1 where allocations can be made to fail (glibc). */
int can_fail_allocations(void);

/* From now on, in this thread, allocation number `position` (from 0; -1: none) fails; those before
 * and after it succeed. */
void fail_allocation(long position);

/* Ends that; the number of allocations since. *failed, unless NULL: 1 if one has failed. */
long stop_failing_allocations(int *failed);

#endif
