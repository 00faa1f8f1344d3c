/* The keys of a fit configuration: one table from which it is read, printed and explained. */
#ifndef DB_FIT_CONFIG_CONFIG_KEYS_H
#define DB_FIT_CONFIG_CONFIG_KEYS_H

#include "fit/config/quantity.h"

#include <dualbragg/expert/setup_fields.h>
#include <dualbragg/fit.h>

/* Kinds of keys beside those of db_setup_field. */
enum {
    DB_KEY_FILE = DB_FIELD_KINDS, /* char[DB_FIT_PATH_SIZE], relative to the file it stands in */
    DB_KEY_NAME,                  /* char[DB_FIT_NAME_SIZE] */
    DB_KEY_LATTICES,              /* int: 0 no, 1 yes, more: {lattices: N} */
    DB_KEY_ALGORITHM,             /* db_fit_stage: its kind, and the method of NLopt */
    DB_KEY_PARAMETER,             /* db_fit_quantity */
    DB_KEY_PARAMETER_SET /* unsigned char[DB_FIT_MOST_PARAMETERS], by quantity: 1 named, 2 all
                                     by the word "all" or the motions of all groups */
};

typedef struct db_config_key {
    const db_setup_field *is; /* name, unit, range, meaning; its offset counts ... */
    size_t base;              /* ... from here, in the struct that the section fills */
    const char *open;         /* what happens when it is left out and has no value; NULL: it has a
                                 default value */
    const char *example;      /* of a value, for keys that are open by default */
} db_config_key;

typedef struct db_config_section {
    const char *name; /* "" top level */
    const char *help;
    const db_config_key *keys;
    size_t count;
} db_config_section;

/* Sections that fill a db_fit_config. */
enum {
    DB_SECTION_TOP,
    DB_SECTION_MODEL,
    DB_SECTION_INTENSITY,
    DB_SECTION_DATA,
    DB_SECTION_SHOTS,
    DB_SECTION_STARTS,
    DB_SECTION_AMPLITUDES,
    DB_SECTION_COUNT
};
extern const db_config_section db_config_sections[DB_SECTION_COUNT];

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
        refine[DB_FIT_MOST_PARAMETERS]; /* of each quantity by its number: 1: refined in it */
} db_stage_entry;
extern const db_config_section db_refine_section, db_stage_section;

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

/* Is the value that the key has in the struct "not given"? */
int db_config_key_is_open(const db_config_key *key, const void *base);

#endif
