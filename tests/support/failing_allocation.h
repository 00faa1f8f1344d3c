/* One allocation that fails: of the library, or of any library that it uses. A program that uses
 * this has its malloc, calloc and realloc here. */
#ifndef DB_TEST_FAILING_ALLOCATION_H
#define DB_TEST_FAILING_ALLOCATION_H

/* 1 where allocations can be made to fail (glibc). */
int can_fail_allocations(void);

/* From now on, in this thread, allocation number `position` (from 0; -1: none) fails; those before
 * and behind it succeed. */
void fail_allocation(long position);

/* Ends that; the number of allocations since. *failed, unless NULL: 1 if one has failed. */
long stop_failing_allocations(int *failed);

#endif
