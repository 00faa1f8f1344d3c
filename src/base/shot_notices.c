#include "base/shot_notices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct db_shot_notice {
    uint64_t key;
    size_t shot; /* the first one */
    int told;
    char line[DB_MESSAGE_SIZE];
} db_shot_notice;

void db_shot_notices_begin(const db_context *context, db_shot_notices *notices) {
    *notices = (db_shot_notices){ .function = context->notice,
                                  .user = context->notice_user,
                                  .notice_count = context->notice_count };
    memcpy(notices->noticed, context->noticed, sizeof notices->noticed);
}

/* Key of a line, without its file and without numbers. */
static uint64_t key_of(const char *line) {
    char kind[DB_MESSAGE_SIZE];
    size_t length = 0;
    const char *const colon = strstr(line, ": ");
    for (const char *c = colon ? colon : line; *c && length + 1 < sizeof kind;) {
        const size_t digits = strspn(c, "0123456789");
        kind[length++] = digits ? '0' : *c;
        c += digits ? strspn(c, "0123456789.e+-") : 1;
    }
    kind[length] = '\0';
    return db_notice_hash(kind);
}

static db_shot_notice *find_notice(const db_shot_notices *notices, uint64_t key) {
    for (size_t i = 0; i < notices->count; i++)
        if (notices->kind[i].key == key) return &notices->kind[i];
    return NULL;
}

/* Adds a notice; without memory it is lost. */
static db_shot_notice *add_notice(db_shot_notices *notices, uint64_t key) {
    db_shot_notice *const grown =
        realloc(notices->kind, (notices->count + 1) * sizeof *notices->kind);
    if (!grown) return NULL;
    notices->kind = grown;
    grown[notices->count] = (db_shot_notice){ .key = key };
    return &grown[notices->count++];
}

static void keep_notice(const db_shot_listener *listener, const char *line) {
    db_shot_notices *const notices = listener->notices;
    const uint64_t key = key_of(line);
    db_shot_notice *known = find_notice(notices, key);
    if (known && (known->told || known->shot <= listener->shot)) return;
    if (!known) known = add_notice(notices, key);
    if (!known) return;
    const int named = strncmp(line, listener->name, strlen(listener->name)) == 0;
    known->shot = listener->shot;
    snprintf(known->line, sizeof known->line, "%s%s%s", named ? "" : listener->name,
             named ? "" : ": ", line);
}

static void hear(void *user, const char *line) {
    const db_shot_listener *const listener = user;
    const db_shot_notices *const notices = listener->notices;
    if (db_notice_is_told(notices->noticed, notices->notice_count, db_notice_hash(line))) return;
#pragma omp critical(db_shot_notices)
    keep_notice(listener, line);
}

void db_shot_notices_listen(db_context *context, db_shot_listener *listener) {
    listener->before = context->notice;
    listener->user_before = context->notice_user;
    context->notice = listener->notices->function ? hear : NULL;
    context->notice_user = listener;
}

void db_shot_notices_leave(db_context *context, const db_shot_listener *listener) {
    context->notice = listener->before;
    context->notice_user = listener->user_before;
}

static db_shot_notice *next(const db_shot_notices *notices, size_t shots) {
    db_shot_notice *first = NULL;
    for (size_t i = 0; i < notices->count; i++) {
        db_shot_notice *const own = &notices->kind[i];
        if (!own->told && own->shot < shots && (!first || own->shot < first->shot)) first = own;
    }
    return first;
}

void db_shot_notices_tell(db_shot_notices *notices, size_t shots) {
#pragma omp critical(db_shot_notices)
    for (db_shot_notice *own; (own = next(notices, shots)) != NULL;) {
        own->told = 1;
        notices->function(notices->user, own->line);
    }
}

void db_shot_notices_clear(db_shot_notices *notices) {
    free(notices->kind);
    *notices = (db_shot_notices){ .function = NULL };
}
