/* Noise on a GPU. */
#include "cuda/plan.h"

#include "cuda/operations.h"

#include "noise/noise_work.h"

#include <string.h>

#ifdef DB_HAVE_RANDOM123

/* An image of a call: where the caller has it, and memory for it on the GPU if that is the host's. */
typedef struct {
    const void *given;
    db_cuda_buffer *own;
    int there;
} noise_image;

static db_status find_place(db_context *context, db_device_plan *plan, const char *what,
                            noise_image *image) {
    DB_TRY(db_cuda_check_place(context, plan->number, image->given, what, &image->there));
    if (!image->given || image->there) return DB_OK;
    return db_cuda_need_more(context, plan, image->own, plan->pixels * sizeof(float), what);
}

static void *memory_of(const noise_image *image) {
    return image->there || !image->given ? (void *)(uintptr_t)image->given : image->own->memory;
}

static db_status bring_back(db_context *context, db_device_plan *plan, const noise_image *image) {
    if (!image->given || image->there) return DB_OK;
    return db_cuda_to_host(context, plan, DB_CUDA_PACKED, image->own->memory,
                           (void *)(uintptr_t)image->given, sizeof(float));
}

static db_status make_noise(db_context *context, db_device_plan *plan, const noise_work *work) {
    const db_noise_frame *const f = &work->frame;
    const size_t rows = (size_t)f->slow_pixels * sizeof(noise_row);
    noise_image expected = { .given = f->expected, .own = &plan->results },
                signal = { .given = f->signal, .own = &plan->box_images },
                number = { .given = f->number, .own = &plan->data };
    db_cuda_arguments a = { .noise = *work };
    DB_TRY(find_place(context, plan, "the expected image", &expected));
    DB_TRY(find_place(context, plan, "the signal", &signal));
    DB_TRY(find_place(context, plan, "the numbers", &number));
    DB_TRY(db_cuda_need_more(context, plan, &plan->sums, rows, "the rows of an image with noise"));
    DB_TRY(db_cuda_need_locked(context, plan->number, &plan->host_sums, rows));
    /* after the caller's writes on the default stream */
    if (expected.there || signal.there || number.there)
        DB_TRY(db_cuda_plan_set_stream(context, plan, DB_STREAM_WAIT, NULL));
    if (!expected.there)
        DB_TRY(db_cuda_to_device(context, plan, DB_CUDA_PACKED, expected.own->memory, f->expected,
                                 sizeof(float)));
    a.noise.row = plan->sums.memory;
    a.noise.frame.expected = memory_of(&expected);
    a.noise.frame.signal = memory_of(&signal);
    a.noise.frame.number = memory_of(&number);
    DB_TRY(db_cuda_launch(context, plan, db_cuda_noise, (uint32_t)f->slow_pixels,
                          DB_CUDA_NOISE_BLOCK, db_cuda_noise_bytes(), &a));
    DB_TRY(db_cuda_copy_back(context, plan, plan->host_sums.memory, plan->sums.memory, rows,
                             "copying an image with noise"));
    DB_TRY(bring_back(context, plan, &signal));
    DB_TRY(bring_back(context, plan, &number));
    DB_TRY(db_cuda_results_there(context, plan, 1));
    memcpy(work->row, plan->host_sums.memory, rows);
    return db_cuda_plan_set_stream(context, plan, DB_STREAM_OWN, NULL);
}

db_status db_cuda_noise_make(db_context *context, int number, const noise_work *work) {
    const size_t pixels = (size_t)work->frame.fast_pixels * (size_t)work->frame.slow_pixels;
    db_cuda_scope scope;
    db_device_plan *plan;
    DB_TRY(db_cuda_enter(context, number, &scope));
    db_status status = db_cuda_plan_of_image(context, number, pixels, &plan);
    if (status == DB_OK)
        status = db_cuda_finish(plan, make_noise(context, plan, work), &scope);
    else
        db_cuda_leave(&scope);
    db_cuda_plan_destroy(context, plan);
    return status;
}
#endif
