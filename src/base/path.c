#define _XOPEN_SOURCE 700 /* realpath */
/* Paths from the root. */
#include "base/path.h"

#include <stdlib.h>

/* Leaves out zeros ahead of the numbers of an image, #N or #PATH//N/N. */
static void drop_zeros(char *image) {
    char *const event = strstr(image, "//");
    char *from = event ? event + 2 : image + 1, *to = from;
    if (from[strspn(from, event ? "0123456789/" : "0123456789")]) return;
    while (*from) {
        while (*from == '0' && from[1] && from[1] != '/') from++;
        do *to++ = *from++;
        while (*from && from[-1] != '/');
    }
    *to = '\0';
}

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
    if (joined) {
        memcpy(joined + length, rest, strlen(rest) + 1);
        drop_zeros(joined + length);
    } else
        free(whole);
    return joined;
}
