#define _POSIX_C_SOURCE 200809L /* strdup */
#include "io/image_template.h"

#include "core/context_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 9 };

/* The last run of digits in [start, end): its first digit and length; 0 if there is none. */
static size_t last_number(const char *start, const char *end, const char **first) {
    while (end > start && !isdigit((unsigned char)end[-1])) end--;
    const char *digit = end;
    while (digit > start && isdigit((unsigned char)digit[-1])) digit--;
    *first = digit;
    return (size_t)(end - digit);
}

db_status db_image_template_of(db_context *context, const char *path, db_image_template *made) {
    made->number = 1;
    made->text = strdup(path);
    if (!made->text) return db_fail_memory(context, "the name of an image");
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *first;
    const char *const end = name + strlen(name), *const dot = strrchr(name, '.');
    size_t digits = last_number(name, dot ? dot : end, &first);
    if (!digits && dot) digits = last_number(dot, end, &first);
    if (!digits || digits > MOST_DIGITS || strchr(name, '#')) return DB_OK;
    made->number = (int)strtol(first, NULL, 10);
    memset(made->text + (first - path), '#', digits);
    return DB_OK;
}
