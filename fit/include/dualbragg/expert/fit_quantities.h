/** @file
 * Numbers and names of refined quantities. */
#ifndef DUALBRAGG_EXPERT_FIT_QUANTITIES_H
#define DUALBRAGG_EXPERT_FIT_QUANTITIES_H

#include <dualbragg/fit_parameter.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Puts a panel into a group, or, -1, into none.
 *
 * @param context receives the message of a failure
 * @param groups to change
 * @param panel its number, from 0
 * @param group its number, from 0; -1: none
 * @return DB_OK; DB_ERROR_USAGE for a panel number that is too large; DB_ERROR_MEMORY */
DB_API db_status db_fit_panel_groups_put(db_context *context, db_fit_panel_groups *groups,
                                         size_t panel, int group);

/** Whether several images share one value of a parameter. By default
 * they share parameters of the detector and the spindle axis.
 *
 * @param parameter one of the settings
 * @return 1 or 0 */
DB_API int db_fit_parameter_is_shared(const db_fit_parameter *parameter);

/** The quantity that is a parameter of the table (group -1) or the motion of a group of panels.
 * db_fit_quantity_at is the way back.
 *
 * @param parameter of the table
 * @param group -1, or the number of a group of panels
 * @return the quantity */
DB_API db_fit_quantity db_fit_quantity_make(db_parameter parameter, int group);

/** Parameter and group of a quantity.
 *
 * @param quantity its number
 * @param parameter receives the parameter of the table
 * @param group receives -1 or the number of the group */
DB_API void db_fit_quantity_at(db_fit_quantity quantity, db_parameter *parameter, int *group);

/** Appends a group of that name, which is copied and cut off where it is too long.
 *
 * @param context receives the message of a failure
 * @param groups to append to; owns the copy of the name
 * @param name of the group
 * @return DB_OK; DB_ERROR_USAGE beyond the largest number of groups; DB_ERROR_MEMORY */
DB_API db_status db_fit_panel_groups_add(db_context *context, db_fit_panel_groups *groups,
                                         const char *name);

/** Name of a quantity by its number: "cell_a", "quadrant_0:shift_fast".
 *
 * @param groups those of the settings
 * @param quantity its number
 * @param name receives it
 * @return name */
DB_API const char *db_fit_quantity_name(const db_fit_panel_groups *groups, db_fit_quantity quantity,
                                        char name[DB_FIT_NAME_SIZE]);

/** Number of the quantity that a parameter of the settings is.
 *
 * @param parameter one of the settings
 * @return the quantity */
DB_API db_fit_quantity db_fit_quantity_of(const db_fit_parameter *parameter);

#ifdef __cplusplus
}
#endif
#endif
