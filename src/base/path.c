#define _XOPEN_SOURCE 700 /* realpath */
/* Paths from the root. */
#include "base/path.h"

#include <stdlib.h>

char *db_whole_path(const char *name) {
    const size_t size = strlen(name);
    char *const part = malloc(size + 1);
    if (!part) return NULL;
    memcpy(part, name, size + 1);
    char *whole = realpath(part, NULL);
    for (char *sign = strrchr(part, '#'); !whole && sign; sign = strrchr(part, '#')) {
        *sign = '\0';
        whole = realpath(part, NULL);
    }
    const char *const rest = name + strlen(part);
    free(part);
    if (!whole || !*rest) return whole;
    const size_t length = strlen(whole);
    char *const joined = realloc(whole, length + strlen(rest) + 1);
    if (joined)
        memcpy(joined + length, rest, strlen(rest) + 1);
    else
        free(whole);
    return joined;
}
