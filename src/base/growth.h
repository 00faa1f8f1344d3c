/* Growth of lists, which double each time. */
#ifndef DB_BASE_GROWTH_H
#define DB_BASE_GROWTH_H

#include "base/context_internal.h"

#include <stdint.h>
#include <stdlib.h>

/* Makes room for at least `wanted` elements of `size` bytes (1 or more): returns the list, perhaps moved, and sets
 * *room. NULL without memory; the list is then unchanged. */
static inline void *db_grown(void *list, size_t *room, size_t wanted, size_t size) {
    enum { LEAST = 16 };
    if (list && wanted <= *room) return list;
    size_t larger = wanted > LEAST ? wanted : LEAST;
    if (larger < 2 * *room) larger = 2 * *room;
    void *const grown = larger <= SIZE_MAX / size ? realloc(list, larger * size) : NULL;
    if (grown) *room = larger;
    return grown;
}

/* Grows a list of `room` elements of the caller, who returns DB_ERROR_MEMORY without memory, with a message that
 * names the elements. */
#define DB_GROW(context, list, room, wanted, what)                                                 \
    do {                                                                                           \
        void *const db_grown_ = db_grown((list), &(room), (wanted), sizeof *(list));               \
        if (!db_grown_) return db_fail_memory((context), (what));                                  \
        (list) = db_grown_;                                                                        \
    } while (0)

#endif
