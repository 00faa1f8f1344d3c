/* Names of files in JSON, which knows UTF-8 only. */
#ifndef DB_CLI_JSON_TEXT_H
#define DB_CLI_JSON_TEXT_H

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are no UTF-8 become question marks. */
static inline json_t *db_json_text_of(const char *bytes) {
    json_t *const plain = json_string(bytes);
    const size_t size = strlen(bytes) + 1;
    char *const copy = plain ? NULL : malloc(size);
    if (!copy) return plain;
    memcpy(copy, bytes, size);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 0x7e) *c = '?';
    json_t *const replaced = json_string(copy);
    free(copy);
    return replaced;
}

#endif
