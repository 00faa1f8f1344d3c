/* Flags of sim, grad, check, amorphous, orient, noise and view, which share one table, and their effects on the
 * settings. */
#ifndef DB_CLI_FLAGS_H
#define DB_CLI_FLAGS_H

#include "cli/named_files.h"
#include "cli/settings.h"

typedef enum db_flag_group {
    DB_GROUP_CRYSTAL,
    DB_GROUP_STRUCTURE_FACTORS,
    DB_GROUP_AMORPHOUS,
    DB_GROUP_BEAM,
    DB_GROUP_SPINDLE,
    DB_GROUP_DETECTOR,
    DB_GROUP_SAMPLING,
    DB_GROUP_OUTPUT,
    DB_GROUP_SHOTS,
    DB_GROUP_NOISE,
    DB_GROUP_VIEW,
    DB_GROUP_DERIVATIVES,
    DB_GROUP_CONTROL,
    DB_GROUP_COUNT
} db_flag_group;

/* Bits of commands that take a flag. */
enum {
    DB_FOR_SIM = 1,
    DB_FOR_GRAD = 2,
    DB_FOR_CHECK = 4,
    DB_FOR_AMORPHOUS = 8,
    DB_FOR_ORIENT = 16,
    DB_FOR_NOISE = 32,
    DB_FOR_VIEW = 64,
    DB_FOR_CRYSTALS = DB_FOR_SIM | DB_FOR_GRAD | DB_FOR_CHECK
};

extern const db_flag_table db_sim_flags, db_grad_flags, db_check_flags, db_amorphous_flags,
    db_orient_flags, db_noise_flags, db_view_flags;

/* Before the first use of the tables. */
void db_flags_complete(void);

/* Sets defaults. */
void db_settings_init(db_settings *settings, const db_flag_table *flags);

/* Applies the given flags to settings from db_settings_init or the header of an image. */
void db_settings_apply(db_settings *settings, const db_arguments *given);

/* Names the files of curves in -sites, which outputs must not overwrite. */
void db_settings_name_curves(const db_settings *settings, db_named_files *files);

/* Names flags without effect. */
void db_settings_remark(const db_settings *settings, const db_arguments *given);

#endif
