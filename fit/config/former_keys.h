/* Keys of a configuration that had other names once. */
#ifndef DB_FIT_CONFIG_FORMER_KEYS_H
#define DB_FIT_CONFIG_FORMER_KEYS_H

#include "fit/config/yaml_tree.h"

/* Gives them their present names, each with a notice; what the command line says wins over the file.
 * path: of the file, for messages. DB_ERROR_USAGE where a file has both names. */
db_status db_former_keys_rename(db_context *context, const char *path, db_yaml_node *root);

#endif
