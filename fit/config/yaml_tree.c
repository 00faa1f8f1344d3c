/* Builds the tree with libyaml; KEY=VALUE arguments replace its nodes. */
#define _POSIX_C_SOURCE 200809L
#include "fit/config/yaml_tree.h"

#include "base/context_internal.h"
#include "base/file_content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Far beyond any configuration, and small enough to stop aliases that refer to themselves or multiply. */
enum { DEEPEST = 16, MOST_NODES = 20000, MOST_WRITTEN = 2 * MOST_NODES /* keys, too */ };

typedef struct builder {
    db_context *context;
    yaml_document_t *document;
    const char *source; /* file name, or the whole argument */
    const char *argument;
    size_t nodes;
} builder;

void db_yaml_free(db_yaml_node **node) {
    if (!node || !*node) return;
    db_yaml_node *const n = *node;
    for (size_t i = 0; i < n->count; i++) {
        db_yaml_free(&n->items[i]);
        if (n->keys) free(n->keys[i]);
    }
    free(n->items);
    free(n->keys);
    free(n->text);
    free(n);
    *node = NULL;
}

db_yaml_node *db_yaml_find(const db_yaml_node *map, const char *key) {
    if (map->kind != DB_YAML_MAP) return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->keys[i], key) == 0) return map->items[i];
    return NULL;
}

static db_yaml_node *new_node(db_yaml_kind kind, int line, const char *argument) {
    db_yaml_node *const node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->kind = kind;
    node->line = line;
    node->argument = argument;
    return node;
}

/* Adds an element, which a failure frees; key NULL for a list. */
static db_status append_item(db_context *context, db_yaml_node *parent, const char *key, int line,
                             db_yaml_node *item) {
    const size_t count = parent->count + 1;
    db_yaml_node **const items = realloc(parent->items, count * sizeof(void *));
    if (items) parent->items = items;
    char **keys = NULL;
    char *copy = NULL;
    if (parent->kind == DB_YAML_MAP) {
        keys = realloc(parent->keys, count * sizeof *keys);
        if (keys) parent->keys = keys;
        copy = strdup(key);
    }
    if (!items || (parent->kind == DB_YAML_MAP && (!keys || !copy))) {
        free(copy);
        db_yaml_free(&item);
        return db_fail_memory(context, "a YAML document");
    }
    item->key_line = line;
    items[parent->count] = item;
    if (keys) keys[parent->count] = copy;
    parent->count = count;
    return DB_OK;
}

static db_status check_extent(const builder *b, int line, int depth, size_t values, size_t most) {
    if (depth > DEEPEST)
        return db_fail(b->context, DB_ERROR_USAGE,
                       "%s:%d: nested too deeply: expected at most %d lists and maps within each "
                       "other",
                       b->source, line, DEEPEST);
    if (values > most)
        return db_fail(b->context, DB_ERROR_USAGE, "%s:%d: expected at most %d values", b->source,
                       line, MOST_NODES);
    return DB_OK;
}

static db_status build_node(builder *b, int index, int depth, db_yaml_node **out);

static db_status build_list(builder *b, const yaml_node_t *from, int depth, db_yaml_node *list) {
    for (const yaml_node_item_t *i = from->data.sequence.items.start;
         i < from->data.sequence.items.top; i++) {
        db_yaml_node *item = NULL;
        DB_TRY(build_node(b, *i, depth + 1, &item));
        DB_TRY(append_item(b->context, list, NULL, 0, item));
    }
    return DB_OK;
}

static db_status build_map(builder *b, const yaml_node_t *from, int depth, db_yaml_node *map) {
    for (const yaml_node_pair_t *p = from->data.mapping.pairs.start;
         p < from->data.mapping.pairs.top; p++) {
        const yaml_node_t *const key = yaml_document_get_node(b->document, p->key);
        const int line = (int)key->start_mark.line + 1;
        if (key->type != YAML_SCALAR_NODE || key->data.scalar.length == 0)
            return db_fail(b->context, DB_ERROR_USAGE, "%s:%d: expected a name before ':'",
                           b->source, line);
        const char *const name = (const char *)key->data.scalar.value;
        for (size_t i = 0; i < map->count; i++)
            if (strcmp(map->keys[i], name) == 0)
                return db_fail(b->context, DB_ERROR_USAGE,
                               "%s:%d: '%s' is given twice, first in line %d", b->source, line,
                               name, map->items[i]->key_line);
        db_yaml_node *item = NULL;
        DB_TRY(build_node(b, p->value, depth + 1, &item));
        DB_TRY(append_item(b->context, map, name, line, item));
    }
    return DB_OK;
}

