/* The interface between the engine and a device's backend. The engine runs the model and fills the kernel's job on
 * the host as always; a backend copies the job's arrays, renders, and returns the results. */
#ifndef DB_ENGINE_DEVICE_PLAN_H
#define DB_ENGINE_DEVICE_PLAN_H

#include "engine/plan_state.h"
#include "kernel/instances.h"

#include <dualbragg/expert/boxes.h>
#include <dualbragg/device.h>

/* An array that the kernels read: `bytes` bytes at the pointer that is `member` bytes into the job. */
typedef struct db_device_array {
    size_t member, bytes;
    /* changes when the contents do; 0: compare the contents */
    unsigned long version;
} db_device_array;

enum { DB_DEVICE_MOST_ARRAYS = 43 };

typedef struct db_device_work {
    db_kernel_job
        job; /* with pointers of the host; result and data pointers perhaps of the device */
    db_precision precision;
    db_kernel_kind kind;
    size_t region_count, pixels; /* pixels: elements of image, data, weight and derivatives */
    db_device_array array[DB_DEVICE_MOST_ARRAYS];
    size_t array_count;
    /* of the list of spots in closed form that the device makes from the arrays; 0: the list is an array, or there
     * is none */
    unsigned long spots_version;
    /* changes when the slopes of spots in closed form do */
    unsigned long slopes_version;
} db_device_work;

/* Properties of a db_kernel_kind. */
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

/* The size of a plan's call, for predictions. */
typedef struct db_device_load {
    /* of all pixels; for spots in closed form as many samples as pixels */
    double pixels, samples;
    double derivatives;         /* images */
    double bytes;               /* of results */
    int mixed, closed, general; /* general: with a sensor, a background ... */
    double boxes;               /* to be summed, without images; 0: images */
    int threads;                /* of the processor */
} db_device_load;
db_device_load db_device_load_of(const db_plan *plan);
/* The load of evaluating the plan's boxes, with derivatives. */
db_device_load db_device_load_of_boxes(const db_plan *plan);
/* The predicted time (s) of the processor, with the plan's threads and vectors. */
double db_device_processor_seconds(const db_plan *plan, const db_device_load *load);

/* An evaluation of a plan's boxes. */
typedef struct db_device_boxes {
    const db_region *region; /* [count], as the caller's images have them */
    size_t count;
    db_box_data data;      /* of the host; there are others where the version has changed */
    unsigned long version; /* from 1 */
    const db_boxes_request *request;
    const size_t *position; /* the derivative image of each column */
    db_box_solution *solution;
    void *result;
} db_device_boxes;

/* A backend's part of one plan. */
typedef struct db_device_plan db_device_plan;
struct noise_work;

/* Calls return when their results are complete, except on asynchronous streams. Failures: DB_ERROR_MEMORY (the
 * device's memory is exhausted), DB_ERROR_UNSUPPORTED, DB_ERROR_DEVICE, DB_ERROR_INPUT (memory of another device).
 * The plan stays usable, unless the message calls a failure of the device final. */
typedef struct db_device_operations {
    /* The predicted time (s) of a call with results for the host; NULL: unknown. "auto" asks before there is a
     * plan. */
    double (*seconds)(const db_device_load *load);
    /* Prepares for work of this size on device `number`. */
    db_status (*create)(db_context *context, int number, const db_device_work *work,
                        db_device_plan **plan);
    /* may keep streams and memory in the context's device_pool for the next plan */
    void (*destroy)(db_context *context, db_device_plan *plan);
    /* Renders the image, and derivatives if work->kind has them, into the job's pointers; adds up the derivatives
     * if the job has a tangent. */
    db_status (*render)(db_context *context, db_device_plan *plan, const db_device_work *work);
    /* sums[db_normal_size(job.parameter_count + 1)]: as the kernels add them up on the host */
    db_status (*normal)(db_context *context, db_device_plan *plan, const db_device_work *work,
                        double *sums);
    /* As db_boxes_evaluate. work: of the request's image, with pointers NULL, since images stay on the device. */
    db_status (*boxes)(db_context *context, db_device_plan *plan, const db_device_work *work,
                       const db_device_boxes *boxes);
    /* the image that boxes had rendered last, to the host's memory */
    db_status (*boxes_image)(db_context *context, db_device_plan *plan, float *image);
    /* image += background of the work's job (copy: image = background), once for each element of the plan's
     * regions. The image is in the device's memory, the background there or an array of the work. */
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
    /* NULL, or adds noise to an image (noise/noise_work.h) and fills its rows, which are the host's. Images may be
     * in memory of the host or of the device. Pixels that are not finite or too bright are skipped. */
    db_status (*noise)(db_context *context, int number, const struct noise_work *work);
} db_device_operations;

/* Notes the context's last failure: with "auto" the processor replaces the device. A device that failed (not
 * merely refused) is not used again. */
void db_device_leave(db_context *context, db_status why);

/* Gives a new plan its part on the context's device; nothing for the processor. */
db_status db_plan_attach_device(db_plan *plan);
/* As db_plan_attach_device, for a plan that will evaluate boxes: "auto" may choose the device for them even if the
 * processor is faster for images. */
db_status db_plan_attach_device_for_boxes(db_plan *plan);
void db_plan_detach_device(db_plan *plan);

/* 1: the plan's work goes to a device. */
static inline int db_plan_on_device(const db_plan *plan) { return plan->device.part != NULL; }

/* Renders the plan's job on its device. *done 0: that failed, and the processor must do it (device "auto"). */
db_status db_device_render(db_plan *plan, db_kernel_kind kind, int *done);

/* As db_device_render, for the sums of normal equations over `job`, without its image. If the image is in the
 * device's memory, the processor cannot take over. */
db_status db_device_normal(db_plan *plan, const db_kernel_job *job, double *sums, int *done);

/* Boxes, and the image that they had rendered last; *done as above. */
db_status db_device_evaluate_boxes(db_plan *plan, const db_device_boxes *boxes, int *done);
db_status db_device_boxes_image(db_plan *plan, float *image, int *done);

/* Renders an image and its derivative along a direction: job->tangent is 1. */
db_status db_device_tangent(db_plan *plan, const db_kernel_job *job, int *done);

/* Renders `job`, a variant of the plan's without derivatives. */
db_status db_device_variant(db_plan *plan, const db_kernel_job *job, int *done);

/* *has: 1 if the host cannot access the memory. If the device does not answer, the
 * operating system does. DB_ERROR_DEVICE if the
 * processor has taken over, which cannot use the device's memory. */
db_status db_device_has(const db_plan *plan, const void *memory, int *has);
db_status db_device_ask(db_context *context, const db_device *device, const void *memory, int *has);

/* DB_ERROR_DEVICE for memory that the processor cannot read after it took over from a failed device.
 * db_device_check_job checks the job's images and data, and `derivatives` of its derivative images. */
db_status db_device_check_left(db_context *context, const db_device *device, const void *memory);
db_status db_device_check_job(const db_plan *plan, const db_kernel_job *job, size_t derivatives);

/* to += from (copy: to = from) for images; `to` is in the device's memory. version: of an image that stays the
 * same in several calls, else 0. */
db_status db_device_add(db_plan *plan, int copy, const void *from, unsigned long version, void *to);

/* Notes what the processor does for a plan on a device in this call (db_plan_device_note). */
void db_plan_note_processor(db_plan *plan, const char *what);

/* *copy: a copy of the pixels in the host's memory, to be freed by the caller; NULL if the host can read the
 * original. */
db_status db_device_bring(db_plan *plan, db_pixel_type type, const void *pixels, void **copy);

#endif
