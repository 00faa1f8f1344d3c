/* The runtime of the GPUs that the backend is compiled for: NVIDIA's (CUDA), or AMD's (HIP) with
 * DB_HIP, whose calls have the same meaning. The code has CUDA's names. */
#ifndef DB_CUDA_GPU_RUNTIME_H
#define DB_CUDA_GPU_RUNTIME_H

#if defined(DB_HIP)
#include <hip/hip_runtime_api.h>

#define DB_GPU "hip" /* the backend's name */
#define DB_GPU_MAKER "AMD"
#define DB_GPU_RUNTIME "HIP"

#define cudaDeviceProp hipDeviceProp_t
#define cudaErrorAssert hipErrorAssert
#define cudaErrorECCUncorrectable hipErrorECCNotCorrectable
#define cudaErrorIllegalAddress hipErrorIllegalAddress
#define cudaErrorInsufficientDriver hipErrorInsufficientDriver
#define cudaErrorInvalidResourceHandle hipErrorInvalidHandle
#define cudaErrorInvalidValue hipErrorInvalidValue
#define cudaErrorLaunchFailure hipErrorLaunchFailure
#define cudaErrorLaunchTimeout hipErrorLaunchTimeOut
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaError_t hipError_t
#define cudaEventBlockingSync hipEventBlockingSync
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaEventRecord hipEventRecord
#define cudaEventSynchronize hipEventSynchronize
#define cudaEvent_t hipEvent_t
#define cudaFree hipFree
#define cudaFreeHost hipHostFree
#define cudaGetDevice hipGetDevice
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaHostAlloc hipHostMalloc
#define cudaHostAllocDefault hipHostMallocDefault
#define cudaLaunchKernel hipLaunchKernel
#define cudaMalloc hipMalloc
#define cudaMemGetInfo hipMemGetInfo
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemoryTypeDevice hipMemoryTypeDevice
#define cudaMemoryTypeHost hipMemoryTypeHost
#define cudaPointerAttributes hipPointerAttribute_t
#define cudaPointerGetAttributes hipPointerGetAttributes
#define cudaSetDevice hipSetDevice
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess

#if HIP_VERSION_MAJOR >= 6
#define cudaMemoryTypeManaged hipMemoryTypeManaged
#define DB_GPU_MEMORY_TYPE(attributes) ((attributes).type)
#else
#define cudaMemoryTypeManaged hipMemoryTypeUnified
#define DB_GPU_MEMORY_TYPE(attributes) ((attributes).memoryType)
#endif

#else
#include <cuda_runtime_api.h>

#define DB_GPU "cuda"
#define DB_GPU_MAKER "NVIDIA"
#define DB_GPU_RUNTIME "CUDA"
#define DB_GPU_MEMORY_TYPE(attributes) ((attributes).type)
#endif

#endif
