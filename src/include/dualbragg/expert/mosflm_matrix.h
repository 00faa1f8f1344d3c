/** @file
 * Orientation matrices of MOSFLM. */
#ifndef DUALBRAGG_EXPERT_MOSFLM_MATRIX_H
#define DUALBRAGG_EXPERT_MOSFLM_MATRIX_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads the nine numbers of a MOSFLM orientation matrix (wavelength in angstrom times A*, row by
 * row).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param matrix receives it, row-major
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_mosflm_matrix(db_context *context, const char *path, double matrix[9]);

/** Bytes that are ample for db_format_mosflm_matrix with any matrix that MOSFLM could read. */
enum { DB_MATRIX_TEXT_SIZE = 1024 };

/** Writes the text of a MOSFLM matrix file (db_write_mosflm_matrix) to memory.
 *
 * @param context receives the message of a failure
 * @param experiment with crystal and wavelength
 * @param text receives it
 * @param size room there, in bytes; DB_MATRIX_TEXT_SIZE are ample for any matrix that MOSFLM could
 *     read
 * @return DB_OK; DB_ERROR_USAGE where there is too little room */
DB_API db_status db_format_mosflm_matrix(db_context *context, const db_experiment *experiment,
                                         char *text, size_t size);

/** Writes a MOSFLM matrix file: wavelength * A*, misset 0, the U matrix and the cell, as MOSFLM
 * does.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param experiment with crystal and wavelength
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_mosflm_matrix(db_context *context, const char *path,
                                        const db_experiment *experiment);

#ifdef __cplusplus
}
#endif
#endif
