#include "place.h"

#include <dualbragg/device.h>
#include <stdio.h>

int db_bench_complain(db_context *context, const char *what, db_status status) {
    const char *const message = context ? db_context_message(context) : "";
    fprintf(stderr, "dualbragg_fit_bench: %s: %s\n", what,
            *message ? message : db_status_text(status));
    return status == DB_OK ? 1 : db_status_exit_code(status);
}

db_context *db_bench_context(const char *device, int threads, char *name, int *failed) {
    db_context *context = NULL;
    db_status status = db_context_create(&context);
    if (status == DB_OK) db_context_set_threads(context, threads);
    if (status == DB_OK) status = db_context_set_device(context, device);
    if (status != DB_OK) {
        *failed = db_bench_complain(context, device, status);
        db_context_destroy(&context);
        return NULL;
    }
    snprintf(name, DB_BENCH_PLACE_SIZE, "%s, %s", db_context_device(context),
             threads == 1 ? "1 thread" : "all threads");
    return context;
}
