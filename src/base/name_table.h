/* Numbers by names: a hash table, so that files with many names take linear time. */
#ifndef DB_BASE_NAME_TABLE_H
#define DB_BASE_NAME_TABLE_H

#include <dualbragg/context.h>
#include <stddef.h>

typedef struct db_name_table {
    size_t count, room; /* names, slots (a power of 2) */
    struct db_name_slot *slot;
} db_name_table;

/* Adds a name, which is borrowed, or changes its number. 0 without memory. */
DB_API int db_name_table_put(db_name_table *table, const char *name, size_t length, size_t number);

/* Finds a name; returns whether it is there. */
DB_API int db_name_table_find(const db_name_table *table, const char *name, size_t length,
                              size_t *number);

DB_API void db_name_table_clear(db_name_table *table);

#endif
