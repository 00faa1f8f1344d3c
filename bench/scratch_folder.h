/* A folder of our own for files of a moment. */
#ifndef DB_BENCH_SCRATCH_FOLDER_H
#define DB_BENCH_SCRATCH_FOLDER_H

#include <dualbragg/context.h>

enum { DB_BENCH_PATH_SIZE = 4096 };

/* Makes an empty folder in TMPDIR (or the system's place for such); its path is absolute. */
db_status db_bench_scratch_create(db_context *context, char path[DB_BENCH_PATH_SIZE]);

/* Removes the files in it. */
void db_bench_scratch_empty(const char *path);

/* Removes it with the files in it; "" is allowed. */
void db_bench_scratch_remove(char *path);

#endif
