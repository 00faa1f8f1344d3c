/* The backend "cuda" in the table of devices. */
#include "cuda/operations.h"

#include "cuda/runtime.h"

#include <dualbragg/cuda.h>

#include <stdio.h>

static db_status no_device(db_context *context, int number, cudaError_t error) {
    (void)cudaGetLastError();
    const char *what = error == cudaErrorInsufficientDriver
                           ? "no NVIDIA driver, or one that is older than this build's CUDA"
                       : error == cudaErrorNoDevice ? "no GPU"
                                                    : cudaGetErrorString(error);
    return db_fail(context, DB_ERROR_DEVICE, "device cuda:%d: expected an NVIDIA GPU, found %s",
                   number, what);
}

static db_status check_model(db_context *context, int number,
                             const struct cudaDeviceProp *properties) {
    enum { OLDEST_MAJOR = 7, OLDEST_MINOR = 5 }; /* that the kernels are compiled for */
    if (properties->major < OLDEST_MAJOR ||
        (properties->major == OLDEST_MAJOR && properties->minor < OLDEST_MINOR))
        return db_fail(context, DB_ERROR_DEVICE,
                       "device cuda:%d: expected compute capability %d.%d or more, found %d.%d "
                       "(%s)",
                       number, OLDEST_MAJOR, OLDEST_MINOR, properties->major, properties->minor,
                       properties->name);
    return DB_OK;
}

static db_status open_device(db_context *context, int number, char model[DB_DEVICE_MODEL_SIZE]) {
    int count = 0;
    struct cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count < 1)
        return no_device(context, number, error != cudaSuccess ? error : cudaErrorNoDevice);
    if (number >= count)
        return db_fail(context, DB_ERROR_DEVICE,
                       "device cuda:%d: expected a number below %d, the number of GPUs", number,
                       count);
    DB_CUDA_TRY(context, number, cudaGetDeviceProperties(&properties, number),
                "asking for the GPU's properties");
    DB_TRY(check_model(context, number, &properties));
    snprintf(model, DB_DEVICE_MODEL_SIZE, "%.120s", properties.name);
    return DB_OK;
}

static int count_devices(void) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) (void)cudaGetLastError();
    return count;
}

static void *create_memory(int number, db_memory kind, size_t bytes) {
    db_cuda_scope scope;
    void *memory = NULL;
    if (db_cuda_enter(NULL, number, &scope) != DB_OK) return NULL;
    const cudaError_t error = kind == DB_MEMORY_DEVICE
                                  ? cudaMalloc(&memory, bytes)
                                  : cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        memory = NULL;
    }
    db_cuda_leave(&scope);
    return memory;
}

static void destroy_memory(int number, void *memory) {
    db_cuda_scope scope;
    if (db_cuda_enter(NULL, number, &scope) != DB_OK) return;
    if (db_cuda_place_of(number, memory) == DB_CUDA_ON_DEVICE)
        (void)cudaFree(memory);
    else
        (void)cudaFreeHost(memory);
    db_cuda_leave(&scope);
}

/* A copy may return before all is there, and the streams of plans do not wait for it: it is waited
 * for here. */
static db_status copy_and_wait(db_context *context, int number, void *to, const void *from,
                               size_t bytes) {
    static const char what[] = "copying memory";
    DB_CUDA_TRY(context, number, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, NULL), what);
    return db_cuda_status(context, number, cudaStreamSynchronize(NULL), what);
}

static db_status copy_memory(db_context *context, int number, void *to, const void *from,
                             size_t bytes) {
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, number, &scope));
    const db_status status = copy_and_wait(context, number, to, from, bytes);
    db_cuda_leave(&scope);
    return status;
}

/* 1 for memory of any GPU, which the host cannot read; -1: unknown, after a final failure. */
static int is_device_memory(int number, const void *memory) {
    db_cuda_scope scope;
    if (db_cuda_enter(NULL, number, &scope) != DB_OK) return -1;
    const db_cuda_place place = db_cuda_place_of(number, memory);
    db_cuda_leave(&scope);
    if (place == DB_CUDA_UNKNOWN) return -1;
    return place == DB_CUDA_ON_DEVICE || place == DB_CUDA_ELSEWHERE;
}

db_cuda_pace db_cuda_predicted = { .call = 30e-6,
                                   .byte = 1 / 5e9,
                                   .best_byte = 1 / 20e9,
                                   .sample = { 5.2e-12, 2.6e-12 },
                                   .derivative_of_sample = 0.19,
                                   .pixel = 4e-12,
                                   .derivative = 2e-12,
                                   .boxes = 100e-6,
                                   .box_pixel = 4e-10,
                                   .list = 0.12e-3,
                                   .slopes = 30e-6,
                                   .slopes_of_pixel = 4e-12 };

/* Predicted time of spots in closed form. Their number is unknown: it is taken as that of a detector of a million
 * pixels, or in proportion for fewer pixels. */
static double list_seconds(const db_cuda_pace *pace, const db_device_load *load) {
    const double part = load->pixels < 1e6 ? load->pixels / 1e6 : 1;
    if (!load->closed) return 0;
    return pace->list +
           load->derivatives * (part * pace->slopes + load->pixels * pace->slopes_of_pixel);
}

static double seconds(const db_device_load *load) {
    const db_cuda_pace *const pace = &db_cuda_predicted;
    const double byte = load->threads > 0 ? pace->byte / load->threads : pace->byte;
    return pace->call + load->bytes * (byte > pace->best_byte ? byte : pace->best_byte) +
           load->pixels * (pace->pixel + pace->derivative * load->derivatives) +
           load->samples * pace->sample[load->mixed] *
               (1 + pace->derivative_of_sample * load->derivatives) +
           (load->boxes > 0 ? pace->boxes + load->pixels * pace->box_pixel : 0) +
           list_seconds(pace, load);
}

static const db_device_operations operations = { .seconds = seconds,
                                                 .create = db_cuda_plan_create,
                                                 .destroy = db_cuda_plan_destroy,
                                                 .render = db_cuda_plan_render,
                                                 .normal = db_cuda_plan_normal,
                                                 .boxes = db_cuda_plan_boxes,
                                                 .boxes_image = db_cuda_plan_boxes_image,
                                                 .add = db_cuda_plan_add,
                                                 .set_stream = db_cuda_plan_set_stream,
                                                 .wait = db_cuda_plan_wait,
#ifdef DB_HAVE_RANDOM123
                                                 .noise = db_cuda_noise_make,
#endif
                                                 .memory_create = create_memory,
                                                 .memory_destroy = destroy_memory,
                                                 .memory_copy = copy_memory,
                                                 .is_device_memory = is_device_memory };
const db_device_backend db_cuda_backend = {
    .name = "cuda", .open = open_device, .count = count_devices, .operations = &operations
};

void db_cuda_register(void) { db_device_register(&db_cuda_backend); }
