/* Marks of stages, for whoever wants to know where time goes (db_context_set_stages). */
#ifndef DB_BASE_STAGE_H
#define DB_BASE_STAGE_H

#include <dualbragg/context.h>

/* By the thread that called the library. name: static storage. context may be NULL. */
DB_API void db_stage_begin(const db_context *context, const char *name);
DB_API void db_stage_end(const db_context *context, const char *name);

/* DB_TRY of a call that is a stage. */
#define DB_TRY_STAGE(context, name, call)                                                          \
    do {                                                                                           \
        db_stage_begin((context), (name));                                                         \
        const db_status db_stage_status_ = (call);                                                 \
        db_stage_end((context), (name));                                                           \
        if (db_stage_status_ != DB_OK) return db_stage_status_;                                    \
    } while (0)

#endif
