/* Instruction sets of this processor. */
#ifndef DB_BASE_PROCESSOR_H
#define DB_BASE_PROCESSOR_H

/* Does it have everything compiled for avx2 or avx512 (cmake/Dependencies.cmake), with registers that the
 * operating system keeps? */
int db_processor_has_avx2(void);
int db_processor_has_avx512(void);

#endif
