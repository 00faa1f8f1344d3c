/* The stand-in is strict where the device would be: the device's memory is out of the host's reach
 * but for copies and kernels; copies and kernels of a stream run when the stream is waited for, not
 * before, so that what was not waited for is not there; a stream goes on alone, so that what no event
 * orders happens too early or too late; memory that work under way needs is not freed; fresh memory is
 * full of NaN; a barrier that some thread of a block does not reach stops the program. The host's
 * threads call it one at a time.
 *
 * A block's threads are contexts that take turns at barriers. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* it takes jumps between contexts for faults */
#include "stand_in.h"

#include "cuda/arguments.h"

#include <cuda.h>
#include "stand_in_threads.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    MOST_PIECES = 8192,
    MOST_DEVICES = 8,
    MOST_STREAMS = 1024,
    MOST_OPERATIONS = 4096,
    MOST_CAPTURED = 16,
    MOST_THREADS = 1024,
    MOST_SHARED_BYTES = 48 << 10, /* without asking for more */
    STACK_BYTES = 256 << 10,
    GUARD_BYTES = 64
};

#define PLENTY                                                                                     \
    { .devices = 2, .major = 9, .memory = (size_t)1 << 32, .calls_until_failure = -1 }
stand_in_state stand_in = PLENTY;
_Thread_local stand_in_thread_state stand_in_thread;
static _Thread_local cudaError_t last_error;
static cudaError_t final_error; /* that of every call from now on */

static void stop(const char *what) {
    fprintf(stderr, "CUDA stand-in: %s\n", what);
    abort();
}

/* Of the calling thread while it is in a call; calls may call each other. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int enter(void) { return pthread_mutex_lock(&lock); }
static void leave(const int *entered) {
    if (!*entered) pthread_mutex_unlock(&lock);
}
#define ALONE __attribute__((cleanup(leave), unused)) const int alone = enter()

void stand_in_reset(void) {
    const size_t live = stand_in.live, allocated = stand_in.allocated;
    stand_in = (stand_in_state)PLENTY;
    stand_in.live = live;
    stand_in.allocated = allocated;
    stand_in_thread = (stand_in_thread_state){ 0 };
    last_error = final_error = cudaSuccess;
}

static cudaError_t failed(cudaError_t error) { return last_error = error; }

/* Every call comes through here; `as` is how it fails. */
static int fails(void) {
    stand_in.calls++;
    if (final_error != cudaSuccess) return 1;
    if (stand_in.calls_until_failure < 0) return 0;
    if (stand_in.calls_until_failure > 0) {
        stand_in.calls_until_failure--;
        return 0;
    }
    stand_in.calls_until_failure = -1;
    return 1;
}
static cudaError_t error_of_failure(cudaError_t as) {
    if (final_error != cudaSuccess) return final_error;
    if (stand_in.failure == cudaSuccess) return as;
    if (stand_in.failure == cudaErrorIllegalAddress) final_error = stand_in.failure;
    return stand_in.failure;
}
#define MAY_FAIL(as)                                                                               \
    if (fails()) return failed(error_of_failure(as))

/* The device of a call, which makes a context there if there is none. */
enum { MOST_PUSHED = 8 };
static _Thread_local int pushed_device[MOST_PUSHED];
static int current_device(void) {
    return stand_in_thread.pushed ? pushed_device[stand_in_thread.pushed - 1]
                                  : stand_in_thread.current;
}
static int use_device(void) {
    const int device = current_device();
    stand_in.contexts |= 1U << device;
    return device;
}

/* Memory */

typedef struct {
    char *memory;
    size_t bytes, mapped;
    enum cudaMemoryType type;
    int device;
} piece;
static piece pieces[MOST_PIECES];
static int piece_end; /* none is used from there on */

/* Streams */

typedef struct {
    enum { COPY, RECORD, WAIT, LAUNCH } what;
    void *to;
    const void *from; /* owned where `staged` */
    int staged;
    size_t bytes;
    cudaStream_t recorded; /* that is waited for */
    long serial;           /* of a recording, all of which are numbered */
    void (*kernel)(db_cuda_arguments);
    db_cuda_arguments *arguments;
    uint32_t grid, block;
} operation;

