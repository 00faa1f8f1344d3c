/* Keys of a configuration that had other names once. */
#ifndef DB_FIT_CONFIG_FORMER_KEYS_H
#define DB_FIT_CONFIG_FORMER_KEYS_H

#include "fit/config/yaml_tree.h"

/* Gives them their present names, each with a notice. path: of the file, for messages.
 * DB_ERROR_USAGE where a map has both names. */
db_status db_former_keys_rename(db_context *context, const char *path, db_yaml_node *root);

/* A db_yaml_key of arguments: the present name, with a notice, of a key that had another one. */
const char *db_former_key_now(db_context *context, const char *argument, const char *section,
                              const char *key);

#endif
