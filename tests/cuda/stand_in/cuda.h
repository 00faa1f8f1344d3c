/* A stand-in for the types of the CUDA driver that the backend uses; the calls are in stand_in.c. */
#ifndef STAND_IN_CUDA_H
#define STAND_IN_CUDA_H

typedef enum CUresult {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_INVALID_DEVICE = 101
} CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;

#endif
