#define _POSIX_C_SOURCE 200809L /* strdup */
#include "io/image_template.h"

#include "base/context_internal.h"
#include "base/path.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 9 };

/* Number of digits that end right before `end`. */
static size_t digits_before(const char *start, const char *end) {
    size_t count = 0;
    while (end - count > start && isdigit((unsigned char)end[-1 - (ptrdiff_t)count])) count++;
    return count;
}

db_status db_image_template_of(db_context *context, const char *path, db_image_template *made) {
    *made = (db_image_template){ .text = strdup(path), .number = 1 };
    if (!made->text) return db_fail_memory(context, "the name of an image");
    const char *const name = db_file_name(path);
    const char *const dot = strrchr(name, '.');
    const char *end = name + strlen(name);
    if (!dot || strchr(name, '#')) return DB_OK;
    size_t digits = digits_before(dot + 1, end);
    if (digits < 2 || end - digits != dot + 1) { /* not an extension of digits alone */
        end = dot;
        digits = digits_before(name, end);
    }
    if (!digits || digits > MOST_DIGITS) return DB_OK;
    made->numbered = 1;
    made->number = (int)strtol(end - digits, NULL, 10);
    memset(made->text + (end - digits - path), '#', digits);
    return DB_OK;
}
