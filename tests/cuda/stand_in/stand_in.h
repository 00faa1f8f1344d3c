/* The tests' hold on the stand-in: what it is to pretend, and what has been asked of it. */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <cuda_runtime_api.h>

typedef struct stand_in {
    int devices;              /* 0: cudaErrorNoDevice */
    cudaError_t driver;       /* of cudaGetDeviceCount, where not cudaSuccess */
    int major, minor;         /* compute capability */
    size_t memory;            /* bytes of the device */
    long calls_until_failure; /* this many calls succeed, the next one fails; -1: all succeed */
    cudaError_t failure;      /* how it fails; cudaSuccess: as such a call may */
    /* counted */
    long copies_to_device, copies_to_host, launches, allocations, calls;
    long waits; /* for a stream or an event */
    long asked; /* whose memory it is */
    size_t bytes_to_device, bytes_to_host;
    unsigned contexts;      /* bit i: there is a context on device i */
    size_t allocated, live; /* bytes on the device; pieces of memory, streams and events */
} stand_in_state;
extern stand_in_state stand_in;

/* Of each thread. */
typedef struct stand_in_thread_state {
    int current; /* device that it has chosen */
    int pushed;  /* contexts that it has to go back from */
} stand_in_thread_state;
extern _Thread_local stand_in_thread_state stand_in_thread;

/* Two devices with plenty of memory, and nothing counted. */
void stand_in_reset(void);

#endif
