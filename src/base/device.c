#include "base/device.h"

#include "base/context_internal.h"

#include <dualbragg/device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BACKENDS = 8 };

static const db_device_backend *backends[MOST_BACKENDS];
static size_t backend_count;

void db_device_register(const db_device_backend *backend) {
    for (size_t i = 0; i < backend_count; i++)
        if (backends[i] == backend) return;
    if (backend_count < MOST_BACKENDS) backends[backend_count++] = backend;
}

void db_device_unregister(const db_device_backend *backend) {
    for (size_t i = 0; i < backend_count; i++)
        if (backends[i] == backend) {
            backend_count--;
            memmove(&backends[i], &backends[i + 1], (backend_count - i) * sizeof *backends);
            return;
        }
}

/* "cpu", "auto" and the names of the backends, for messages. */
static void list_names(char *out, size_t size) {
    size_t used = (size_t)snprintf(out, size, "cpu, auto");
    for (size_t i = 0; i < backend_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, ", %s, %s:1", backends[i]->name,
                                 backends[i]->name);
}

/* "cuda", "cuda:1": a name, and a number that may be left out. */
static int is_device_name(const char *text, size_t *length, int *number) {
    *length = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    *number = 0;
    if (!*length) return 0;
    if (!text[*length]) return 1;
    const char *digits = text + *length + 1;
    const size_t count = strspn(digits, "0123456789");
    if (text[*length] != ':' || count < 1 || count > 4 || digits[count]) return 0;
    *number = atoi(digits);
    return 1;
}

static db_status open_device(db_context *context, const db_device_backend *backend, int number,
                             int automatic) {
    db_device made = { .backend = backend, .number = number, .automatic = automatic };
    DB_TRY(backend->open(context, number, made.model));
    snprintf(made.name, sizeof made.name, "%s:%d", backend->name, number);
    context->device = made;
    return DB_OK;
}

static db_status open_any(db_context *context) {
    db_device none = { .automatic = 1, .name = "cpu" };
    if (!backend_count)
        snprintf(none.note, sizeof none.note, "this build has no backend for another device");
    for (size_t i = 0; i < backend_count; i++) {
        if (open_device(context, backends[i], 0, 1) == DB_OK) return DB_OK;
        if (!*none.note) snprintf(none.note, sizeof none.note, "%.500s", context->message);
    }
    context->message[0] = 0;
    context->device = none;
    return DB_OK;
}

db_status db_context_set_device(db_context *context, const char *name) {
    char names[128];
    size_t length;
    int number;
    if (strcmp(name, "cpu") == 0) {
        context->device = (db_device){ .name = "cpu" };
        return DB_OK;
    }
    if (strcmp(name, "auto") == 0) return open_any(context);
    const int well_formed = is_device_name(name, &length, &number);
    for (size_t i = 0; well_formed && i < backend_count; i++)
        if (strlen(backends[i]->name) == length && strncmp(backends[i]->name, name, length) == 0)
            return open_device(context, backends[i], number, 0);
    list_names(names, sizeof names);
    if (well_formed)
        return db_fail(context, DB_ERROR_DEVICE,
                       "device %s: this build has no backend of that name; expected one of %s",
                       name, names);
    return db_fail(context, DB_ERROR_USAGE, "device: expected one of %s, found '%s'", names, name);
}

const char *db_context_device(const db_context *context) { return context->device.name; }

const char *db_context_device_model(const db_context *context) { return context->device.model; }

const char *db_context_device_note(const db_context *context) { return context->device.note; }
