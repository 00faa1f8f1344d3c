/* Identity and state of a file: data read from it stay valid while both are the same. */
#ifndef DB_BASE_FILE_STAMP_H
#define DB_BASE_FILE_STAMP_H

#include <dualbragg/context.h>

typedef struct db_file_stamp {
    unsigned long long device, node, size;
    long long seconds[2], nanoseconds[2]; /* of the last change of content, and of name or times */
} db_file_stamp;

/* Takes the state of a file. 0: there is none, or it was changed so recently that a further change might not show. */
DB_API int db_file_stamp_take(const char *path, db_file_stamp *stamp);

static inline int db_file_stamp_same(const db_file_stamp *a, const db_file_stamp *b) {
    int same = a->device == b->device && a->node == b->node && a->size == b->size;
    for (int i = 0; i < 2; i++)
        same &= a->seconds[i] == b->seconds[i] && a->nanoseconds[i] == b->nanoseconds[i];
    return same;
}

#endif