static db_status build_node(builder *b, int index, int depth, db_yaml_node **out) {
    const yaml_node_t *const from = yaml_document_get_node(b->document, index);
    const int line = (int)from->start_mark.line + 1;
    DB_TRY(check_extent(b, line, depth, ++b->nodes, MOST_NODES));
    static const db_yaml_kind kinds[] = { [YAML_SCALAR_NODE] = DB_YAML_SCALAR,
                                          [YAML_SEQUENCE_NODE] = DB_YAML_LIST,
                                          [YAML_MAPPING_NODE] = DB_YAML_MAP };
    db_yaml_node *node = new_node(kinds[from->type], line, b->argument);
    if (!node) return db_fail_memory(b->context, "a YAML document");
    db_status status = DB_OK;
    if (node->kind == DB_YAML_LIST) {
        status = build_list(b, from, depth, node);
    } else if (node->kind == DB_YAML_MAP) {
        status = build_map(b, from, depth, node);
    } else {
        const char *const text = (const char *)from->data.scalar.value;
        if (strlen(text) != from->data.scalar.length)
            status = db_fail(b->context, DB_ERROR_USAGE, "%s:%d: a value contains a zero byte",
                             b->source, line);
        else if (!(node->text = strdup(text)))
            status = db_fail_memory(b->context, "a YAML document");
    }
    if (status != DB_OK) {
        db_yaml_free(&node);
        return status;
    }
    *out = node;
    return DB_OK;
}

static db_status syntax_error(builder *b, const yaml_parser_t *parser) {
    static const char no_token[] = "found character that cannot start any token";
    const char *problem = parser->problem ? parser->problem : "cannot be read";
    if (strcmp(problem, no_token) == 0)
        problem = "expected spaces, a key or a value, found a tab or another character that YAML "
                  "does not allow here";
    if (parser->error == YAML_MEMORY_ERROR || parser->error == YAML_NO_ERROR)
        return db_fail_memory(b->context, "a YAML document");
    if (parser->error == YAML_READER_ERROR)
        return db_fail(b->context, DB_ERROR_USAGE, "%s: not a YAML text: %s at byte %zu", b->source,
                       problem, parser->problem_offset);
    const unsigned line = (unsigned)parser->problem_mark.line + 1;
    const unsigned column = (unsigned)parser->problem_mark.column + 1;
    if (parser->context && parser->context_mark.line + 1 < line)
        return db_fail(b->context, DB_ERROR_USAGE,
                       "%s:%u: column %u: %s (%s that starts in line %u)", b->source, line, column,
                       problem, parser->context, (unsigned)parser->context_mark.line + 1);
    return db_fail(b->context, DB_ERROR_USAGE, "%s:%u: column %u: %s", b->source, line, column,
                   problem);
}

/* Takes the only document of the parser's input. */
static db_status take_document(builder *b, yaml_parser_t *parser, db_yaml_node **root) {
    yaml_document_t document;
    if (!yaml_parser_load(parser, &document)) return syntax_error(b, parser);
    b->document = &document;
    db_status status = DB_OK;
    if (!yaml_document_get_root_node(&document))
        status = db_fail(b->context, DB_ERROR_USAGE, "%s: empty; expected 'key: value' lines",
                         b->source);
    else
        status = build_node(b, 1, 0, root);
    yaml_document_delete(&document);
    b->document = NULL;
    if (status != DB_OK) return status;
    if (!yaml_parser_load(parser, &document)) return syntax_error(b, parser);
    const yaml_node_t *const second = yaml_document_get_root_node(&document);
    if (second)
        status =
            db_fail(b->context, DB_ERROR_USAGE, "%s:%d: a second document begins; expected one",
                    b->source, (int)second->start_mark.line + 1);
    yaml_document_delete(&document);
    return status;
}

/* Checks a text event by event; ends if it is nested too deeply or too long: the parser's time for a token grows
 * with depth and with the number of anchors. */
static db_status look_through(builder *b, yaml_parser_t *parser, db_yaml_node **unused) {
    int depth = 0;
    size_t values = 0;
    (void)unused;
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) return syntax_error(b, parser);
        const yaml_event_type_t type = event.type;
        const int line = (int)event.start_mark.line + 1;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT) return DB_OK;
        const int begins = type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
        depth += begins - (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT);
        values += begins || type == YAML_SCALAR_EVENT || type == YAML_ALIAS_EVENT;
        DB_TRY(check_extent(b, line, depth, values, MOST_WRITTEN));
    }
}

/* A text and its name. */
typedef struct yaml_text {
    const char *text;
    size_t size;
    const char *source, *argument;
} yaml_text;

static db_status read_text(db_context *context, const yaml_text *from,
                           db_status (*read)(builder *, yaml_parser_t *, db_yaml_node **),
                           db_yaml_node **root) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return db_fail_memory(context, "a YAML parser");
    yaml_parser_set_input_string(&parser, (const unsigned char *)from->text, from->size);
    builder b = { context, NULL, from->source, from->argument, 0 };
    const db_status status = read(&b, &parser, root);
    yaml_parser_delete(&parser);
    return status;
}

