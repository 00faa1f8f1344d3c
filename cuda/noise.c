/* Noise on a GPU. */
#include "cuda/plan.h"

#include "cuda/operations.h"

#include "noise/noise_work.h"

#ifdef DB_HAVE_RANDOM123

/* What a call allocates: rows, and images of which the caller's are in the host's memory. */
typedef struct {
    db_cuda_buffer row, expected, signal, number;
} room;

static db_status place_of(db_context *context, int number, const void *memory, size_t bytes,
                          const char *what, db_cuda_buffer *own) {
    int there;
    DB_TRY(db_cuda_check_place(context, number, memory, what, &there));
    if (!memory || there) return DB_OK;
    return db_cuda_need(context, number, own, bytes, what);
}

static db_status copy_noise_image(db_context *context, int number, void *to, const void *from,
                                  size_t bytes) {
    return db_cuda_status(context, number,
                          cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, NULL),
                          "copying an image with noise");
}

static db_status make_noise(db_context *context, int number, const noise_work *work, room *own) {
    const db_noise_frame *const f = &work->frame;
    const size_t rows = (size_t)f->slow_pixels * sizeof(noise_row),
                 bytes = (size_t)f->fast_pixels * (size_t)f->slow_pixels * sizeof(float);
    db_cuda_arguments a = { .noise = *work };
    DB_TRY(db_cuda_need(context, number, &own->row, rows, "the rows of an image with noise"));
    DB_TRY(place_of(context, number, f->expected, bytes, "the expected image", &own->expected));
    DB_TRY(place_of(context, number, f->signal, bytes, "the signal", &own->signal));
    DB_TRY(place_of(context, number, f->number, bytes, "the numbers", &own->number));
    a.noise.row = own->row.memory;
    if (own->expected.bytes) {
        DB_TRY(copy_noise_image(context, number, own->expected.memory, f->expected, bytes));
        a.noise.frame.expected = own->expected.memory;
    }
    if (own->signal.bytes) a.noise.frame.signal = own->signal.memory;
    if (own->number.bytes) a.noise.frame.number = own->number.memory;
    DB_TRY(db_cuda_start(context, number, NULL, db_cuda_noise, (uint32_t)f->slow_pixels,
                         DB_CUDA_NOISE_BLOCK, db_cuda_noise_bytes(), &a));
    DB_TRY(copy_noise_image(context, number, work->row, own->row.memory, rows));
    if (own->signal.bytes)
        DB_TRY(copy_noise_image(context, number, f->signal, own->signal.memory, bytes));
    if (own->number.bytes)
        DB_TRY(copy_noise_image(context, number, f->number, own->number.memory, bytes));
    return DB_OK;
}

db_status db_cuda_noise_make(db_context *context, int number, const noise_work *work) {
    db_cuda_scope scope;
    room own = { 0 };
    DB_TRY(db_cuda_enter(context, number, &scope));
    db_status status = make_noise(context, number, work, &own);
    /* also after a failure: nothing of it is still on its way */
    const db_status waited =
        db_cuda_status(context, number, cudaStreamSynchronize(NULL), "an image with noise");
    if (status == DB_OK) status = waited;
    db_cuda_release(&own.row);
    db_cuda_release(&own.expected);
    db_cuda_release(&own.signal);
    db_cuda_release(&own.number);
    db_cuda_leave(&scope);
    return status;
}
#endif
