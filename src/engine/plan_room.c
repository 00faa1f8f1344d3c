#include "engine/plan_room.h"

#include "base/context_internal.h"

#include <stdlib.h>

db_status db_plan_room_need(db_context *context, size_t bytes, int threads, db_plan_room *room) {
    enum { ALIGNMENT = 128 }; /* no two threads share a cache line */
    if (bytes == 0 || (threads <= room->threads && bytes <= room->size)) return DB_OK;
    const size_t size = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *const made = aligned_alloc(ALIGNMENT, size * (size_t)threads);
    if (!made) return db_fail_memory(context, "the rows of a plan");
    free(room->bytes);
    *room = (db_plan_room){ made, size, threads };
    return DB_OK;
}

void db_plan_room_clear(db_plan_room *room) { free(room->bytes); }
