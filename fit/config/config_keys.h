/* Table of the keys of a fit configuration, by which they are read and printed. */
#ifndef DB_FIT_CONFIG_CONFIG_KEYS_H
#define DB_FIT_CONFIG_CONFIG_KEYS_H

#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_keys.h>
#include <dualbragg/fit.h>

/* Keys of one refined parameter (a db_refine_entry) and of one stage (a db_stage_entry). */
typedef struct db_refine_entry {
    double range, lower, upper, scale; /* NAN: open */
    db_fit_quantity follows;
    double prior[2]; /* centre, sigma; NAN: open */
    int shared;      /* 0, 1; -1: open */
    int earned;
} db_refine_entry;
typedef struct db_stage_entry {
    db_fit_stage stage;
    unsigned char
        refine[DB_FIT_MOST_QUANTITIES]; /* [number of a quantity] 1: this stage refines it */
} db_stage_entry;

/* 1 for parameters that a configuration can refine: parameters of the table with a key for their start. The sensor
 * is not refined, because its thickness and depth act like distance and scale. Configurations have no keys for
 * water and amorphous matter. */
int db_config_takes_parameter(db_parameter parameter);

/* Key of a section; NULL if there is none of that name. */
const db_config_key *db_config_key_find(const db_config_section *section, const char *name);

/* Place of a key's value in the struct that the section fills. */
void *db_config_field(const db_config_key *key, const void *base);

/* Integer of a field of type INTEGER, CHOICE or PARAMETER (which may be an enum). */
int db_config_integer(const void *field, int index);

/* Lends the set-up the names of the configuration's files, and what else it borrows from it. */
void db_fit_config_lend_names(db_fit_config *config);

/* Do shots have common intensities: joint ones, or merged free ones of a series? */
int db_fit_config_merges(const db_fit_config *config);

/* Number of a key's values in the struct: all, or for a list that may end early, the values before the first open
 * one. */
int db_config_key_values(const db_config_key *key, const void *base);

/* Is a key's value in the struct "not given"? */
int db_config_key_is_open(const db_config_key *key, const void *base);

#endif
