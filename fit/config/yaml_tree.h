/* A YAML document as a tree that remembers where each value stands, with values put over it from
 * the command line. */
#ifndef DB_FIT_CONFIG_YAML_TREE_H
#define DB_FIT_CONFIG_YAML_TREE_H

#include <dualbragg/context.h>
#include <stddef.h>

typedef enum db_yaml_kind { DB_YAML_SCALAR, DB_YAML_LIST, DB_YAML_MAP } db_yaml_kind;

typedef struct db_yaml_node {
    db_yaml_kind kind;
    int line, key_line;   /* in the file, from 1; of the key whose value it is */
    const char *argument; /* the command line's "key.path=value" this came from (borrowed); NULL:
                             the file */
    char *text;           /* scalar; "" for an empty value */
    size_t count;         /* list, map */
    char **keys;          /* map */
    struct db_yaml_node **items; /* list: elements; map: values */
} db_yaml_node;

/* Reads a file that holds one YAML document. Refuses repeated keys, several documents, and
 * documents that aliases blow up. */
db_status db_yaml_read(db_context *context, const char *path, db_yaml_node **root);

/* A document that says nothing. */
db_status db_yaml_empty_map(db_context *context, db_yaml_node **root);

/* The name of a key of a section ("": the top) that an argument calls so. */
typedef const char *(*db_yaml_key)(db_context *context, const char *argument, const char *section,
                                   const char *key);

/* Puts "key.path=value" over the tree; value is YAML too, such as 3 or [1, 2]. Maps on the way are
 * created; an element of a list is addressed by its number (from 1) or by the value of its key
 * "name". */
db_status db_yaml_override(db_context *context, db_yaml_node *root, const char *argument,
                           db_yaml_key name);

void db_yaml_free(db_yaml_node **node);

/* Value of a map's key; NULL if absent. */
db_yaml_node *db_yaml_find(const db_yaml_node *map, const char *key);

#endif
