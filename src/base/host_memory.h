/* Can the processor read memory? */
#ifndef DB_BASE_HOST_MEMORY_H
#define DB_BASE_HOST_MEMORY_H

/* 1: yes; 0: reading it raises a signal, as for memory of a GPU; -1: unknown (no file descriptors are left). Asks
 * the kernel, a few microseconds. */
int db_host_reads(const void *memory);

#endif
