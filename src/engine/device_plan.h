/* What a device does for a plan: the seam between the engine and the backends of devices. The
 * engine runs the model and fills the kernel's job on the host as always; a backend copies what the
 * job points to, renders, and brings the results back. */
#ifndef DB_ENGINE_DEVICE_PLAN_H
#define DB_ENGINE_DEVICE_PLAN_H

#include "engine/plan_state.h"
#include "kernel/instances.h"

#include <dualbragg/expert/boxes.h>
#include <dualbragg/device.h>

/* An array that the kernels read: `bytes` bytes at what the pointer `member` bytes into the job
 * points to. */
typedef struct db_device_array {
    size_t member, bytes;
    /* The contents have changed where this has; 0: to be found out by comparing them. */
    unsigned long version;
} db_device_array;

enum { DB_DEVICE_MOST_ARRAYS = 41 };

typedef struct db_device_work {
    db_kernel_job
        job; /* with pointers of the host; result and data pointers perhaps of the device */
    db_precision precision;
    db_kernel_kind kind;
    size_t region_count, pixels; /* pixels: elements of image, data, weight and derivatives */
    db_device_array array[DB_DEVICE_MOST_ARRAYS];
    size_t array_count;
    /* that of the list of spots in closed form, which the device makes of the arrays; 0: it is among them, or there
     * is none */
    unsigned long spots_version;
    /* spots in closed form have other slopes where this has changed */
    unsigned long slopes_version;
} db_device_work;

/* Of a work's kind. */
static inline int db_device_has_slopes(db_kernel_kind kind) {
    return kind != DB_KERNEL_FORWARD && kind != DB_KERNEL_GENERAL_FORWARD &&
           kind != DB_KERNEL_SPOTS_FORWARD;
}
static inline int db_device_has_spots(db_kernel_kind kind) {
    return kind == DB_KERNEL_SPOTS_FORWARD || kind == DB_KERNEL_SPOTS_GRADIENT;
}

/* Derivative images that a work's job has room for. */
static inline size_t db_device_derivatives(const db_device_work *work) {
    if (!db_device_has_slopes(work->kind)) return 0;
    return work->job.tangent ? 1 : work->job.parameter_count;
}

/* How much work a call of a plan is, for predictions. */
typedef struct db_device_load {
    double pixels, samples;     /* of all pixels; of spots in closed form as many as pixels */
    double derivatives;         /* images */
    double bytes;               /* of results */
    int mixed, closed, general; /* general: with a sensor, a background ... */
    double boxes;               /* whose sums are wanted in place of images; 0: images */
    int threads;                /* of the processor */
} db_device_load;
db_device_load db_device_load_of(const db_plan *plan);
/* That of an evaluation of its boxes, with derivatives. */
db_device_load db_device_load_of_boxes(const db_plan *plan);
/* How long the processor is predicted to take for it, with the plan's threads and vectors (s). */
double db_device_processor_seconds(const db_plan *plan, const db_device_load *load);

/* An evaluation of a plan's boxes. */
typedef struct db_device_boxes {
    const db_region *region; /* [count], as the caller's images have them */
    size_t count;
    db_box_data data;      /* of the host; there are others where the version has changed */
    unsigned long version; /* from 1 */
    const db_boxes_request *request;
    const size_t *position; /* which of the work's derivative images is that of a column */
    db_box_solution *solution;
    void *result;
} db_device_boxes;

/* A backend's part of one plan. */
typedef struct db_device_plan db_device_plan;
struct noise_work;

/* Calls return when results are there, but for those of asynchronous streams. Failures: DB_ERROR_MEMORY where the device's memory is
 * exhausted, DB_ERROR_UNSUPPORTED for what it cannot do, DB_ERROR_DEVICE where it fails, DB_ERROR_INPUT for
 * memory of another device. The plan can still be used after all of them, but for failures of the
 * device that the message calls final. */
