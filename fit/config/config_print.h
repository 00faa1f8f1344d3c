/* A fit configuration as commented YAML, from the table of keys. */
#ifndef DB_FIT_CONFIG_CONFIG_PRINT_H
#define DB_FIT_CONFIG_CONFIG_PRINT_H

#include <dualbragg/fit.h>
#include <stdio.h>

typedef enum db_config_style {
    DB_CONFIG_EXPLAINED, /* every key with its meaning; open ones as comments */
    DB_CONFIG_PLAIN      /* only keys that have a value */
} db_config_style;

/* Writes the whole configuration to a stream of open_memstream (comments are aligned by position).
 * The locale must be C. */
void db_fit_config_print(const db_fit_config *config, db_config_style style, FILE *stream);

/* Writes a text as a YAML scalar, quoted if YAML would misread it. */
void db_yaml_print_text(FILE *stream, const char *text);

/* Makes "KEY=TEXT" for db_yaml_override, with such a scalar; to be freed. */
db_status db_yaml_setting(db_context *context, const char *key, const char *text, char **setting);

#endif
