/** @file
 * The keys of a fit configuration: one table from which it is read, printed and explained. */
#ifndef DUALBRAGG_EXPERT_FIT_KEYS_H
#define DUALBRAGG_EXPERT_FIT_KEYS_H

#include <dualbragg/context.h>
#include <dualbragg/expert/setup_fields.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of keys beside those of db_setup_field. */
enum {
    DB_KEY_FILE = DB_FIELD_KINDS, /**< char[DB_FIT_PATH_SIZE], relative to the file it stands in */
    DB_KEY_NAME,                  /**< char[DB_FIT_NAME_SIZE] */
    DB_KEY_SITES,        /**< char[DB_FIT_PATH_SIZE], db_setup.sites; files as for DB_KEY_FILE */
    DB_KEY_LATTICES,     /**< int: 0 no, 1 yes, more: {lattices: N} */
    DB_KEY_ALGORITHM,    /**< db_fit_stage: its kind, and the method of NLopt */
    DB_KEY_PARAMETER,    /**< db_fit_quantity */
    DB_KEY_PARAMETER_SET /**< unsigned char[DB_FIT_MOST_QUANTITIES], by quantity: 1 named, 2 all
                              by the word "all" or the motions of all groups */
};

/** A key of a section. */
typedef struct db_config_key {
    const db_setup_field *is; /**< name, unit, range, meaning; its offset counts ... */
    size_t base;              /**< ... from here, in the struct that the section fills */
    const char *open;         /**< what happens when it is left out and has no value; NULL: it has a
                                   default value */
    const char *example;      /**< of a value, for keys that are open by default */
} db_config_key;

/** A section of a configuration. */
typedef struct db_config_section {
    const char *name; /**< "" top level */
    const char *help;
    const db_config_key *keys;
    size_t count;
} db_config_section;

/** Sections that fill a db_fit_config. */
enum {
    DB_SECTION_TOP,
    DB_SECTION_MODEL,
    DB_SECTION_INTENSITY,
    DB_SECTION_DATA,
    DB_SECTION_SHOTS,
    DB_SECTION_STARTS,
    DB_SECTION_AMPLITUDES,
    DB_SECTION_CURVES,
    DB_SECTION_COUNT
};

/** The sections, by these numbers. */
DB_API extern const db_config_section db_config_sections[];

/** Keys of one refined parameter, and of one stage. */
DB_API extern const db_config_section db_refine_section, db_stage_section;

#ifdef __cplusplus
}
#endif
#endif
