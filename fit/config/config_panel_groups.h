/* The section "panel_groups" of a fit configuration. */
#ifndef DB_FIT_CONFIG_CONFIG_PANEL_GROUPS_H
#define DB_FIT_CONFIG_CONFIG_PANEL_GROUPS_H

#include "fit/config/config_value.h"

/* After the model: its experiment list knows panels and their hierarchy. */
db_status db_config_take_panel_groups(const db_config_reader *reader, const db_yaml_node *node,
                                      db_fit_config *config);

#endif
