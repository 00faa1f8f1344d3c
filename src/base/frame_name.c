#define _POSIX_C_SOURCE 200809L
/* Names of images in files that hold many. */
#include "base/frame_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long db_frame_split(const char *name, char *file, size_t size) {
    const char *const sign = strrchr(name, '#');
    snprintf(file, size, "%s", name);
    if (!sign || sign == name || !sign[1]) return 0;
    const size_t digits = strspn(sign + 1, "0123456789");
    if (sign[1 + digits] || digits > 9 || access(name, F_OK) == 0) return 0;
    const size_t length = (size_t)(sign - name);
    if (length < size) file[length] = '\0';
    const long number = strtol(sign + 1, NULL, 10);
    return number > 0 ? number : -1;
}
