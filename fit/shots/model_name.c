#include "fit/shots/model_name.h"

#include <stdio.h>
#include <string.h>

void db_shots_model_name(const char *whole, size_t shot, size_t count,
                         char name[DB_FIT_PATH_SIZE]) {
    const char *const slash = strrchr(whole, '/');
    const char *const last = slash ? slash + 1 : whole, *const dot = strrchr(last, '.');
    const size_t length = dot && dot != last ? (size_t)(dot - last) : strlen(last);
    int digits = 4;
    for (size_t n = count; n >= 10000; n /= 10) digits++;
    snprintf(name, DB_FIT_PATH_SIZE, "%0*zu_%.*s", digits, shot + 1,
             (int)(length < 200 ? length : 200), last);
    /* Lists of shots give other meanings to these. */
    for (char *c = name; (c = strpbrk(c, " \t\r\n#=[]{}'\"")) != NULL;) *c = '_';
}
