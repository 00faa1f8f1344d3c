/** @file
 * Symmetry of Miller indices, and reflection tables of DIALS. */
#ifndef DUALBRAGG_REFLECTIONS_H
#define DUALBRAGG_REFLECTIONS_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DB_MOST_OPERATORS = 192 }; /**< no space group has more */

/** Rotations of a space group's operators, each once. */
typedef struct db_symmetry {
    int count;
    int rotation[DB_MOST_OPERATORS][9]; /**< row-major; acts on coordinates from the left */
} db_symmetry;

/** Finds the operators of a space group in gemmi's table.
 *
 * @param context receives the message of a failure
 * @param group number or Hermann-Mauguin symbol ("178", "P 61 2 2", "P6122"; the first setting that
 *     fits)
 * @param symmetry filled
 * @return DB_ERROR_UNSUPPORTED in builds without gemmi, DB_ERROR_INPUT where there is no such group */
DB_API db_status db_symmetry_of_group(db_context *context, const char *group,
                                      db_symmetry *symmetry);

/** The index equivalent to hkl by an operator: hkl times the rotation.
 *
 * @param symmetry operators
 * @param operator_index which of them, from 0
 * @param hkl Miller indices
 * @param turned receives the equivalent indices; not hkl itself */
DB_API void db_symmetry_turn(const db_symmetry *symmetry, int operator_index, const int hkl[3],
                             int turned[3]);

/** What a list of reflections needs of a reflection table of DIALS (.refl). Columns have `count`
 * rows; they are NULL where the table has none of them. */
typedef struct db_reflection_table {
    size_t count;
    int (*hkl)[3];         /**< miller_index; 0 0 0: not indexed */
    double (*position)[3]; /**< xyzobs.px.value: pixels fast, slow, and images */
    int (*box)[6];   /**< bbox: pixels fast, slow, and images; each from, and to without that */
    size_t *panel;   /**< number of the panel, from 0 */
    int *experiment; /**< id: number in the experiment list; -1: of none */
} db_reflection_table;

/** Whether the content of a file begins like a reflection table: 1 or 0.
 *
 * @param bytes the content
 * @param size number of bytes
 * @return 1 or 0 */
DB_API int db_is_reflection_table(const void *bytes, size_t size);

/** Reads a reflection table from the content of a file.
 *
 * @param context receives the message of a failure
 * @param path name of the file, for messages
 * @param bytes content of the file, `size` bytes
 * @param size number of bytes
 * @param table filled, to be cleared by the caller; zeroed on failure
 * @return DB_ERROR_UNSUPPORTED in builds without msgpack, DB_ERROR_INPUT for what is no table */
DB_API db_status db_reflection_table_read(db_context *context, const char *path, const void *bytes,
                                          size_t size, db_reflection_table *table);

/** A column of a reflection table to be written. */
typedef struct db_table_column {
    const char *name;  /**< "miller_index" */
    const char *type;  /**< of an element, as DIALS names it: "double", "vec3<double>", "int6" */
    size_t size;       /**< of an element (bytes) */
    const void *bytes; /**< one element for each row, as little-endian machines hold them */
} db_table_column;

/** Writes a reflection table of DIALS (.refl).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param rows of every column
 * @param columns `count` of them, at most 64
 * @param count their number
 * @return DB_OK; DB_ERROR_FILE; nothing is then left of the file; DB_ERROR_USAGE for too many
 *     columns or too long names; DB_ERROR_UNSUPPORTED on big-endian machines */
DB_API db_status db_reflection_table_write(db_context *context, const char *path, size_t rows,
                                           const db_table_column *columns, size_t count);

/** Frees the columns and zeroes the table.
 *
 * @param table to clear */
DB_API void db_reflection_table_clear(db_reflection_table *table);

#ifdef __cplusplus
}
#endif
#endif
