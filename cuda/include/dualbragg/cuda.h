/** @file
 * The CUDA backend (libdualbragg_cuda): NVIDIA GPUs as devices of plans. */
#ifndef DUALBRAGG_CUDA_H
#define DUALBRAGG_CUDA_H

#include <dualbragg/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Adds "cuda" to the devices that db_context_set_device knows. To be called once, before contexts
 * are created; further calls do nothing. It touches neither driver nor GPU: where those are missing
 * is found when a context chooses the device. */
DB_API void db_cuda_register(void);

#ifdef __cplusplus
}
#endif
#endif
