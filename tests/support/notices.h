/* What the library tells a caller who asks for notices, kept line by line. */
#ifndef DB_TESTS_SUPPORT_NOTICES_H
#define DB_TESTS_SUPPORT_NOTICES_H

#include <string.h>

static char notices[4096]; /* to be emptied: notices[0] = '\0' */

static void keep_notice(void *user, const char *line) {
    (void)user;
    strncat(notices, line, sizeof notices - strlen(notices) - 2);
    strcat(notices, "\n");
}

#endif
