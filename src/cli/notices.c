#include "cli/notices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_of(const char *line) {
    const size_t size = strlen(line) + 1;
    char *copy = malloc(size);
    if (copy) memcpy(copy, line, size);
    return copy;
}

void db_notices_add(void *user, const char *line) {
    db_notices *const notices = user;
    char *const copy = copy_of(line);
    char **const grown = realloc(notices->line, (notices->count + 1) * sizeof *grown);
    if (grown) notices->line = grown;
    if (!grown || !copy) {
        printf("%s\n", line);
        free(copy);
        return;
    }
    notices->line[notices->count++] = copy;
}

static int begins_with_one(const char *line, const char *const *beginnings) {
    for (; *beginnings; beginnings++)
        if (strncmp(line, *beginnings, strlen(*beginnings)) == 0) return 1;
    return 0;
}

static void print_chosen(db_notices *notices, const char *const *beginnings, int beginning) {
    for (size_t i = 0; i < notices->count; i++)
        if (notices->line[i] && begins_with_one(notices->line[i], beginnings) == beginning) {
            printf("%s\n", notices->line[i]);
            free(notices->line[i]);
            notices->line[i] = NULL;
        }
}

void db_notices_print_beginning(db_notices *notices, const char *const *beginnings) {
    print_chosen(notices, beginnings, 1);
}

void db_notices_print_others(db_notices *notices, const char *const *beginnings) {
    print_chosen(notices, beginnings, 0);
}

void db_notices_print_rest(db_notices *notices) {
    print_chosen(notices, (const char *const[]){ NULL }, 0);
}

void db_notices_clear(db_notices *notices) {
    for (size_t i = 0; i < notices->count; i++) free(notices->line[i]);
    free(notices->line);
    *notices = (db_notices){ NULL, 0 };
}
