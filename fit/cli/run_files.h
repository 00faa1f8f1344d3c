/* Files of a run: those that it reads, and PREFIX.lock, which keeps two runs from writing to the same PREFIX. The
 * system releases the lock when its process ends in any way. */
#ifndef DB_FIT_CLI_RUN_FILES_H
#define DB_FIT_CLI_RUN_FILES_H

#include "cli/named_files.h"

#include <dualbragg/fit.h>

typedef struct db_run_lock {
    char path[DB_FIT_PATH_SIZE + 32];
    int file;                  /* descriptor; 0: not taken */
    struct db_temporary *name; /* so that a signal that ends the program removes it */
} db_run_lock;

/* Takes the lock. Complains and returns DB_ERROR_FILE if another process has it. On a file system without locks it
 * prints a remark. */
db_status db_run_lock_take(db_run_lock *lock, const char *prefix);

/* Removes the file and releases the lock. Safe if it is not taken. */
void db_run_lock_release(db_run_lock *lock);
#endif
