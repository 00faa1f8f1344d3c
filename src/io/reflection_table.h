/* Reflection tables of DIALS (.refl): what a list of reflections needs of them. */
#ifndef DB_IO_REFLECTION_TABLE_H
#define DB_IO_REFLECTION_TABLE_H

#include "base/file_content.h"

/* Columns are NULL where the table has none of them. */
typedef struct db_reflection_table {
    size_t count;
    int (*hkl)[3];         /* miller_index; 0 0 0: not indexed */
    double (*position)[3]; /* xyzobs.px.value: pixels fast, slow, and images */
    int (*box)[6];         /* bbox: pixels fast, slow, and images; each from, and to without that */
    size_t *panel;
    int *experiment; /* id: number in the experiment list; -1: of none */
} db_reflection_table;

/* 1 if the bytes begin like a reflection table. */
int db_is_reflection_table(const db_file_content *content);

/* Reads a table from the content of the file of that name. It is zeroed on failure;
 * DB_ERROR_UNSUPPORTED in builds without msgpack. */
db_status db_reflection_table_read(db_context *context, const char *path,
                                   const db_file_content *content, db_reflection_table *table);
void db_reflection_table_clear(db_reflection_table *table);

#endif
