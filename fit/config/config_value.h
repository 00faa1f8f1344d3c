/* Values of single keys: from the YAML tree into a struct, with messages that say where. */
#ifndef DB_FIT_CONFIG_CONFIG_VALUE_H
#define DB_FIT_CONFIG_CONFIG_VALUE_H

#include "fit/config/config_keys.h"
#include "fit/config/yaml_tree.h"

typedef struct db_config_reader {
    db_context *context;
    const char *path;                  /* of the YAML file */
    const db_fit_panel_groups *groups; /* those of the configuration, once read */
} db_config_reader;

/* Fails with "<file>:<line>: <section>.<name>: <message>", or the argument instead of file and
 * line. */
db_status db_config_fail(const db_config_reader *reader, const db_yaml_node *node,
                         const char *section, const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Fails there with "expected <what the format says>, found <what the node is>". */
db_status db_config_fail_expected(const db_config_reader *reader, const db_yaml_node *node,
                                  const char *section, const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same as db_config_fail for the line of the node's key. */
db_status db_config_fail_at_key(const db_config_reader *reader, const db_yaml_node *node,
                                const char *section, const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same for a key that no table has; names the nearest of `known`, if one is near. */
db_status db_config_fail_unknown(const db_config_reader *reader, const db_yaml_node *node,
                                 const char *section, const char *name, const char *const *known,
                                 size_t known_count);

/* Stores the node's value where the key says. */
db_status db_config_take(const db_config_reader *reader, const char *section,
                         const db_config_key *key, const db_yaml_node *node, void *base);

/* Checks the values of a section's keys in a part of the struct that the section fills: the `size`
 * bytes from offset `first` on, which stand at `part`. Fails with "<what>: <key> <value>, expected
 * ...". */
db_status db_config_check_part(db_context *context, const char *what,
                               const db_config_section *section, size_t first, size_t size,
                               const void *part);

/* Stores a map whose keys are all of the section's table. */
db_status db_config_take_section(const db_config_reader *reader, const char *name,
                                 const db_config_section *section, const db_yaml_node *map,
                                 void *base);

/* The motion of a group of panels is called "quadrant_0:shift_fast", that of every group
 * "panel_groups:shift_fast". Motions of every group have numbers above all quantities' numbers, by kind. */
enum { DB_CONFIG_EVERY_GROUP = DB_FIT_MOST_QUANTITIES };

/* The number of the parameter or motion of that name, which is the node's text or its key. Fails there
 * where there is none or a configuration cannot refine it (db_config_takes_parameter). */
db_status db_config_quantity(const db_config_reader *reader, const char *section, const char *key,
                             const db_yaml_node *node, const char *name, db_fit_quantity *quantity);

#endif
