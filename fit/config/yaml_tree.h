/* A YAML document as a tree that remembers the line of each value; the command line can replace values. */
#ifndef DB_FIT_CONFIG_YAML_TREE_H
#define DB_FIT_CONFIG_YAML_TREE_H

#include <dualbragg/context.h>
#include <stddef.h>

typedef enum db_yaml_kind { DB_YAML_SCALAR, DB_YAML_LIST, DB_YAML_MAP } db_yaml_kind;

typedef struct db_yaml_node {
    db_yaml_kind kind;
    int line, key_line;   /* line in the file, from 1; line of the key of this value */
    const char *argument; /* "key.path=value" of the command line (borrowed); NULL: from the file */
    char *text;           /* scalar; "" for an empty value */
    size_t count;         /* list, map */
    char **keys;          /* map */
    struct db_yaml_node **items; /* list: elements; map: values */
} db_yaml_node;

/* Reads a file with one YAML document. Refuses repeated keys, several documents, and documents that aliases blow
 * up. */
db_status db_yaml_read(db_context *context, const char *path, db_yaml_node **root);

/* An empty document. */
db_status db_yaml_empty_map(db_context *context, db_yaml_node **root);

/* Present name of a key in a section ("": the top), for arguments. */
typedef const char *(*db_yaml_key)(db_context *context, const char *argument, const char *section,
                                   const char *key);

/* Sets "key.path=value" in the tree; value is YAML too, such as 3 or [1, 2]. Creates maps on the way; an element
 * of a list is addressed by its number (from 1) or by the value of its key "name". */
db_status db_yaml_override(db_context *context, db_yaml_node *root, const char *argument,
                           db_yaml_key name);

void db_yaml_free(db_yaml_node **node);

/* Value of a map's key; NULL if it is absent. */
db_yaml_node *db_yaml_find(const db_yaml_node *map, const char *key);

#endif
