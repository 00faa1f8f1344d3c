/* Noise on a context's device. */
#ifndef DB_NOISE_DEVICE_NOISE_H
#define DB_NOISE_DEVICE_NOISE_H

#include "base/context_internal.h"
#include "noise/noise_work.h"

/* Makes the image on the context's device, and adds photons and numbers of pixels to the summary. *done 0: no
 * device can make noise, or "auto" has left it; then the processor must. scale: of the options. */
db_status noise_on_device(db_context *context, double scale, const noise_chain *chain,
                          const db_noise_frame *frame, db_noise_summary *summary, int *done);

/* A frame that the processor can read and write: copies of what is in the device's memory. */
typedef struct noise_copies {
    db_noise_frame given;
    float *expected;
    float *signal;
    int32_t *number; /* NULL if the caller's own is in the host's memory */
} noise_copies;

/* Replaces the frame's pointers to the device's memory by copies. */
db_status noise_bring(db_context *context, db_noise_frame *frame, noise_copies *copies);
/* Copies results back if `status` is DB_OK, and frees the copies in any case. */
db_status noise_return(db_context *context, db_status status, noise_copies *copies);

#endif