typedef struct db_device_operations {
    /* How long a call is predicted to take whose results go to the host (s); NULL: not known. For "auto",
     * which asks before there is a plan */
    double (*seconds)(const db_device_load *load);
    /* Prepares for work of this size on device `number`. */
    db_status (*create)(db_context *context, int number, const db_device_work *work,
                        db_device_plan **plan);
    /* what the next plan of the context can use may be kept in its device_pool */
    void (*destroy)(db_context *context, db_device_plan *plan);
    /* Image, and derivatives if work->kind has them, to where the job's pointers say; those of a job
     * with a tangent added up. */
    db_status (*render)(db_context *context, db_device_plan *plan, const db_device_work *work);
    /* sums[db_normal_size(job.parameter_count + 1)]: as the kernels add them up on the host */
    db_status (*normal)(db_context *context, db_device_plan *plan, const db_device_work *work,
                        double *sums);
    /* As db_boxes_evaluate. The work is that of the request's image, whose pointers are NULL: images
     * stay on the device. */
    db_status (*boxes)(db_context *context, db_device_plan *plan, const db_device_work *work,
                       const db_device_boxes *boxes);
    /* the image that boxes had rendered last, to the host's memory */
    db_status (*boxes_image)(db_context *context, db_device_plan *plan, float *image);
    /* image += background of the work's job, or = where it is to be a copy, for the elements of the
     * plan's regions, each once; the image is in the device's memory, the background there or an array
     * of the work */
    db_status (*add)(db_context *context, db_device_plan *plan, const db_device_work *work,
                     int copy);
    /* Work goes to this stream from now on, behind all that is under way; it is the caller's, or not
     * looked at where the plan's own is wanted. */
    db_status (*set_stream)(db_context *context, db_device_plan *plan, db_stream_use use,
                            void *stream);
    /* Until nothing is under way. */
    db_status (*wait)(db_context *context, db_device_plan *plan);
    /* memory of the device, or of the host for fast copies; NULL if there is none left */
    void *(*memory_create)(int number, db_memory kind, size_t bytes);
    void (*memory_destroy)(int number, void *memory);
    db_status (*memory_copy)(db_context *context, int number, void *to, const void *from,
                             size_t bytes);
    /* 1: memory that the host cannot read; -1: the device does not answer */
    int (*is_device_memory)(int number, const void *memory);
    /* NULL, or makes an image with noise (noise/noise_work.h), whose images may be in memory of the
     * host or of the device, and fills its rows, which are the host's. Nothing is made of pixels that
     * are no finite number or too bright. */
    db_status (*noise)(db_context *context, int number, const struct noise_work *work);
} db_device_operations;

/* Notes the context's last failure: the processor takes over from the device of "auto". A device that
 * has failed, not merely refused, is not asked again. */
void db_device_leave(db_context *context, db_status why);

/* Gives a new plan its part on the context's device; nothing for the processor. */
db_status db_plan_attach_device(db_plan *plan);
/* The same for a plan whose boxes are added up from now on: with "auto", where the processor is predicted
 * to be faster for images that come to the host, but not for that. */
db_status db_plan_attach_device_for_boxes(db_plan *plan);
void db_plan_detach_device(db_plan *plan);

/* 1: the plan's work goes to a device. */
static inline int db_plan_on_device(const db_plan *plan) { return plan->device.part != NULL; }

/* Renders the plan's job on its device. *done is 0 where that failed and the processor is to do it
 * instead (device "auto"). */
db_status db_device_render(db_plan *plan, db_kernel_kind kind, int *done);

/* The same for the sums of normal equations over `job`. Its image is not rendered: where it is in the
 * device's memory the processor does not take over. */
db_status db_device_normal(db_plan *plan, const db_kernel_job *job, double *sums, int *done);

/* Boxes, and the image that they had rendered last; *done as above. */
db_status db_device_evaluate_boxes(db_plan *plan, const db_device_boxes *boxes, int *done);
db_status db_device_boxes_image(db_plan *plan, float *image, int *done);

/* Renders an image and its derivative along a direction: job->tangent is 1. */
db_status db_device_tangent(db_plan *plan, const db_kernel_job *job, int *done);

/* Renders `job`, a variant of the plan's without derivatives. */
db_status db_device_variant(db_plan *plan, const db_kernel_job *job, int *done);

/* *has is 1 where the host cannot read or write it. A device that fails to answer is not needed for that.
 * DB_ERROR_DEVICE where it has been left to the processor, which cannot use its memory. */
db_status db_device_has(const db_plan *plan, const void *memory, int *has);
db_status db_device_ask(db_context *context, const db_device *device, const void *memory, int *has);

/* DB_ERROR_DEVICE for memory that the processor cannot read, where it took over from a device that
 * failed. Of a job: all images and data that it is about, and `derivatives` of its derivative images. */
db_status db_device_check_left(db_context *context, const db_device *device, const void *memory);
db_status db_device_check_job(const db_plan *plan, const db_kernel_job *job, size_t derivatives);

/* to += from, or = where `copy`, of images; `to` is in the device's memory. version: of an image that
 * stays the same from call to call, else 0. */
db_status db_device_add(db_plan *plan, int copy, const void *from, unsigned long version, void *to);

/* Notes what of the present call the processor does for a plan on a device: db_plan_device_note. */
void db_plan_note_processor(db_plan *plan, const char *what);

/* A copy that the host can read of the plan's pixels, for the caller to free; NULL where it can
 * read them as they are. */
db_status db_device_bring(db_plan *plan, db_pixel_type type, const void *pixels, void **copy);

#endif
