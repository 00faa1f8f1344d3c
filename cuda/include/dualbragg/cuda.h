/** @file
 * The CUDA backend (libdualbragg_cuda): NVIDIA GPUs as devices of plans. */
#ifndef DUALBRAGG_CUDA_H
#define DUALBRAGG_CUDA_H

#include <dualbragg/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Adds "cuda" to the devices of db_context_set_device. Call it once, before
 * contexts are created; further calls do nothing. It uses neither driver nor GPU:
 * a context finds out whether these are missing when it chooses the device. */
DB_API void db_cuda_register(void);

#ifdef __cplusplus
}
#endif
#endif
