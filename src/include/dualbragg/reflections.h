/** @file
 * Symmetry of Miller indices, and reflection tables of DIALS. */
#ifndef DUALBRAGG_REFLECTIONS_H
#define DUALBRAGG_REFLECTIONS_H

#include <dualbragg/experiment.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DB_MOST_OPERATORS = 192 }; /**< no space group has more */

/** Rotations of a space group's operators, each once. */
typedef struct db_symmetry {
    int count;
    int rotation[DB_MOST_OPERATORS][9]; /**< row-major; acts on coordinates from the left */
} db_symmetry;

/** A space group, in a setting of its own. */
typedef struct db_space_group {
    char name[32];                   /**< Hermann-Mauguin symbol: "P 43 21 2", "R 3:H" */
    int number;                      /**< of the International Tables */
    db_symmetry symmetry;            /**< rotations */
    int shift[DB_MOST_OPERATORS][3]; /**< translation that follows each rotation (cell / 24) */
    int centring_count;              /**< 1 to 4 */
    int centring[4][3];              /**< (cell / 24); the first is 0 0 0 */
} db_space_group;

/** Finds a space group in gemmi's table.
 *
 * @param context receives the message of a failure
 * @param name as for db_symmetry_of_group
 * @param group filled
 * @return DB_ERROR_UNSUPPORTED in builds without gemmi, DB_ERROR_INPUT where there is no such group */
DB_API db_status db_space_group_find(db_context *context, const char *name, db_space_group *group);

/** Finds a space group in gemmi's table, in the setting that a cell has where the name leaves it open: the
 * axes of "R 3", the unique axis of "P 21", any setting of a number.
 *
 * @param context receives the message of a failure
 * @param name as for db_symmetry_of_group
 * @param cell angstrom, degree
 * @param group filled
 * @return DB_ERROR_UNSUPPORTED in builds without gemmi, DB_ERROR_INPUT where there is no such group, or
 *     where the cell cannot have it: its operators change edges by more than 2 % or angles by more than
 *     2 degree */
DB_API db_status db_space_group_of_cell(db_context *context, const char *name, const double cell[6],
                                        db_space_group *group);

/** Finds which structure factors of a box are equivalent, for db_plan_share_amplitudes: those of
 * indices that the operators, and with friedel inversion, turn into each other. Classes are numbered in
 * the order of their first entries in the box. Thread-safe.
 *
 * @param factors min and extent of the box
 * @param symmetry rotations of a group; NULL: none
 * @param friedel 1: F(-h -k -l) is F(h k l)
 * @param value receives the number of its class for each entry of the box; in the order of
 *     db_structure_factors.amplitude
 * @return number of classes */
DB_API size_t db_amplitude_classes(const db_structure_factors *factors, const db_symmetry *symmetry,
                                   int friedel, uint32_t *value);

#ifdef __cplusplus
}
#endif
#endif
