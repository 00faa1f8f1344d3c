/** @file
 * Operators of a space group and their action on reflections. */
#ifndef DUALBRAGG_EXPERT_SYMMETRY_H
#define DUALBRAGG_EXPERT_SYMMETRY_H

#include <dualbragg/reflections.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The space group that a list of experiments states: by a Hall symbol ("P 4nw 2abw") as DIALS, by a number as XDS.
 *
 * @param context receives the message of a failure
 * @param stated the symbol or number
 * @param group filled; named by the Hall symbol and without a number if it is in no table
 * @return DB_ERROR_UNSUPPORTED in builds without gemmi, DB_ERROR_INPUT where it is neither */
DB_API db_status db_space_group_of_list(db_context *context, const char *stated,
                                        db_space_group *group);

/** Whether a reflection is systematically absent: by the centring of the lattice, a screw axis or a
 * glide plane.
 *
 * @param group the space group
 * @param hkl Miller indices
 * @return 1 or 0 */
DB_API int db_space_group_absent(const db_space_group *group, const int hkl[3]);

/** The index equivalent to hkl by an operator: hkl times the rotation.
 *
 * @param symmetry operators
 * @param operator_index which of them, from 0
 * @param hkl Miller indices
 * @param turned receives the equivalent indices; not hkl itself */
DB_API void db_symmetry_turn(const db_symmetry *symmetry, int operator_index, const int hkl[3],
                             int turned[3]);

/** Finds a space group in gemmi's table.
 *
 * @param context receives the message of a failure
 * @param name number or Hermann-Mauguin symbol ("178", "P 61 2 2", "P6122"; the first setting that
 *     fits)
 * @param group filled
 * @return DB_ERROR_UNSUPPORTED in builds without gemmi, DB_ERROR_INPUT where there is no such group */
DB_API db_status db_space_group_find(db_context *context, const char *name, db_space_group *group);

/** Finds a space group in gemmi's table, in the setting of a cell if the name has
 * none: the axes of "R 3", the unique axis of "P 21", any setting of a number.
 *
 * @param context receives the message of a failure
 * @param name as for db_space_group_find
 * @param cell angstrom, degree
 * @param group filled
 * @return DB_ERROR_UNSUPPORTED in builds without gemmi, DB_ERROR_INPUT where there is no such group, or
 *     where the cell cannot have it: its operators change edges by more than 2 % or angles by more than
 *     2 degree */
DB_API db_status db_space_group_of_cell(db_context *context, const char *name, const double cell[6],
                                        db_space_group *group);

/** An exact or approximate two-fold rotation of a lattice. */
typedef struct db_two_fold {
    int axis[3];  /**< translation along it, in edges of the reduced cell */
    int plane[3]; /**< indices of the lattice planes across it */
    double
        obliquity; /**< degree, between the axis and their normal: 0 where the lattice has the rotation */
} db_two_fold;

enum { DB_MOST_TWO_FOLDS = 81 /**< that reduced cells can have or nearly have */ };

/** The reduced cell of a lattice (Niggli) and its two-fold rotations, by gemmi.
 *
 * @param context receives the message of a failure
 * @param cell of the lattice, primitive: angstrom, degree
 * @param most_obliquity degree
 * @param basis receives the edges of the reduced cell in those given, in rows
 * @param list receives the two-fold rotations, the least oblique first
 * @param count receives how many there are
 * @return DB_ERROR_UNSUPPORTED in builds without gemmi, with the edges as given and no rotation */
DB_API db_status db_lattice_two_folds(db_context *context, const double cell[6],
                                      double most_obliquity, int basis[9],
                                      db_two_fold list[DB_MOST_TWO_FOLDS], int *count);

#ifdef __cplusplus
}
#endif
#endif
