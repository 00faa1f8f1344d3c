/* The forms in which reflection tables of DIALS are stored: reflection_table_read.c looks which
 * one it is and reads MessagePack. */
#ifndef DB_IO_REFLECTION_TABLE_H
#define DB_IO_REFLECTION_TABLE_H

#include <dualbragg/reflections.h>
#include <dualbragg/expert/reflection_tables.h>

/* No table has more rows. */
enum { DB_MOST_TABLE_ROWS = 1000000000 };

/* The identifier of an experiment: `length` bytes of text. */
db_status db_table_add_identifier(db_context *context, const char *path, long long id,
                                  const char *text, size_t length, db_reflection_table *table);

/* A table in an HDF5 file. On failure the table is to be cleared. */
db_status db_table_read_hdf5(db_context *context, const char *path, db_reflection_table *table);

db_status db_table_write_hdf5(db_context *context, const char *path,
                              const db_table_content *content);

#endif
