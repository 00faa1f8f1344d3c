/* Memory of the kernels (kernel/row_room.h), a piece for each thread. */
#ifndef DB_ENGINE_PLAN_ROOM_H
#define DB_ENGINE_PLAN_ROOM_H

#include <dualbragg/context.h>
#include <stddef.h>

typedef struct db_plan_room {
    char *bytes; /* [threads][size] */
    size_t size;
    int threads;
} db_plan_room;

/* Allocates at least `bytes` bytes for each thread; later calls reuse them. */
db_status db_plan_room_need(db_context *context, size_t bytes, int threads, db_plan_room *room);
void db_plan_room_clear(db_plan_room *room);

/* Memory of a thread; NULL if kernels need none. */
static inline void *db_plan_room_of(const db_plan_room *room, int thread) {
    return room->bytes ? room->bytes + (size_t)thread * room->size : NULL;
}

#endif
