/* Notices of many shots, which several contexts read at once: each kind is reported once, for its first shot. */
#ifndef DB_BASE_SHOT_NOTICES_H
#define DB_BASE_SHOT_NOTICES_H

#include "base/context_internal.h"

/* Receiver of notices, and notices so far. */
typedef struct db_shot_notices {
    db_notice_function function; /* NULL: nobody */
    void *user;
    /* lines that the context had reported before (struct db_context) */
    uint64_t noticed[DB_NOTICES_KEPT];
    unsigned notice_count;
    struct db_shot_notice *kind;
    size_t count;
} db_shot_notices;

/* Begins; notices later go where the context reports its own. */
DB_API void db_shot_notices_begin(const db_context *context, db_shot_notices *notices);

/* Listener of a context that reads files of a shot. */
typedef struct db_shot_listener {
    db_shot_notices *notices;
    size_t shot;
    const char *name; /* of the shot */
    db_notice_function before;
    void *user_before;
} db_shot_listener;

/* Listens to a context in any thread; db_shot_notices_leave ends it. notices, shot and name are set. */
DB_API void db_shot_notices_listen(db_context *context, db_shot_listener *listener);
DB_API void db_shot_notices_leave(db_context *context, const db_shot_listener *listener);

/* Reports notices of the first `shots` shots in their order, each kind once. Lines of one kind differ only in the
 * file's name at their start and in numbers. */
DB_API void db_shot_notices_tell(db_shot_notices *notices, size_t shots);

DB_API void db_shot_notices_clear(db_shot_notices *notices);

#endif