struct CUstream_st {
    operation *queue; /* [MOST_OPERATIONS] */
    int count, device;
    long done;    /* the last recording that has happened */
    int captured; /* 1: what is added is not for this stream, but for a graph */
    int spoilt;   /* 1: by a call that no capture allows */
    operation graph[MOST_CAPTURED];
    int graph_count;
};
struct CUevent_st {
    cudaStream_t stream; /* of the last recording; NULL: none */
    long serial;
    int device;
};

static cudaStream_t streams[MOST_STREAMS]; /* that live */

static int is_alive(cudaStream_t stream) {
    int alive = 0;
    for (int i = 0; i < MOST_STREAMS; i++) alive |= streams[i] == stream;
    return alive;
}

static void list_stream(cudaStream_t stream) {
    for (int i = 0; i < MOST_STREAMS; i++)
        if (!streams[i]) {
            streams[i] = stream;
            return;
        }
    stop("too many streams");
}

/* Whether a call must not be made: one that waits for a captured stream, and one that allocates or waits
 * anywhere (NULL), of a thread that has not said that it knows of the capture. */
static _Thread_local enum cudaStreamCaptureMode capture_mode;
static int spoils_capture(const struct CUstream_st *stream) {
    int spoils = 0;
    for (int i = 0; i < MOST_STREAMS; i++) {
        if (!streams[i] || !streams[i]->captured) continue;
        if (stream != streams[i] && capture_mode == cudaStreamCaptureModeRelaxed) continue;
        streams[i]->spoilt = spoils = 1;
    }
    return spoils;
}
#define NOT_CAPTURED(stream)                                                                       \
    if (spoils_capture(stream)) return failed(cudaErrorStreamCaptureUnsupported)

static int points_to(const piece *p, const void *memory) {
    return (const char *)memory >= p->memory && (const char *)memory < p->memory + p->mapped;
}

static int operation_needs(const operation *o, const piece *p) {
    int needs = (o->what == COPY) && (points_to(p, o->to) || points_to(p, o->from));
    for (size_t at = 0; o->what == LAUNCH && at < sizeof *o->arguments; at += sizeof(void *)) {
        const void *pointer;
        memcpy(&pointer, (const char *)o->arguments + at, sizeof pointer);
        needs |= points_to(p, pointer);
    }
    return needs;
}

static int is_needed(const piece *p) {
    int needed = 0;
    for (int i = 0; i < MOST_STREAMS; i++)
        for (int k = 0; streams[i] && k < streams[i]->count; k++)
            needed |= operation_needs(&streams[i]->queue[k], p);
    return needed;
}

static piece *piece_of(const void *memory) {
    for (int i = 0; i < piece_end; i++)
        if (pieces[i].memory && (const char *)memory >= pieces[i].memory &&
            (const char *)memory < pieces[i].memory + pieces[i].mapped)
            return &pieces[i];
    return NULL;
}

