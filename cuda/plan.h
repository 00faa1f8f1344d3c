/* What a plan has on a GPU. */
#ifndef DB_CUDA_PLAN_H
#define DB_CUDA_PLAN_H

#include "cuda/arguments.h"
#include "cuda/runtime.h"
#include "engine/device_plan.h"

/* An array of the job on the device. The small ones share one piece of memory, which the host has a
 * copy of: what differs from it is copied, in one piece if possible. Large ones, which have versions,
 * are on their own. */
typedef struct db_cuda_array {
    size_t member;
    int use;            /* of coefficients: db_cuda_use */
    size_t offset;      /* of a small one */
    size_t room, bytes; /* bytes 0: nothing is there yet */
    db_cuda_buffer own;
    unsigned long version;
} db_cuda_array;

/* What coefficients are for: each use has its own. */
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

/* Coefficients as the device has them (db_cuda_row_*): how many bytes those of so many bytes of runs take, and
 * writing them. *changed becomes 1 where they differ from what is there; all are written if it is before. */
size_t db_cuda_coefficient_bytes(const db_device_work *work, size_t bytes);
db_status db_cuda_fill_coefficients(db_context *context, const db_device_work *work, size_t bytes,
                                    char *out, int *changed);
/* Nothing is on the device any more; the memory stays. */
void db_cuda_values_forget(db_cuda_values *values);
void db_cuda_values_release(db_cuda_values *values);

/* A list of spots that was made on the device. */
typedef struct db_cuda_made {
    db_cuda_buffer found, candidate, entry, spot, key, first, number, host;
    db_cuda_found room;    /* how many each list can hold */
    size_t count;          /* of spots */
    unsigned long version; /* 0: nothing is there */
} db_cuda_made;

/* Makes the work's list where it is new, waits for it, and sets the job's pointers to it. The arrays that it is made
 * of are there. */
db_status db_cuda_spots_bring(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_arguments *a);
void db_cuda_spots_release(db_cuda_made *made);
size_t db_cuda_spots_bytes(const db_cuda_made *made);

/* Neighbouring pixels of the regions that are neighbours for the caller, too. */
typedef struct db_cuda_span {
    size_t packed, element, count;
} db_cuda_span;

_Static_assert(sizeof(db_cuda_arguments) <= 4096, "arguments of a kernel are no longer than that");

/* Locked memory from which calls that do not wait copy: where they have it from may change as soon as
 * they are over. Calls take turns. */
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
    db_device_plan *of_graphs;       /* what such calls of this plan have; a list */
    cudaEvent_t turned;              /* what was begun on the stream before is done */
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
    /* boxes: image and derivative images, what was measured, what a call brings and takes back */
    db_cuda_buffer box_images, box_data, box_values, host_box_values;
    db_cuda_buffer slopes;        /* of spots in closed form ... */
    db_cuda_buffer tangent;       /* ... and along a direction */
    unsigned long slopes_version; /* 0: they are not there */
    unsigned long box_version;    /* of what was measured; 0: nothing is there */
};

/* Stream and memory for an image that no plan has rendered, of plans that are gone if there are any. *plan may
 * be one that is not complete after a failure; given back by db_cuda_plan_destroy. */
db_status db_cuda_plan_of_image(db_context *context, int number, size_t pixels,
                                db_device_plan **plan);
/* Makes the slopes of spots in closed form, unless they are there; the arguments have the model's. */
db_status db_cuda_make_slopes(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_arguments *a);

/* Renders a work's images to where the arguments say. */
db_status db_cuda_start_images(db_context *context, db_device_plan *plan,
                               const db_device_work *work, db_cuda_arguments *a);

/* DB_ERROR_UNSUPPORTED where a work has more images than kernels take. */
db_status db_cuda_check_count(db_context *context, const db_device_plan *plan, size_t images);

/* A plan that is gone, with its stream, events and memory, for a new one on the same device; NULL if
 * there is none. */
db_device_plan *db_cuda_pool_take(db_context *context, int number);
/* Keeps it for later; 0: there are enough, it is the caller's to release. */
int db_cuda_pool_give(db_context *context, db_device_plan *plan);
void db_cuda_plan_release(db_device_plan *plan);

static inline int db_cuda_is_mixed(const db_device_work *work) {
    return work->precision == DB_PRECISION_MIXED;
}

/* Blocks of so many pixels each. */
static inline uint32_t db_cuda_blocks(uint32_t pixels, uint32_t block) {
    return (uint32_t)(((uint64_t)pixels + block - 1) / block);
}

/* DB_CUDA_SHAPE_* of the kernels for a work. */
int db_cuda_shape(const db_device_work *work);

/* 1: a work for the kernels without loops, where there are any. */
int db_cuda_is_still(const db_device_work *work);

/* A pixel's place in images on the device: packed, or as the caller has them. */
typedef enum db_cuda_layout { DB_CUDA_PACKED, DB_CUDA_AS_GIVEN } db_cuda_layout;

/* Copies pixels of `size` bytes between the device and pageable or page-locked memory of the host;
 * those between the regions are left alone. Images that are image_bytes apart on the device come in one
 * copy as far as they fit; results are there when the stream is (db_cuda_results_there). What goes to the
 * device has been read from the host's memory when the call returns. */
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

/* What kernels are given, but for the arrays of the job. */
db_cuda_arguments db_cuda_arguments_of(const db_device_plan *plan, const db_device_work *work,
                                       db_cuda_layout layout);

/* Starts so many blocks of threads with so many bytes of memory of their own; a plan's on its
 * stream. */
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

/* The end of a call whose results stay on the device, or have come to the host. */
db_status db_cuda_results_there(db_context *context, db_device_plan *plan, int on_host);

/* More device memory for a buffer that work under way may use. */
db_status db_cuda_need_more(db_context *context, db_device_plan *plan, db_cuda_buffer *buffer,
                            size_t bytes, const char *what);

/* Copies to the device what the caller may change as soon as the call is over. A call opens a box
 * first, and closes it at its end. */
db_status db_cuda_box_open(db_context *context, db_device_plan *plan);
db_status db_cuda_send(db_context *context, db_device_plan *plan, void *to, const void *from,
                       size_t bytes, const char *what);
db_status db_cuda_box_close(db_context *context, db_device_plan *plan);

/* Captures */

/* Whether a stream is captured into a graph. */
int db_cuda_is_captured(cudaStream_t stream);
/* DB_ERROR_UNSUPPORTED where the plan's stream is captured: of calls that wait. */
db_status db_cuda_refuse_captured(db_context *context, const db_device_plan *plan);
/* The same in a captured call that has an image which is not in the GPU's memory. */
db_status db_cuda_capture_stays(db_context *context, const db_device_plan *plan, int there);
/* Waits for the plan's stream while another one is captured. */
db_status db_cuda_wait_apart(db_context *context, const db_device_plan *plan);

/* A call whose kernels may be captured. plan: what it works with: the plan itself, or one that has memory of
 * its own, which lives as long. */
typedef struct db_cuda_capture {
    db_device_plan *plan;
    enum cudaStreamCaptureMode mode_before;
} db_cuda_capture;
db_status db_cuda_capture_begin(db_context *context, db_device_plan *plan, db_cuda_capture *c);
void db_cuda_capture_end(const db_cuda_capture *c);

/* The end of a call with this status: after a failure nothing of it is still on its way. */
db_status db_cuda_finish(db_device_plan *plan, db_status status, const db_cuda_scope *scope);

#endif