/* Takes the one document of a text; none after a failure, also behind the document. */
static db_status parse_text(db_context *context, yaml_text from, db_yaml_node **root) {
    *root = NULL;
    DB_TRY(read_text(context, &from, look_through, NULL));
    const db_status status = read_text(context, &from, take_document, root);
    if (status != DB_OK) db_yaml_free(root);
    return status;
}

db_status db_yaml_read(db_context *context, const char *path, db_yaml_node **root) {
    *root = NULL;
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    db_status status =
        parse_text(context, (yaml_text){ content.bytes, content.size, path, NULL }, root);
    db_file_content_clear(&content);
    if (status == DB_OK && *root && (*root)->kind != DB_YAML_MAP)
        status = db_fail(context, DB_ERROR_USAGE, "%s:%d: expected 'key: value' lines", path,
                         (*root)->line);
    if (status != DB_OK) db_yaml_free(root);
    return status;
}

db_status db_yaml_empty_map(db_context *context, db_yaml_node **root) {
    return parse_text(context, (yaml_text){ "{}", 2, "", NULL }, root);
}

/* Element of a list that a step of a key path addresses; count if there is none. */
static size_t list_element(const db_yaml_node *list, const char *step) {
    char *end;
    const unsigned long number = strtoul(step, &end, 10);
    if (*end == '\0' && number >= 1 && number <= list->count) return (size_t)number - 1;
    for (size_t i = 0; i < list->count; i++) {
        const db_yaml_node *const name = db_yaml_find(list->items[i], "name");
        if (name && name->kind == DB_YAML_SCALAR && strcmp(name->text, step) == 0) return i;
    }
    return list->count;
}

/* Finds or makes the place that `step` names below `node`; NULL and a status if that is impossible.
 */
static db_yaml_node **descend(db_context *context, db_yaml_node *node, const char *step,
                              const char *argument, db_status *status) {
    if (node->kind == DB_YAML_LIST) {
        const size_t i = list_element(node, step);
        if (i < node->count) return &node->items[i];
        *status = db_fail(context, DB_ERROR_USAGE,
                          "argument '%s': there is no element '%s' in a list of %zu", argument,
                          step, node->count);
        return NULL;
    }
    if (node->kind ==
        DB_YAML_SCALAR) { /* e.g. "intensity: free" becomes a map for intensity.hkl=... */
        free(node->text);
        node->text = NULL;
        node->kind = DB_YAML_MAP;
        node->argument = argument;
    }
    for (size_t i = 0; i < node->count; i++)
        if (strcmp(node->keys[i], step) == 0) return &node->items[i];
    db_yaml_node *const empty = new_node(DB_YAML_MAP, 0, argument);
    if (!empty) {
        *status = db_fail_memory(context, "a YAML document");
        return NULL;
    }
    *status = append_item(context, node, step, 0, empty);
    return *status == DB_OK ? &node->items[node->count - 1] : NULL;
}

static db_status place_value(db_context *context, db_yaml_node *root, const char *argument,
                             db_yaml_key name, char *key_path, db_yaml_node *value) {
    db_yaml_node *node = root;
    const char *section = "";
    db_yaml_node **place = NULL;
    for (char *step = key_path; step && node;) {
        char *const dot = strchr(step, '.');
        if (dot) *dot = '\0';
        if (*step == '\0')
            return db_fail(context, DB_ERROR_USAGE, "argument '%s': expected key.path=value",
                           argument);
        db_status status = DB_OK;
        section = name(context, argument, section, step);
        place = descend(context, node, section, argument, &status);
        if (!place) return status;
        node = *place;
        step = dot ? dot + 1 : NULL;
    }
    if (!place) return DB_OK; /* an empty path, which has been refused before */
    db_yaml_free(place);
    *place = value;
    return DB_OK;
}

db_status db_yaml_override(db_context *context, db_yaml_node *root, const char *argument,
                           db_yaml_key name) {
    const char *const equals = strchr(argument, '=');
    if (!equals || equals == argument || equals[1] == '\0')
        return db_fail(context, DB_ERROR_USAGE, "argument '%s': expected key.path=value", argument);
    char source[256];
    snprintf(source, sizeof source, "argument '%s'", argument);
    db_yaml_node *value = NULL;
    db_status status = parse_text(
        context, (yaml_text){ equals + 1, strlen(equals + 1), source, argument }, &value);
    char *const key_path = strndup(argument, (size_t)(equals - argument));
    if (status == DB_OK && !key_path) status = db_fail_memory(context, "a YAML document");
    if (status == DB_OK) status = place_value(context, root, argument, name, key_path, value);
    if (status != DB_OK) db_yaml_free(&value);
    free(key_path);
    return status;
}
