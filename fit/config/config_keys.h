/* How the keys of a fit configuration are read and printed, by their table. */
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
} db_refine_entry;
typedef struct db_stage_entry {
    db_fit_stage stage;
    unsigned char
        refine[DB_FIT_MOST_QUANTITIES]; /* of each quantity by its number: 1: refined in it */
} db_stage_entry;

/* 1 for the parameters that a configuration can refine: those of the table whose start it can say.
 * The sensor is not refined: thickness and depth go with distance and scale. It has no keys for
 * water and amorphous matter. */
int db_config_takes_parameter(db_parameter parameter);

/* Entry of a section; NULL if there is none of that name. */
const db_config_key *db_config_key_find(const db_config_section *section, const char *name);

/* Where its value stands in the struct that the section fills. */
void *db_config_field(const db_config_key *key, const void *base);

/* Integer of a field of type INTEGER, CHOICE or PARAMETER (which may be an enum). */
int db_config_integer(const void *field, int index);

/* Gives the set-up the kinds of sites of a configuration with known structure factors. */
void db_fit_config_lend_sites(db_fit_config *config);

/* How many values of a key the struct has: all, or of a list that may end early those before the first that is open. */
int db_config_key_values(const db_config_key *key, const void *base);

/* Is the value that the key has in the struct "not given"? */
int db_config_key_is_open(const db_config_key *key, const void *base);

#endif
