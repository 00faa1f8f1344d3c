/* A plan's data on a GPU. */
#ifndef DB_CUDA_PLAN_H
#define DB_CUDA_PLAN_H

#include "cuda/arguments.h"
#include "cuda/runtime.h"
#include "engine/device_plan.h"

/* An array of the job on the device. Small arrays share one piece of memory with a copy on the host: changes are
 * copied, in one piece if possible. Large arrays have versions and memory of their own. */
typedef struct db_cuda_array {
    size_t member;
    int use;            /* of coefficients: db_cuda_use */
    size_t offset;      /* of a small one */
    size_t room, bytes; /* bytes 0: nothing is there yet */
    db_cuda_buffer own;
    unsigned long version;
} db_cuda_array;

/* The use of coefficients; each has its own arrays. */
typedef enum db_cuda_use { DB_CUDA_IMAGES, DB_CUDA_NORMAL, DB_CUDA_TANGENT } db_cuda_use;

typedef struct db_cuda_values {
    db_cuda_array array[2 * DB_DEVICE_MOST_ARRAYS];
    size_t count, used; /* bytes of the small ones */
    db_cuda_buffer device, host;
} db_cuda_values;

/* Copies to the device the arrays of the work that have changed, and sets the job's pointers to
 * them. */
db_status db_cuda_values_bring(db_context *context, db_device_plan *plan,
                               const db_device_work *work, db_cuda_use use, db_cuda_arguments *a);
/* Has the memory ready for them. */
db_status db_cuda_values_reserve(db_context *context, db_device_plan *plan,
                                 const db_device_work *work);

/* Images that the kernels render for a derivative along a direction, to be added up: one, which has all
 * columns that are in registers and the first of the loose ones, and one for each further loose
 * column. */
size_t db_cuda_tangent_images(const db_device_work *work);
size_t db_cuda_panels(const db_device_work *work);

/* Coefficients in the device's form (db_cuda_row_*): their size for `bytes` bytes of runs, and writing them.
 * *changed becomes 1 if they differ from those there; if it is 1 before, all are written. */
size_t db_cuda_coefficient_bytes(const db_device_work *work, size_t bytes);
db_status db_cuda_fill_coefficients(db_context *context, const db_device_work *work, size_t bytes,
                                    char *out, int *changed);
/* Nothing is on the device any more; the memory stays. */
void db_cuda_values_forget(db_cuda_values *values);
void db_cuda_values_release(db_cuda_values *values);

/* A list of spots that was made on the device. */
typedef struct db_cuda_made {
    db_cuda_buffer found, candidate, entry, spot, key, first, number, host;
    db_cuda_found room;    /* the most that each list can hold */
    size_t count;          /* of spots */
    unsigned long version; /* 0: nothing is there */
} db_cuda_made;

/* Makes the work's list if it is new, waits for it, and sets the job's pointers to it. The arrays that it needs
 * must be on the device. */
db_status db_cuda_spots_bring(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_arguments *a);
void db_cuda_spots_release(db_cuda_made *made);
size_t db_cuda_spots_bytes(const db_cuda_made *made);

/* Neighbouring pixels of the regions that are neighbours for the caller, too. */
typedef struct db_cuda_span {
    size_t packed, element, count;
} db_cuda_span;

_Static_assert(sizeof(db_cuda_arguments) <= 4096, "arguments of a kernel are no longer than that");

/* Locked memory for calls that do not wait: they copy from it, since the caller may change its own memory after
 * the call. Calls take turns. */
typedef struct db_cuda_box {
    db_cuda_buffer memory;
    size_t used;
    cudaEvent_t sent; /* the copies are done */
} db_cuda_box;

enum { DB_CUDA_BOXES = 4 };

struct db_device_plan {
    int number;
    cudaStream_t own_stream, stream; /* stream: the one in use, perhaps the caller's */
    int asynchronous;                /* 1: calls wait for nothing that stays on the device */
    int captured;                    /* 1: of one call that is captured into a graph (capture.c) */
    db_device_plan *of_graphs;       /* a list of the plans of captured calls */
    cudaEvent_t turned;              /* work of the stream before is done */
    cudaEvent_t copied[2];           /* each half of the staging memory is free again */
    int half;                        /* that the next piece for the device goes by way of */
    db_cuda_box box[DB_CUDA_BOXES];
    int box_in_use;
    size_t region_count;
    uint32_t pixels, row_blocks; /* of all regions */
    uint32_t row_chunk;
    int dense; /* 1: regions leave out no pixel of the caller's, and these are packed as they are */
    int wide;  /* 1: rows are long enough for kernels along them */
    db_cuda_span *span;
    size_t span_count;
    /* regions as the caller's images have them, and one packed behind the other */
    db_cuda_buffer regions;
    const db_region *region;
    const db_region *packed_region;
    const uint32_t *region_start;
    const uint32_t *row_start;

    db_cuda_values values;
    db_cuda_made made;
    db_cuda_buffer results, data, sums, staging, host_sums;
    /* boxes: image and derivative images, measured data, a call's input and results */
    db_cuda_buffer box_images, box_data, box_values, host_box_values;
    db_cuda_buffer slopes;        /* of spots in closed form ... */
    db_cuda_buffer tangent;       /* ... and along a direction */
    unsigned long slopes_version; /* 0: they are not there */
    unsigned long box_version;    /* of measured data; 0: nothing is there */
};

/* Stream and memory for an image that no plan has rendered, reused from earlier plans if possible. After a failure
 * *plan may be incomplete; destroy it with db_cuda_plan_destroy in any case. */
db_status db_cuda_plan_of_image(db_context *context, int number, size_t pixels,
                                db_device_plan **plan);
