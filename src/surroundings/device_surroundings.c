#include "surroundings/device_surroundings.h"

#include "base/threads.h"
#include "engine/device_plan.h"

/* Of one thread, for a pixel (s), by its vectors: SSE2, AVX2 (bench/README.md), and AVX-512, for which AVX2's is taken. */
static const double PIXEL[DB_ISA_COUNT] = { 15e-9, 11e-9, 11e-9 };

static int processor_is_faster(const db_context *context, const db_surroundings_work *work) {
    const db_device *const device = &context->device;
    const double pixels = (double)work->image->fast_pixels * work->image->slow_pixels;
    const db_device_load load = { .pixels = DB_SURROUNDINGS_PASSES * pixels,
                                  .bytes = pixels * 2 * (double)sizeof(float) }; /* both ways */
    if (!device->automatic || !device->backend->operations->seconds) return 0;
    return pixels * PIXEL[context->isa] / db_threads(context) <
           device->backend->operations->seconds(&load);
}

db_status db_surroundings_on_device(db_context *context, const db_surroundings_work *work,
                                    int *done) {
    const db_device *const device = &context->device;
    *done = 0;
    if (!device->backend || !device->backend->operations->surroundings ||
        processor_is_faster(context, work))
        return DB_OK;
    const db_status status =
        device->backend->operations->surroundings(context, device->number, work, done);
    if (status == DB_OK || !device->automatic) return status;
    *done = 0;
    db_device_leave(context, status);
    return DB_OK;
}
