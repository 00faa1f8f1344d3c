#include "base/gang.h"

#include "base/context_internal.h"

#include <stdlib.h>

int db_gang_jobs = 32;

db_status db_gang_create(db_context *context, int cores, db_gang **gang) {
    const db_device *const device = &context->device;
    *gang = NULL;
    if (!device->backend || !device->backend->gang_create || db_gang_jobs < 1) return DB_OK;
    db_gang *made = calloc(1, sizeof *made);
    if (!made) return db_fail_memory(context, "what threads hand in to a device together");
    made->backend = device->backend;
    made->number = device->number;
    const db_status status =
        made->backend->gang_create(context, made->number, cores, db_gang_jobs, &made->own);
    if (status == DB_OK)
        *gang = made;
    else
        free(made);
    return status;
}

void db_gang_destroy(db_gang **gang) {
    if (!gang || !*gang) return;
    (*gang)->backend->gang_destroy((*gang)->own);
    free(*gang);
    *gang = NULL;
}

void db_gang_join(const db_gang *gang, int threads) {
    if (gang) gang->backend->gang_join(gang->own, threads);
}

void db_gang_leave(const db_gang *gang, int threads) {
    if (gang) gang->backend->gang_leave(gang->own, threads);
}
