/* A thread's GPU, changed while something is done with another, and put back. */
#include "cuda/runtime.h"

#include <cuda.h>
#include <string.h>

/* The driver's calls that change a thread's context and restore it. cudaSetDevice would create a context on the
 * GPU that it returns to, half a gigabyte of its memory, even if nothing runs there. */
typedef struct driver_calls {
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*push)(CUcontext);
    CUresult (*pop)(CUcontext *);
} driver_calls;

static cudaError_t find_call(const char *name, void **call) {
    enum { MEANING = 12000 }; /* version of the calls: CUDA 12.0 */
    enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, call, MEANING, cudaEnableDefault, &found);
#else
    const cudaError_t error = cudaGetDriverEntryPoint(name, call, cudaEnableDefault, &found);
    (void)MEANING;
#endif
    if (error != cudaSuccess) return error;
    return found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorInsufficientDriver;
}

static cudaError_t find_calls(driver_calls *calls) {
    void *call[3];
    static const char *const names[] = { "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent",
                                         "cuCtxPopCurrent" };
    for (int i = 0; i < 3; i++) {
        const cudaError_t error = find_call(names[i], &call[i]);
        if (error != cudaSuccess) return error;
    }
    memcpy(&calls->retain, &call[0], sizeof calls->retain);
    memcpy(&calls->push, &call[1], sizeof calls->push);
    memcpy(&calls->pop, &call[2], sizeof calls->pop);
    return cudaSuccess;
}

/* Changes to the context that the runtime uses, too. It is never released, as in the runtime: a context without
 * users would be destroyed with all its memory. */
db_status db_cuda_enter(db_context *context, int number, db_cuda_scope *scope) {
    static const char what[] = "choosing the GPU";
    driver_calls driver = { 0 };
    CUcontext own;
    int before;
    scope->pushed = 0;
    DB_CUDA_TRY(context, number, cudaGetDevice(&before), what);
    if (before == number) return DB_OK;
    DB_CUDA_TRY(context, number, find_calls(&driver), what);
    /* the runtime and the driver number GPUs alike */
    CUresult result = driver.retain(&own, number);
    if (result == CUDA_SUCCESS) result = driver.push(own);
    scope->pushed = result == CUDA_SUCCESS;
    if (scope->pushed) return DB_OK;
    return db_fail(context, result == CUDA_ERROR_OUT_OF_MEMORY ? DB_ERROR_MEMORY : DB_ERROR_DEVICE,
                   "cuda:%d: %s: %s", number, what,
                   result == CUDA_ERROR_OUT_OF_MEMORY ? "out of the GPU's memory"
                                                      : "the driver makes no context");
}

void db_cuda_leave(const db_cuda_scope *scope) {
    driver_calls driver = { 0 };
    CUcontext own;
    if (scope->pushed && find_calls(&driver) == cudaSuccess) (void)driver.pop(&own);
}
