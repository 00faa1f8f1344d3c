/* Motions of groups of panels as a configuration names them: "quadrant_0:shift_fast", or
 * "panel_groups:shift_fast" for that of every group. */
#ifndef DB_FIT_CONFIG_CONFIG_MOTION_H
#define DB_FIT_CONFIG_CONFIG_MOTION_H

#include "fit/config/config_value.h"
#include "fit/config/quantity.h"

/* Numbers of the motions of every group, above those of all quantities, by their kind. */
enum { DB_CONFIG_EVERY_GROUP = DB_FIT_MOST_PARAMETERS };

/* Does a name have the form of one, rather than that of a parameter of the table? */
int db_config_names_motion(const char *name);

/* Its number; fails at the node where there is no such group or motion. */
db_status db_config_motion(const db_config_reader *reader, const char *section, const char *key,
                           const db_yaml_node *node, const char *name, int *quantity);

#endif
