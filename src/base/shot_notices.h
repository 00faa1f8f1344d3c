/* Notices of many shots, which are read by several contexts at once: each kind is told once, of its first shot. */
#ifndef DB_BASE_SHOT_NOTICES_H
#define DB_BASE_SHOT_NOTICES_H

#include "base/context_internal.h"

/* Whom to tell, and what has been heard. */
typedef struct db_shot_notices {
    db_notice_function function; /* NULL: nobody */
    void *user;
    uint64_t noticed[DB_NOTICES_KEPT]; /* what the context had told before (struct db_context) */
    unsigned notice_count;
    struct db_shot_notice *kind;
    size_t count;
} db_shot_notices;

/* What is heard is to go where the context tells its notices. */
DB_API void db_shot_notices_begin(const db_context *context, db_shot_notices *notices);

/* While a context reads files of a shot. */
typedef struct db_shot_listener {
    db_shot_notices *notices;
    size_t shot;
    const char *name; /* of the shot */
    db_notice_function before;
    void *user_before;
} db_shot_listener;

/* The context may be anybody's, in any thread; db_shot_notices_leave gives it back. notices, shot and name are set. */
DB_API void db_shot_notices_listen(db_context *context, db_shot_listener *listener);
DB_API void db_shot_notices_leave(db_context *context, const db_shot_listener *listener);

/* Tells in the order of shots what has been heard of the first `shots` of them, each kind once. Lines of one kind
 * differ in the name of the file that they begin with and in numbers. */
DB_API void db_shot_notices_tell(db_shot_notices *notices, size_t shots);

DB_API void db_shot_notices_clear(db_shot_notices *notices);

#endif
