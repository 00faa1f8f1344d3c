/* Boxes in a measured image on a GPU: the image is brought once, and the boxes are filled there. */
#include "cuda/plan.h"

#include "base/measured_pixels.h"
#include "cuda/backend.h"

#include <string.h>

enum { ALIGNMENT = 64 };

static size_t add(size_t *end, size_t bytes) {
    const size_t at = *end;
    *end += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* Bytes from the beginning of each piece of memory. */
typedef struct {
    size_t image, background, strong, own, frame;        /* what was measured */
    size_t value, level, weight, own_strong, boxes;      /* what is made of it */
    size_t region, rule, start, light, measured, values; /* what a call brings and takes back */
} layout;

static layout layout_of(const db_device_measure *measure, const db_device_work *work) {
    const db_measured_image *const image = measure->frame->image;
    const size_t pixels = image ? (size_t)image->fast_pixels * (size_t)image->slow_pixels : 0,
                 floats = work->pixels * sizeof(float);
    layout l = { 0 };
    l.image = add(&l.frame, pixels * sizeof(float));
    l.background = add(&l.frame, pixels * sizeof(float));
    l.strong = add(&l.frame, pixels);
    l.own = add(&l.frame, work->pixels);
    l.value = add(&l.boxes, floats);
    l.level = add(&l.boxes, floats);
    l.weight = add(&l.boxes, floats);
    l.own_strong = add(&l.boxes, work->pixels);
    l.region = add(&l.values, measure->count * sizeof *measure->region);
    l.rule = add(&l.values, measure->rule ? measure->count * sizeof *measure->rule : 0);
    l.start = add(&l.values, measure->rule ? measure->count * sizeof(uint64_t) : 0);
    l.light = add(&l.values, measure->light ? measure->count * sizeof *measure->light : 0);
    l.measured = add(&l.values, measure->measured ? measure->count * sizeof *measure->measured : 0);
    return l;
}

/* The image, and which pixels are the boxes', unless they are there. */
static db_status bring_frame(db_context *context, db_device_plan *plan,
                             const db_device_measure *measure, const layout *l) {
    const db_box_frame *const f = measure->frame;
    const size_t pixels = (size_t)f->image->fast_pixels * (size_t)f->image->slow_pixels;
    if (plan->frame_version == measure->version) return DB_OK;
    plan->frame_version = 0;
    DB_TRY(db_cuda_need_more(context, plan, &plan->frame, l->frame, "the measured image"));
    char *const there = plan->frame.memory;
    DB_TRY(db_cuda_array_to_device(context, plan, there + l->image, f->image->value,
                                   pixels * sizeof(float)));
    DB_TRY(db_cuda_array_to_device(context, plan, there + l->background, f->background,
                                   pixels * sizeof(float)));
    DB_TRY(db_cuda_array_to_device(context, plan, there + l->strong, f->strong, pixels));
    DB_TRY(db_cuda_to_device(context, plan, DB_CUDA_AS_GIVEN, there + l->own, f->own, 1));
    plan->frame_version = measure->version;
    return DB_OK;
}

/* Regions and, where boxes are measured, rules and places, in one copy. */
static db_status bring_values(db_context *context, db_device_plan *plan,
                              const db_device_measure *measure, const layout *l) {
    DB_TRY(db_cuda_need_more(context, plan, &plan->frame_values, l->values, "boxes"));
    DB_TRY(db_cuda_need_locked(context, plan->number, &plan->host_frame_values, l->values));
    char *const here = plan->host_frame_values.memory;
    memcpy(here + l->region, measure->region, measure->count * sizeof *measure->region);
    if (measure->rule) {
        uint64_t *const start = (uint64_t *)(void *)(here + l->start);
        memcpy(here + l->rule, measure->rule, measure->count * sizeof *measure->rule);
        for (size_t b = 0; b < measure->count; b++)
            start[b] = db_measured_index(measure->frame->image, &measure->region[b], 0, 0);
    }
    return db_cuda_status(context, plan->number,
                          cudaMemcpyAsync(plan->frame_values.memory, here, l->light,
                                          cudaMemcpyHostToDevice, plan->stream),
                          "copying boxes");
}

static db_cuda_measure arguments_of(const db_device_plan *plan, const db_device_measure *measure,
                                    const layout *l) {
    const db_box_frame *const f = measure->frame;
    char *const values = plan->frame_values.memory, *const frame = plan->frame.memory,
                *const boxes = plan->frame_boxes.memory;
    db_cuda_measure a = { .region = (const db_region *)(void *)(values + l->region),
                          .shape = plan->box_images.memory,
                          .light = (double *)(void *)(values + l->light) };
    if (!measure->rule) return a;
    a.rule = (const db_box_rule *)(void *)(values + l->rule);
    a.start = (const uint64_t *)(void *)(values + l->start);
    a.measured = (db_box_measured *)(void *)(values + l->measured);
    a.image = (const float *)(void *)(frame + l->image);
    a.background = (const float *)(void *)(frame + l->background);
    a.strong = (const unsigned char *)frame + l->strong;
    a.own = (const unsigned char *)frame + l->own;
    a.value = (float *)(void *)(boxes + l->value);
    a.level = (float *)(void *)(boxes + l->level);
    a.weight = (float *)(void *)(boxes + l->weight);
    a.own_strong = (unsigned char *)boxes + l->own_strong;
    a.loss = (db_loss){ .target = DB_LOSS_WEIGHTED, .gain = f->gain };
    a.noise = (db_box_noise){ f->gain, f->readout_noise, f->model_error };
    a.fast_pixels = (uint32_t)f->image->fast_pixels;
    a.background_fixed = f->background_fixed;
    a.whole = f->whole;
    return a;
}

/* Starts the kernel, and has what it makes copied to the host. */
static db_status run(db_context *context, db_device_plan *plan, const db_device_measure *measure,
                     const layout *l, db_cuda_arguments *a) {
    const size_t each = measure->light ? 1 : sizeof(db_block_sums) / sizeof(double),
                 bytes = (DB_CUDA_BOX_STATE + DB_CUDA_BOX_BLOCK * each) * sizeof(double);
    a->measure = arguments_of(plan, measure, l);
    DB_TRY(db_cuda_launch(context, plan, measure->light ? db_cuda_box_light : db_cuda_measure_boxes,
                          (uint32_t)measure->count, DB_CUDA_BOX_BLOCK, bytes, a));
    DB_CUDA_TRY(context, plan->number,
                cudaMemcpyAsync((char *)plan->host_frame_values.memory + l->light,
                                (const char *)plan->frame_values.memory + l->light,
                                l->values - l->light, cudaMemcpyDeviceToHost, plan->stream),
                "copying what boxes are");
    return db_cuda_results_there(context, plan, 1);
}

static db_status measure_boxes(db_context *context, db_device_plan *plan,
                               const db_device_work *work, const db_device_measure *measure) {
    const layout l = layout_of(measure, work);
    db_cuda_arguments a = db_cuda_arguments_of(plan, work, DB_CUDA_AS_GIVEN);
    DB_TRY(db_cuda_open_ticket(context, plan, 0));
    if (measure->rule) {
        DB_TRY(bring_frame(context, plan, measure, &l));
        DB_TRY(db_cuda_need_more(context, plan, &plan->frame_boxes, l.boxes, "pixels of boxes"));
    }
    DB_TRY(bring_values(context, plan, measure, &l));
    DB_TRY(run(context, plan, measure, &l, &a));
    const char *const here = plan->host_frame_values.memory;
    if (measure->light)
        memcpy(measure->light, here + l.light, measure->count * sizeof *measure->light);
    else
        memcpy(measure->measured, here + l.measured, measure->count * sizeof *measure->measured);
    return DB_OK;
}

db_status db_cuda_plan_measure(db_context *context, db_device_plan *plan,
                               const db_device_work *work, const db_device_measure *measure) {
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    return db_cuda_finish(plan, measure_boxes(context, plan, work, measure), &scope);
}
