/* The section "panel_groups" of a fit configuration. */
#ifndef DB_FIT_CONFIG_CONFIG_PANEL_GROUPS_H
#define DB_FIT_CONFIG_CONFIG_PANEL_GROUPS_H

#include "fit/config/config_print.h"
#include "fit/config/config_value.h"

/* After the model: its experiment list knows panels and their hierarchy. */
db_status db_config_take_panel_groups(const db_config_reader *reader, const db_yaml_node *node,
                                      db_fit_config *config);

void db_config_print_panel_groups(const db_fit_panel_groups *groups, db_config_style style,
                                  FILE *stream);

#endif
