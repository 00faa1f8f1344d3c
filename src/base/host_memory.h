/* Whether the processor may touch memory. */
#ifndef DB_BASE_HOST_MEMORY_H
#define DB_BASE_HOST_MEMORY_H

/* 1: it can be read; 0: whoever reads it is stopped by a signal, as with the memory of a GPU; -1: there is
 * no way to tell (no file descriptors are left). Asks the kernel, a few microseconds. */
int db_host_reads(const void *memory);

#endif