/* Makes the slopes of spots in closed form, unless they are there; the arguments have the model's. */
db_status db_cuda_make_slopes(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_arguments *a);

/* Renders a work's images into the memory that the arguments name. */
db_status db_cuda_start_images(db_context *context, db_device_plan *plan,
                               const db_device_work *work, db_cuda_arguments *a);

/* DB_ERROR_UNSUPPORTED where a work has more images than kernels take. */
db_status db_cuda_check_count(db_context *context, const db_device_plan *plan, size_t images);

/* An earlier plan with its stream, events and memory, for a new one on the same device; NULL if there is none. */
db_device_plan *db_cuda_pool_take(db_context *context, int number);
/* Keeps it for later; 0: there are enough, it is the caller's to release. */
int db_cuda_pool_give(db_context *context, db_device_plan *plan);
void db_cuda_plan_release(db_device_plan *plan);

static inline int db_cuda_is_mixed(const db_device_work *work) {
    return work->precision == DB_PRECISION_MIXED;
}

/* The number of blocks of `block` pixels each. */
static inline uint32_t db_cuda_blocks(uint32_t pixels, uint32_t block) {
    return (uint32_t)(((uint64_t)pixels + block - 1) / block);
}

/* DB_CUDA_SHAPE_* of the kernels for a work. */
int db_cuda_shape(const db_device_work *work);

/* 1 if the work can use kernels without loops, if there are any. */
int db_cuda_is_still(const db_device_work *work);

/* A pixel's place in images on the device: packed, or as the caller has them. */
typedef enum db_cuda_layout { DB_CUDA_PACKED, DB_CUDA_AS_GIVEN } db_cuda_layout;

/* Copy pixels of `size` bytes between the device and pageable or page-locked memory of the host, without the
 * pixels between regions. Images that are image_bytes apart on the device are copied together if possible; results
 * have arrived when the stream is done (db_cuda_results_there). Input has been read when the call returns. */
db_status db_cuda_images_to_host(db_context *context, db_device_plan *plan, db_cuda_layout layout,
                                 const void *from, size_t image_bytes, void *const *to,
                                 size_t images, size_t size);
static inline db_status db_cuda_to_host(db_context *context, db_device_plan *plan,
                                        db_cuda_layout layout, const void *from, void *to,
                                        size_t size) {
    return db_cuda_images_to_host(context, plan, layout, from, 0, &to, 1, size);
}
db_status db_cuda_to_device(db_context *context, db_device_plan *plan, db_cuda_layout layout,
                            void *to, const void *from, size_t size);

/* The arguments of kernels, without the arrays of the job. */
db_cuda_arguments db_cuda_arguments_of(const db_device_plan *plan, const db_device_work *work,
                                       db_cuda_layout layout);

/* Starts blocks of threads, each with `bytes` bytes of memory; db_cuda_launch does so on the plan's stream. */
db_status db_cuda_start(db_context *context, int number, cudaStream_t stream, const void *kernel,
                        uint32_t blocks, uint32_t threads, size_t bytes,
                        const db_cuda_arguments *a);
db_status db_cuda_launch(db_context *context, db_device_plan *plan, const void *kernel,
                         uint32_t blocks, uint32_t threads, size_t bytes,
                         const db_cuda_arguments *a);

/* Copies to the device and, to be there when the results are, to memory of the host. */
db_status db_cuda_copy_there(db_context *context, db_device_plan *plan, void *to, const void *from,
                             size_t bytes, const char *what);
db_status db_cuda_copy_back(db_context *context, db_device_plan *plan, void *to, const void *from,
                            size_t bytes, const char *what);

/* Ends a call whose results stay on the device, or (on_host) must have arrived on the host. */
db_status db_cuda_results_there(db_context *context, db_device_plan *plan, int on_host);

/* More device memory for a buffer that work under way may use. */
db_status db_cuda_need_more(db_context *context, db_device_plan *plan, db_cuda_buffer *buffer,
                            size_t bytes, const char *what);

/* Copies to the device data that the caller may change after the call. A call opens a box first, and closes it at
 * its end. */
db_status db_cuda_box_open(db_context *context, db_device_plan *plan);
db_status db_cuda_send(db_context *context, db_device_plan *plan, void *to, const void *from,
                       size_t bytes, const char *what);
db_status db_cuda_box_close(db_context *context, db_device_plan *plan);

/* Captures */

/* 1 if the stream is being captured into a graph. */
int db_cuda_is_captured(cudaStream_t stream);
/* DB_ERROR_UNSUPPORTED where the plan's stream is captured: of calls that wait. */
db_status db_cuda_refuse_captured(db_context *context, const db_device_plan *plan);
/* DB_ERROR_UNSUPPORTED in a captured call for an image that is not in the GPU's memory. */
db_status db_cuda_capture_stays(db_context *context, const db_device_plan *plan, int there);
/* Waits for the plan's stream while another one is captured. */
db_status db_cuda_wait_apart(db_context *context, const db_device_plan *plan);

/* A call whose kernels may be captured. plan: the plan itself, or one for captured calls with its own memory,
 * which lives as long as the plan. */
typedef struct db_cuda_capture {
    db_device_plan *plan;
    enum cudaStreamCaptureMode mode_before;
} db_cuda_capture;
db_status db_cuda_capture_begin(db_context *context, db_device_plan *plan, db_cuda_capture *c);
void db_cuda_capture_end(const db_cuda_capture *c);

/* The end of a call with this status: after a failure nothing of it is still on its way. */
db_status db_cuda_finish(db_device_plan *plan, db_status status, const db_cuda_scope *scope);

#endif
