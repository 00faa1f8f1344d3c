/* The backend's functions for plans (db_device_operations). */
#ifndef DB_CUDA_OPERATIONS_H
#define DB_CUDA_OPERATIONS_H

#include "engine/device_plan.h"

db_status db_cuda_plan_create(db_context *context, int number, const db_device_work *work,
                              db_device_plan **plan);
void db_cuda_plan_destroy(db_context *context, db_device_plan *plan);
db_status db_cuda_plan_render(db_context *context, db_device_plan *plan,
                              const db_device_work *work);
db_status db_cuda_plan_normal(db_context *context, db_device_plan *plan, const db_device_work *work,
                              double *sums);
db_status db_cuda_plan_boxes(db_context *context, db_device_plan *plan, const db_device_work *work,
                             const db_device_boxes *boxes);
db_status db_cuda_plan_boxes_image(db_context *context, db_device_plan *plan, float *image);
db_status db_cuda_plan_add(db_context *context, db_device_plan *plan, const db_device_work *work,
                           int copy);
db_status db_cuda_plan_set_stream(db_context *context, db_device_plan *plan, db_stream_use use,
                                  void *stream);
db_status db_cuda_plan_wait(db_context *context, db_device_plan *plan);

db_status db_cuda_noise_make(db_context *context, int number, const struct noise_work *work);

extern const db_device_backend db_cuda_backend;

/* Predicted times (s), measured on an H200 with 16 cores (tests/cuda/test_predictions.c): per call; per byte of
 * results in pageable memory, by one thread and at best; per sample [double, mixed], and per derivative of a
 * sample as a fraction of that; per pixel, and per derivative of a pixel; additional for boxes, per call and per
 * pixel; for spots in closed form: their list, slopes by each parameter, and each derivative per pixel. Variable
 * for tests. */
typedef struct db_cuda_pace {
    double call, byte, best_byte, sample[2], derivative_of_sample, pixel, derivative, boxes,
        box_pixel, list, slopes, slopes_of_pixel;
} db_cuda_pace;
extern db_cuda_pace db_cuda_predicted;

#endif
