/* Values of single keys: from the YAML tree into a struct, with messages that name the place. */
#ifndef DB_FIT_CONFIG_CONFIG_VALUE_H
#define DB_FIT_CONFIG_CONFIG_VALUE_H

#include "fit/config/config_keys.h"
#include "fit/config/yaml_tree.h"

typedef struct db_config_reader {
    db_context *context;
    const char *path;                  /* of the YAML file */
    const db_fit_panel_groups *groups; /* groups of the configuration, once read */
} db_config_reader;

/* Fails with "<file>:<line>: <section>.<name>: <message>", or with the argument instead of file and line. */
db_status db_config_fail(const db_config_reader *reader, const db_yaml_node *node,
                         const char *section, const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Fails at the node with "expected <key's format>, found <node's content>". */
db_status db_config_fail_expected(const db_config_reader *reader, const db_yaml_node *node,
                                  const char *section, const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* As db_config_fail, for a key in no table; names the nearest of `known`, if one is near. */
db_status db_config_fail_unknown(const db_config_reader *reader, const db_yaml_node *node,
                                 const char *section, const char *name, const char *const *known,
                                 size_t known_count);

/* Stores the node's value in the key's place. */
db_status db_config_take(const db_config_reader *reader, const char *section,
                         const db_config_key *key, const db_yaml_node *node, void *base);

/* Checks the values of a section's keys in a part of the struct that the section fills: `size` bytes from offset
 * `first` on, at `part`. Fails with "<what>: <key> <value>, expected ...". */
db_status db_config_check_part(db_context *context, const char *what,
                               const db_config_section *section, size_t first, size_t size,
                               const void *part);

/* Stores a map whose keys are all in the section's table. */
db_status db_config_take_section(const db_config_reader *reader, const char *name,
                                 const db_config_section *section, const db_yaml_node *map,
                                 void *base);

/* Number of the motion of every group: "panel_groups:shift_fast" (a single group: "quadrant_0:shift_fast"). These
 * numbers are above all quantities' numbers, by kind. */
enum { DB_CONFIG_EVERY_GROUP = DB_FIT_MOST_QUANTITIES };

/* Number of the parameter or motion named by the node's text or its key. Fails there if there is none, or if a
 * configuration cannot refine it (db_config_takes_parameter). */
db_status db_config_quantity(const db_config_reader *reader, const char *section, const char *key,
                             const db_yaml_node *node, const char *name, db_fit_quantity *quantity);

#endif
