/* Target of a written file: links are followed, also to targets that do not exist yet. */
#ifndef DB_BASE_OUTPUT_TARGET_H
#define DB_BASE_OUTPUT_TARGET_H

#include <dualbragg/context.h>
#include <sys/stat.h>

typedef enum db_target_kind {
    DB_TARGET_NEW,       /* does not exist */
    DB_TARGET_FILE,      /* a regular file */
    DB_TARGET_FOLDER,    /* a folder, which cannot be written */
    DB_TARGET_STREAM,    /* device, pipe: written directly */
    DB_TARGET_DESCRIPTOR /* /dev/stdout, /dev/fd/N: an open file of this process, written directly */
} db_target_kind;

typedef struct db_output_target {
    db_target_kind kind;
    struct stat status; /* of all but NEW */
    int descriptor;     /* of DESCRIPTOR; else -1 */
    char *path;         /* of NEW and FILE: absolute, without links, . and ..; owned; else NULL */
} db_output_target;

/* 0, or errno if nothing can be written there: a missing folder, links in a circle. Clear the target after any
 * result. */
int db_output_target_find(const char *path, db_output_target *target);
void db_output_target_clear(db_output_target *target);

#endif
