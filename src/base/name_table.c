/* Numbers by names: open addressing, with at most half of the slots in use. */
#include "base/name_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct db_name_slot {
    const char *name; /* NULL: free */
    size_t length, number;
} db_name_slot;

/* FNV-1a. */
static uint64_t hash_name(const char *name, size_t length) {
    uint64_t value = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) value = (value ^ (unsigned char)name[i]) * 0x100000001b3u;
    return value ^ value >> 32;
}

/* Slot of a name, or the free slot for it. */
static db_name_slot *slot_of(const db_name_table *table, const char *name, size_t length) {
    size_t i = (size_t)hash_name(name, length) & (table->room - 1);
    for (;; i = (i + 1) & (table->room - 1)) {
        db_name_slot *const slot = &table->slot[i];
        if (!slot->name || (slot->length == length && memcmp(slot->name, name, length) == 0))
            return slot;
    }
}

static int grow_table(db_name_table *table) {
    db_name_table larger = { table->count, table->room ? 2 * table->room : 64, NULL };
    larger.slot = calloc(larger.room, sizeof *larger.slot);
    if (!larger.slot) return 0;
    for (size_t i = 0; i < table->room; i++) {
        const db_name_slot *const slot = &table->slot[i];
        if (slot->name) *slot_of(&larger, slot->name, slot->length) = *slot;
    }
    free(table->slot);
    *table = larger;
    return 1;
}

int db_name_table_put(db_name_table *table, const char *name, size_t length, size_t number) {
    if (2 * (table->count + 1) > table->room && !grow_table(table)) return 0;
    db_name_slot *const slot = slot_of(table, name, length);
    table->count += !slot->name;
    *slot = (db_name_slot){ name, length, number };
    return 1;
}

int db_name_table_find(const db_name_table *table, const char *name, size_t length,
                       size_t *number) {
    if (table->room == 0) return 0;
    const db_name_slot *const slot = slot_of(table, name, length);
    if (!slot->name) return 0;
    *number = slot->number;
    return 1;
}

void db_name_table_clear(db_name_table *table) {
    free(table->slot);
    *table = (db_name_table){ 0, 0, NULL };
}
