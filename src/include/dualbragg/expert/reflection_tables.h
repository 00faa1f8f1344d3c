/** @file
 * Reflection tables of DIALS and MTZ files. */
#ifndef DUALBRAGG_EXPERT_REFLECTION_TABLES_H
#define DUALBRAGG_EXPERT_REFLECTION_TABLES_H

#include <dualbragg/reflections.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The experiment of a number in a reflection table. */
typedef struct db_table_identifier {
    int id;           /**< the number, as in the column id */
    const char *text; /**< the experiment's identifier in the experiment list */
} db_table_identifier;

/** Columns of a reflection table of DIALS (.refl) for a list of
 * reflections, with `count` rows; NULL: the table lacks the column. */
typedef struct db_reflection_table {
    size_t count;
    int (*hkl)[3];         /**< miller_index; 0 0 0: not indexed */
    double (*position)[3]; /**< xyzobs.px.value: pixels fast, slow, and images */
    int (*box)[6];   /**< bbox: pixels fast, slow, and images; each from, and to without that */
    size_t *panel;   /**< number of the panel, from 0 */
    int *experiment; /**< id: number in the experiment list; -1: of none */
    size_t identifier_count;
    db_table_identifier *identifier; /**< of experiments, as far as the table has them; owned */
} db_reflection_table;

/** Number of an experiment in a table: by its identifier,
 * if there is one, else its number in the experiment list.
 *
 * @param table read
 * @param number of the experiment in its list, from 0
 * @param identifier of the experiment; "": none
 * @return the number, as in the column id */
DB_API int db_reflection_table_number(const db_reflection_table *table, int number,
                                      const char *identifier);

/** Whether the content of a file begins like a reflection table, in MessagePack or HDF5 (as any HDF5
 * file does, images included): 1 or 0.
 *
 * @param bytes the content
 * @param size number of bytes
 * @return 1 or 0 */
DB_API int db_is_reflection_table(const void *bytes, size_t size);

/** Reads a reflection table from the content of a file, or an HDF5 one from the file itself.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param bytes content of the file, `size` bytes
 * @param size number of bytes
 * @param table filled, to be cleared by the caller; zeroed on failure
 * @return DB_ERROR_UNSUPPORTED in builds without msgpack or HDF5, DB_ERROR_INPUT for a file that is no
 *     table */
DB_API db_status db_reflection_table_read(db_context *context, const char *path, const void *bytes,
                                          size_t size, db_reflection_table *table);

/** A column of a reflection table to be written. */
typedef struct db_table_column {
    const char *name;  /**< "miller_index" */
    const char *type;  /**< of an element, as DIALS names it: "double", "vec3<double>", "int6" */
    size_t size;       /**< of an element (bytes) */
    const void *bytes; /**< one element for each row, as little-endian machines hold them */
} db_table_column;

/** The form of a reflection table. */
typedef enum db_table_form {
    DB_TABLE_MSGPACK, /**< MessagePack, of DIALS 1.14 and later */
    DB_TABLE_HDF5     /**< HDF5, of DIALS 3.23 and later */
} db_table_form;

/** Contents of a reflection table to write. */
typedef struct db_table_content {
    size_t rows; /**< of every column */
    size_t column_count;
    const db_table_column *columns; /**< at most 64 */
    size_t identifier_count;
    const db_table_identifier *identifiers; /**< of the experiments in the column id */
} db_table_content;

/** Writes a reflection table of DIALS (.refl).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param form of the table
 * @param content to write
 * @return DB_OK; DB_ERROR_FILE; nothing is then left of the file; DB_ERROR_USAGE for too many
 *     columns or too long names; DB_ERROR_UNSUPPORTED on big-endian machines, and for HDF5 in builds
 *     without it */
DB_API db_status db_reflection_table_write(db_context *context, const char *path,
                                           db_table_form form, const db_table_content *content);

/** A column of an MTZ file. */
typedef struct db_mtz_column {
    const char *label; /**< "IMEAN"; at most 30 letters, without blanks */
    /** as MTZ has it: J intensity, Q standard deviation, F amplitude; K and M intensity and standard deviation of a
     * Friedel mate, G and L its amplitude and standard deviation; I integer, R real number */
    char type;
    int mate; /**< number of the corresponding column of the Friedel mates; -1: none */
} db_mtz_column;

/** Contents of an MTZ file to write, merged or not. */
typedef struct db_mtz_content {
    const char *title;            /**< "" or a description of the content */
    const char *group;            /**< as for db_space_group_find; "": P 1 */
    double cell[6];               /**< angstrom, degree */
    double wavelength;            /**< angstrom */
    size_t column_count;          /**< besides H, K, L, and M/ISYM and BATCH of unmerged files */
    const db_mtz_column *columns; /**< at most 100 */
    size_t rows;
    const int (*hkl)[3]; /**< any of the equivalent indices */
    const float *values; /**< [rows][column_count]; NAN: there is none */
    const uint32_t
        *batch;       /**< [rows], from 1: the shot of a measurement; NULL: the file is merged */
    uint32_t batches; /**< 0, or the largest number of a batch */
} db_mtz_content;

/** Writes an MTZ file, with indices in CCP4's asymmetric unit, sorted. If a row gets the indices of its
 * Friedel mate, columns and their mates are exchanged, except for centric reflections.
 *
 * @param context receives the message of a failure
 * @param path name of the file, which is written whole or not at all
 * @param content to write
 * @return DB_OK; DB_ERROR_UNSUPPORTED in builds without gemmi; DB_ERROR_INPUT for an unknown group, or
 *     more than 2^31 values; DB_ERROR_FILE */
DB_API db_status db_mtz_write(db_context *context, const char *path, const db_mtz_content *content);

/** Frees the columns and zeroes the table.
 *
 * @param table to clear */
DB_API void db_reflection_table_clear(db_reflection_table *table);

#ifdef __cplusplus
}
#endif
#endif
