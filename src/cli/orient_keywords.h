/* Orientations in the words of UBtoA. */
#ifndef DB_CLI_ORIENT_KEYWORDS_H
#define DB_CLI_ORIENT_KEYWORDS_H

#include "cli/settings.h"

/* Reads lines of keywords from settings->keyword_file ("-": standard input) into settings->setup:
 *
 *     CELL a b c alpha beta gamma     cell
 *     WAVE wavelength                 (angstrom)
 *     UMAT nine numbers               orientation U, row by row, instead of what it was
 *     MISSET x y z                    U := U R, R the rotation about x, then y, then z (degree)
 *     RANDOM [spread [seed]]          U := U R, R random
 *     MATRIX nine numbers             A* (1/angstrom), row by row, instead of CELL and orientation
 *
 * matrix: A* of MATRIX, with *has_matrix 1 if no CELL, UMAT, MISSET or RANDOM follows it. Reports
 * the first error and returns its status. */
db_status db_orient_keywords_read(db_context *context, db_settings *settings, double matrix[9],
                                  int *has_matrix);

#endif
