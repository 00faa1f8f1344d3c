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

enum { DB_GROUP_NAME_SIZE = 32 /**< bytes of a symbol of a space group */ };

/** A space group, in a setting of its own. */
typedef struct db_space_group {
    char name[DB_GROUP_NAME_SIZE];   /**< Hermann-Mauguin symbol: "P 43 21 2", "R 3:H" */
    int number;                      /**< of the International Tables */
    db_symmetry symmetry;            /**< rotations */
    int shift[DB_MOST_OPERATORS][3]; /**< translation that follows each rotation (cell / 24) */
    int centring_count;              /**< 1 to 4 */
    int centring[4][3];              /**< (cell / 24); the first is 0 0 0 */
    char hall[DB_GROUP_NAME_SIZE];   /**< Hall symbol: "P 4nw 2abw" */
} db_space_group;

/** Finds equivalent structure factors of a box, for db_plan_share_amplitudes: the operators,
 * and with friedel also inversion, map their indices to each other. Classes are numbered in
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
