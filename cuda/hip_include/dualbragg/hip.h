/** @file
 * The HIP backend (libdualbragg_hip): AMD GPUs as devices of plans. Compiled, but never run on a GPU. */
#ifndef DUALBRAGG_HIP_H
#define DUALBRAGG_HIP_H

#include <dualbragg/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Adds "hip" to the devices that db_context_set_device knows. To be called once, before contexts
 * are created; further calls do nothing. It touches neither driver nor GPU: where those are missing
 * is found when a context chooses the device. */
DB_API void db_hip_register(void);

#ifdef __cplusplus
}
#endif
#endif