static void reach_device_memory(int reach) {
    for (int i = 0; i < piece_end; i++)
        if (pieces[i].memory && pieces[i].type == cudaMemoryTypeDevice &&
            mprotect(pieces[i].memory, pieces[i].mapped,
                     reach ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
            stop("mprotect");
}

static cudaError_t allocate(void **memory, size_t bytes, enum cudaMemoryType type) {
    ALONE;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = (bytes + page - 1) / page * page;
    int i = 0;
    *memory = NULL;
    MAY_FAIL(cudaErrorMemoryAllocation);
    NOT_CAPTURED(NULL);
    if (!bytes) return failed(cudaErrorInvalidValue);
    if (type == cudaMemoryTypeDevice && stand_in.allocated + bytes > stand_in.memory)
        return failed(cudaErrorMemoryAllocation);
    while (i < MOST_PIECES && pieces[i].memory) i++;
    if (i == MOST_PIECES) stop("too many pieces of memory");
    if (i == piece_end) piece_end++;
    void *made = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return failed(cudaErrorMemoryAllocation);
    memset(made, 0xff, mapped);
    pieces[i] = (piece){ made, bytes, mapped, type, use_device() };
    if (type == cudaMemoryTypeDevice) {
        stand_in.allocated += bytes;
        if (mprotect(made, mapped, PROT_NONE) != 0) stop("mprotect");
    }
    stand_in.live++;
    stand_in.allocations++;
    *memory = made;
    return cudaSuccess;
}

static cudaError_t release(void *memory, enum cudaMemoryType type) {
    ALONE;
    piece *p = piece_of(memory);
    if (!memory) return cudaSuccess;
    NOT_CAPTURED(NULL);
    if (p && is_needed(p)) stop("freed memory that work under way needs");
    if (!p || p->memory != memory || p->type != type) stop("freed what was not allocated");
    if (type == cudaMemoryTypeDevice) stand_in.allocated -= p->bytes;
    munmap(p->memory, p->mapped);
    *p = (piece){ 0 };
    stand_in.live--;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    return allocate(memory, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags) {
    (void)flags;
    return allocate(memory, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaFree(void *memory) { return release(memory, cudaMemoryTypeDevice); }
cudaError_t cudaFreeHost(void *memory) { return release(memory, cudaMemoryTypeHost); }

cudaError_t cudaMemGetInfo(size_t *left, size_t *all) {
    ALONE;
    *all = stand_in.memory;
    *left = stand_in.memory - stand_in.allocated;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory) {
    ALONE;
    const piece *p = piece_of(memory);
    stand_in.asked++;
    if (final_error != cudaSuccess) return failed(final_error);
    use_device();
    attributes->type = p ? p->type : cudaMemoryTypeUnregistered;
    attributes->device = p ? p->device : -1;
    return cudaSuccess;
}

/* The stream of each device for calls that name none, and each thread's own. Others do not wait for
 * them. */
static cudaStream_t stream_of(cudaStream_t stream) {
    static struct CUstream_st own[MOST_DEVICES][2];
    const int device = use_device();
    if (stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread) return stream;
    cudaStream_t made = &own[device][stream == cudaStreamPerThread];
    if (!made->queue) {
        made->queue = calloc(MOST_OPERATIONS, sizeof *made->queue);
        made->device = device;
        list_stream(made);
    }
    return made;
}

/* For work on the current device. */
static cudaStream_t stream_here(cudaStream_t stream) {
    cudaStream_t found = stream_of(stream);
    if (found->device != use_device()) stop("a stream of another device");
    return found;
}

static void check_inside(const void *memory, size_t bytes, const char *what) {
    const piece *p = piece_of(memory);
    if (p && (const char *)memory + bytes > p->memory + p->bytes) stop(what);
}

static void copy_now(void *to, const void *from, size_t bytes) {
    check_inside(to, bytes, "a copy writes behind the end of memory");
    check_inside(from, bytes, "a copy reads behind the end of memory");
    reach_device_memory(1);
    memcpy(to, from, bytes);
    reach_device_memory(0);
}

static void run_kernel(const operation *o);
static void run_stream(cudaStream_t stream, long serial);

static void run_operation(operation *o) {
    switch (o->what) {
    case COPY:
        copy_now(o->to, o->from, o->bytes);
        if (o->staged) free((void *)(uintptr_t)o->from);
        break;
    case RECORD: break;
    case WAIT:
        if (is_alive(o->recorded)) run_stream(o->recorded, o->serial);
        break;
    case LAUNCH:
        run_kernel(o);
        free(o->arguments);
        break;
    }
}

/* Up to a recording; 0: all. */
static void run_stream(cudaStream_t stream, long serial) {
    int done = 0;
    while (done < stream->count && !(serial && stream->done >= serial)) {
        operation *o = &stream->queue[done++];
        run_operation(o);
        if (o->what == RECORD) stream->done = o->serial;
    }
    stream->count -= done;
    memmove(stream->queue, stream->queue + done, (size_t)stream->count * sizeof *stream->queue);
}

static void add(cudaStream_t stream, operation o) {
    if (stream->captured) {
        if (o.what != LAUNCH || stream->graph_count == MOST_CAPTURED)
            stop("a graph of other than kernels");
        stream->graph[stream->graph_count++] = o;
        return;
    }
    if (stream->count == MOST_OPERATIONS) stop("too many operations of a stream");
    stream->queue[stream->count++] = o;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    ALONE;
    *stream = NULL;
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    if (flags != cudaStreamNonBlocking) stop("a stream that waits for others");
    *stream = calloc(1, sizeof **stream);
    (*stream)->device = use_device();
    (*stream)->queue = calloc(MOST_OPERATIONS, sizeof *(*stream)->queue);
    list_stream(*stream);
    stand_in.live++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    ALONE;
    run_stream(stream, 0);
    for (int i = 0; i < MOST_STREAMS; i++)
        if (streams[i] == stream) streams[i] = NULL;
    free(stream->queue);
    free(stream);
    stand_in.live--;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    ALONE;
    NOT_CAPTURED(stream_of(stream));
    stand_in.waits++;
    run_stream(stream_of(stream), 0);
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    ALONE;
    (void)flags;
    *event = NULL;
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    *event = calloc(1, sizeof **event);
    (*event)->device = use_device();
    stand_in.live++;
    return cudaSuccess;
}

static void run_to(cudaEvent_t event) {
    if (event->stream && is_alive(event->stream)) run_stream(event->stream, event->serial);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    ALONE;
    free(event);
    stand_in.live--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    ALONE;
    static long serial;
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    if (event->device != stream_of(stream)->device) return failed(cudaErrorInvalidResourceHandle);
    event->stream = stream_of(stream);
    event->serial = ++serial;
    add(event->stream, (operation){ .what = RECORD, .serial = serial });
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    ALONE;
    (void)flags;
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    if (event->stream && event->stream != stream_of(stream))
        add(stream_of(stream),
            (operation){ .what = WAIT, .recorded = event->stream, .serial = event->serial });
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    ALONE;
    NOT_CAPTURED(NULL);
    const int pending =
        event->stream && is_alive(event->stream) && event->stream->done < event->serial;
    stand_in.waits += pending;
    run_to(event);
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    return cudaSuccess;
}

static int on_device(const void *memory) {
    const piece *p = piece_of(memory);
    return p && p->type == cudaMemoryTypeDevice;
}

static void count_copy(const void *to, const void *from, size_t bytes) {
    if (on_device(to) && !on_device(from)) {
        stand_in.copies_to_device++;
        stand_in.bytes_to_device += bytes;
    }
    if (on_device(from) && !on_device(to)) {
        stand_in.copies_to_host++;
        stand_in.bytes_to_host += bytes;
    }
}

static int direction_is_right(const void *to, const void *from, enum cudaMemcpyKind kind) {
    return kind == cudaMemcpyDefault ||
           (on_device(to) == (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) &&
            on_device(from) ==
                (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    ALONE;
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    if (!direction_is_right(to, from, kind)) return failed(cudaErrorInvalidValue);
    count_copy(to, from, bytes);
    operation o = { .what = COPY, .to = to, .from = from, .bytes = bytes };
    if (!piece_of(from)) { /* ordinary memory is read at once */
        void *staged = malloc(bytes);
        memcpy(staged, from, bytes);
        o.from = staged;
        o.staged = 1;
    }
    add(stream_here(stream), o);
    if (!piece_of(to)) {
        stand_in.waits++;
        run_stream(stream_here(stream), 0); /* and written before the call returns */
    }
    return cudaSuccess;
}

/* Kernels */

/* From one context to another. Jumps do so without asking the kernel, which takes most of the time
 * otherwise; sanitizers follow contexts alone. */
#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HAS(address_sanitizer) ||     \
    HAS(thread_sanitizer)
typedef ucontext_t place;
static void go(place *from, place *to) { swapcontext(from, to); }
static void start(place *from, ucontext_t *first) { swapcontext(from, first); }
#else
typedef jmp_buf place;
static void go(place *from, place *to) {
    if (!_setjmp(*from)) _longjmp(*to, 1);
}
static void start(place *from, ucontext_t *first) {
    if (!_setjmp(*from)) setcontext(first);
}
#endif

typedef enum { RUNS, WAITS_FOR_BLOCK, WAITS_FOR_WARP, DONE } thread_state;
enum { WARP = 32, WARPS = MOST_THREADS / WARP };

static struct {
    uint32_t block, thread, threads;
    char *shared;
    void (*kernel)(db_cuda_arguments);
    const db_cuda_arguments *arguments;
    place scheduler, context[MOST_THREADS];
    char *stack[MOST_THREADS]; /* NULL: not started yet */
    thread_state state[MOST_THREADS];
    uint32_t votes[WARPS], ballot[WARPS]; /* so far, and of all */
} now;

double *block_memory(void) { return (double *)(void *)now.shared; }
uint32_t block_number(void) { return now.block; }
uint32_t thread_number(void) { return now.thread; }
uint32_t thread_count(void) { return now.threads; }

static void leave_as(thread_state state) {
    const uint32_t self = now.thread;
    now.state[self] = state;
    go(&now.context[self], &now.scheduler);
}

void block_barrier(void) { leave_as(WAITS_FOR_BLOCK); }

uint32_t warp_ballot(int vote) {
    const uint32_t warp = now.thread / WARP;
    if (vote) now.votes[warp] |= 1U << now.thread % WARP;
    leave_as(WAITS_FOR_WARP);
    return now.ballot[now.thread / WARP];
}

void warp_barrier(void) { (void)warp_ballot(0); }

/* A context lives on from block to block. */
static void run_thread(void) {
    for (;;) {
        now.kernel(*now.arguments);
        leave_as(DONE);
    }
}

static void run_until_barrier(uint32_t t) {
    now.thread = t;
    now.state[t] = RUNS;
    if (now.stack[t]) {
        go(&now.scheduler, &now.context[t]);
        return;
    }
    now.stack[t] = malloc(STACK_BYTES);
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = now.stack[t];
    first.uc_stack.ss_size = STACK_BYTES;
    first.uc_link = NULL;
    makecontext(&first, run_thread, 0);
    start(&now.scheduler, &first);
}

static uint32_t count_state(uint32_t first, uint32_t end, thread_state state) {
    uint32_t count = 0;
    for (uint32_t t = first; t < end; t++) count += now.state[t] == state;
    return count;
}

/* Until all its threads wait for the block, or have ended. */
static void run_warp(uint32_t warp) {
    const uint32_t first = warp * WARP,
                   end = now.threads < first + WARP ? now.threads : first + WARP;
    uint32_t voters;
    do {
        now.votes[warp] = 0;
        for (uint32_t t = first; t < end; t++)
            if (now.state[t] != DONE) run_until_barrier(t);
        voters = count_state(first, end, WAITS_FOR_WARP);
        if (voters && voters != WARP) stop("a vote that not all threads of a warp reach");
        now.ballot[warp] = now.votes[warp];
    } while (voters);
}

static void run_block(uint32_t block, size_t shared_bytes) {
    uint32_t waiting;
    now.block = block;
    memset(now.shared, 0xff, shared_bytes);
    memset(now.state, 0, sizeof now.state);
    do {
        for (uint32_t warp = 0; warp * WARP < now.threads; warp++) run_warp(warp);
        waiting = count_state(0, now.threads, WAITS_FOR_BLOCK);
        if (waiting && waiting != now.threads) stop("a barrier that not all threads reach");
    } while (waiting);
}

static void run_kernel(const operation *o) {
    char *const memory = malloc(o->bytes + GUARD_BYTES + 1);
    memset(memory, 0x5a, o->bytes + GUARD_BYTES);
    reach_device_memory(1);
    now.kernel = o->kernel;
    now.arguments = o->arguments;
    now.threads = o->block;
    now.shared = memory;
    for (uint32_t b = o->grid; b-- > 0;) run_block(b, o->bytes); /* in no order that counts */
    for (int i = 0; i < GUARD_BYTES; i++)
        if (memory[o->bytes + (size_t)i] != 0x5a) stop("a kernel writes behind its block's memory");
    reach_device_memory(0);
    free(memory);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream) {
    ALONE;
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    if (!function) return failed(cudaErrorInvalidValue);
    if (grid.x < 1 || grid.y != 1 || grid.z != 1 || block.x < 1 || block.x > MOST_THREADS ||
        block.y != 1 || block.z != 1 || shared_bytes > MOST_SHARED_BYTES)
        return failed(cudaErrorInvalidConfiguration);
    operation o = { .what = LAUNCH, .bytes = shared_bytes, .grid = grid.x, .block = block.x };
    memcpy(&o.kernel, &function, sizeof function);
    o.arguments = malloc(sizeof *o.arguments);
    memcpy(o.arguments, arguments[0], sizeof *o.arguments);
    stand_in.launches++;
    add(stream_here(stream), o);
    return cudaSuccess;
}

/* Graphs */

struct CUgraphExec_st {
    operation kernel[MOST_CAPTURED];
    int count;
};
struct CUgraph_st {
    struct CUgraphExec_st made;
};

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    ALONE;
    MAY_FAIL(cudaErrorLaunchOutOfResources);
    const struct CUstream_st *const s = stream_of(stream);
    *status = s->spoilt     ? cudaStreamCaptureStatusInvalidated
              : s->captured ? cudaStreamCaptureStatusActive
                            : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    const enum cudaStreamCaptureMode before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    ALONE;
    if (mode != cudaStreamCaptureModeGlobal) stop("a capture that is less strict than others");
    stream->captured = 1;
    stream->spoilt = stream->graph_count = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    ALONE;
    stream->captured = 0;
    *graph = NULL;
    if (stream->spoilt) {
        stream->spoilt = 0;
        return failed(cudaErrorStreamCaptureInvalidated);
    }
    *graph = calloc(1, sizeof **graph);
    memcpy((*graph)->made.kernel, stream->graph, sizeof stream->graph);
    (*graph)->made.count = stream->graph_count;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph,
                                 unsigned long long flags) {
    (void)flags;
    *made = &graph->made; /* which lives until it is destroyed */
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
    ALONE;
    for (int i = 0; i < made->count; i++) {
        operation o = made->kernel[i];
        o.arguments = malloc(sizeof *o.arguments);
        *o.arguments = *made->kernel[i].arguments;
        add(stream_here(stream), o);
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    for (int i = 0; i < graph->made.count; i++) free(graph->made.kernel[i].arguments);
    free(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) {
    (void)made;
    return cudaSuccess;
}

/* Devices */

cudaError_t cudaGetDeviceCount(int *count) {
    ALONE;
    *count = 0;
    MAY_FAIL(cudaErrorNoDevice);
    if (stand_in.driver != cudaSuccess) return failed(stand_in.driver);
    *count = stand_in.devices;
    return stand_in.devices ? cudaSuccess : failed(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device) {
    ALONE;
    MAY_FAIL(cudaErrorInvalidDevice);
    *device = current_device();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    ALONE;
    if (device < 0 || device >= stand_in.devices) return failed(cudaErrorInvalidDevice);
    stand_in_thread.current = device;
    stand_in_thread.pushed = 0;
    use_device();
    return cudaSuccess;
}

/* The driver */

struct CUctx_st {
    int device;
};
static struct CUctx_st primary[MOST_DEVICES];

static CUresult retain(CUcontext *context, CUdevice device) {
    ALONE;
    *context = NULL;
    if (fails()) return CUDA_ERROR_OUT_OF_MEMORY;
    if (device < 0 || device >= stand_in.devices) return CUDA_ERROR_INVALID_DEVICE;
    primary[device].device = device;
    stand_in.contexts |= 1U << device;
    *context = &primary[device];
    return CUDA_SUCCESS;
}

static CUresult push(CUcontext context) {
    ALONE;
    if (stand_in_thread.pushed == MOST_PUSHED) stop("contexts that nobody goes back from");
    pushed_device[stand_in_thread.pushed++] = context->device;
    return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *context) {
    ALONE;
    if (!stand_in_thread.pushed) stop("going back from a context that is none");
    *context = &primary[pushed_device[--stand_in_thread.pushed]];
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
    (void)version;
    (void)flags;
    CUresult (*const retains)(CUcontext *, CUdevice) = retain;
    CUresult (*const pushes)(CUcontext) = push;
    CUresult (*const pops)(CUcontext *) = pop;
    const struct {
        const char *name;
        const void *call;
    } calls[] = { { "cuDevicePrimaryCtxRetain", &retains },
                  { "cuCtxPushCurrent", &pushes },
                  { "cuCtxPopCurrent", &pops } };
    *found = cudaDriverEntryPointSymbolNotFound;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, name) != 0) continue;
        memcpy(function, calls[i].call, sizeof *function);
        *found = cudaDriverEntryPointSuccess;
    }
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    ALONE;
    MAY_FAIL(cudaErrorInvalidDevice);
    if (device >= stand_in.devices) return failed(cudaErrorInvalidDevice);
    snprintf(properties->name, sizeof properties->name, "Stand-in %d", device);
    properties->major = stand_in.major;
    properties->minor = stand_in.minor;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorLaunchOutOfResources: return "too many resources requested for launch";
    default: return "another error";
    }
}
