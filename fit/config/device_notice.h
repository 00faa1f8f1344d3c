/* Says where a GPU that was asked for by name is no faster than the processor. "auto" predicts for itself. */
#ifndef DB_FIT_CONFIG_DEVICE_NOTICE_H
#define DB_FIT_CONFIG_DEVICE_NOTICE_H

#include "base/context_internal.h"

/* Threads of the processor that refine shots by themselves faster than with an H200 (bench/README.md, "On a GPU"). */
enum { DB_DEVICE_MOST_THREADS = 4 };

static inline void db_device_notice(db_context *context, const char *why) {
    const db_device *const device = &context->device;
    if (device->backend && !device->automatic)
        db_notice(context, "device %s: the processor alone is as fast or faster: %s", device->name,
                  why);
}

#endif
