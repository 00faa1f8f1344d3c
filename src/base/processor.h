/* Which instruction sets this processor has. */
#ifndef DB_BASE_PROCESSOR_H
#define DB_BASE_PROCESSOR_H

/* All that is compiled for avx2 and avx512 (cmake/Dependencies.cmake), with registers that the operating system keeps. */
int db_processor_has_avx2(void);
int db_processor_has_avx512(void);

#endif
