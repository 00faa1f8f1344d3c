/* Background and strong pixels on a context's device. */
#ifndef DB_SURROUNDINGS_DEVICE_SURROUNDINGS_H
#define DB_SURROUNDINGS_DEVICE_SURROUNDINGS_H

#include "surroundings/work.h"

/* *done is 0 where the processor is to do it: there is no device that does it, counts are no whole numbers, or "auto"
 * leaves the device or is predicted to be sooner done without. */
db_status db_surroundings_on_device(db_context *context, const db_surroundings_work *work,
                                    int *done);

#endif
