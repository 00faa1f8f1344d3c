/* The sections "refine" and "stages" of a fit configuration. */
#ifndef DB_FIT_CONFIG_CONFIG_REFINE_H
#define DB_FIT_CONFIG_CONFIG_REFINE_H

#include "fit/config/config_value.h"

/* The defaults of one entry of each section. */
extern const db_refine_entry db_refine_default;
extern const db_fit_stage db_stage_default;

/* Takes stages of other settings, for quantities that both refine. */
void db_fit_settings_take_stages(db_fit_settings *settings, const db_fit_settings *from);

/* Stage number s of the settings, with its refined quantities. */
db_stage_entry db_stage_entry_of(const db_fit_settings *settings, size_t s);

db_status db_config_take_refine(const db_config_reader *reader, const db_yaml_node *map,
                                db_fit_config *config);

/* Adds the scale of each shot, which shared intensities need, unless it is there. */
db_status db_fit_refine_scale(db_context *context, int earned, db_fit_settings *settings);

/* Takes stages, after refine, whose parameters they name. */
db_status db_config_take_stages(const db_config_reader *reader, const db_yaml_node *list,
                                db_fit_config *config);

/* A parameter of the table among the settings' parameters; NULL: it is not refined. */
db_fit_parameter *db_fit_settings_find(const db_fit_settings *settings, db_parameter parameter);

/* The same, added if it is missing; valid until the next one is added. */
db_status db_fit_settings_need(db_context *context, db_parameter parameter,
                               db_fit_settings *settings, db_fit_parameter **found);

/* Position of a quantity among the settings' parameters; parameter_count if it is not refined. */
size_t db_fit_parameter_index(const db_fit_settings *settings, db_fit_quantity quantity);

#endif
