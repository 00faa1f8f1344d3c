/* Former names of a configuration's keys. */
#ifndef DB_FIT_CONFIG_FORMER_KEYS_H
#define DB_FIT_CONFIG_FORMER_KEYS_H

#include "fit/config/yaml_tree.h"

/* Gives keys their present names, each with a notice. path: of the file, for messages. DB_ERROR_USAGE if a map has
 * both names. */
db_status db_former_keys_rename(db_context *context, const char *path, db_yaml_node *root);

/* A db_yaml_key for arguments: the present name of a key, with a notice if it had a former one. */
const char *db_former_key_now(db_context *context, const char *argument, const char *section,
                              const char *key);

#endif
