/* A user's program that prefers a GPU and runs without one. */
#include <dualbragg/cuda.h>
#include <dualbragg/dualbragg.h>
#include <stdio.h>

int main(void) {
    db_context *context;
    db_cuda_register();
    if (db_context_create(&context) != DB_OK) return 1;
    const db_status status = db_context_set_device(context, "auto");
    printf("%s %s\n", db_context_device(context), db_context_device_note(context));
    db_context_destroy(&context);
    return status != DB_OK;
}
