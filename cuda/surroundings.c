/* Background and strong pixels of a measured image on a GPU: counts go there, passes follow one another, means and marks
 * come back. */
#include "cuda/plan.h"

#include "base/measured_pixels.h"
#include "base/threads.h"
#include "cuda/backend.h"
#include "surroundings/work.h"

#include <stdlib.h>

/* On the device: counts, and means of two passes in turn. */
enum { ARRAYS = 3 };

/* Pixels of half the staging memory, and those that a thread packs at a time. */
enum { MOST = DB_CUDA_HALF / (int)sizeof(float), PIECE = 1 << 15 };

static size_t pixels_of(const db_measured_image *image) {
    return (size_t)image->fast_pixels * (size_t)image->slow_pixels;
}

static size_t left_of(size_t all, size_t done, size_t most) {
    return all - done < most ? all - done : most;
}

/* Returns 0 where counts are no whole numbers. */
static int pack(const db_context *context, const db_surroundings_work *work, size_t first,
                size_t count, float *packed) {
    const long pieces = (long)((count + PIECE - 1) / PIECE);
    int broken = 0;
#pragma omp parallel for num_threads(db_threads_for(context, pieces)) reduction(| : broken)
    for (long i = 0; i < pieces; i++) {
        const size_t begin = (size_t)i * PIECE, at = first + begin;
        broken |= !work->rows->pack(work->image->value + at, work->image->mask + at,
                                    left_of(count, begin, PIECE), work->most, packed + begin);
    }
    return !broken;
}

static void unpack(const db_context *context, const db_surroundings_work *work, size_t first,
                   size_t count, const float *packed) {
    const long pieces = (long)((count + PIECE - 1) / PIECE);
#pragma omp parallel for num_threads(db_threads_for(context, pieces))
    for (long i = 0; i < pieces; i++) {
        const size_t begin = (size_t)i * PIECE, at = first + begin;
        work->rows->unpack(packed + begin, left_of(count, begin, PIECE), work->background + at,
                           work->strong + at);
    }
}

static float *staging(const db_device_plan *plan, int half) {
    return (float *)plan->staging.memory + (size_t)half * MOST;
}

/* One half of the staging memory is filled while the other is copied. */
static db_status bring(db_context *context, db_device_plan *plan, const db_surroundings_work *work,
                       float *to, int *is_whole) {
    const size_t all = pixels_of(work->image);
    *is_whole = 1;
    for (size_t done = 0; done < all;) {
        const int half = plan->half;
        const size_t now = left_of(all, done, MOST);
        DB_TRY(db_cuda_half_wait(context, plan, half));
        *is_whole = pack(context, work, done, now, staging(plan, half));
        if (!*is_whole) return DB_OK;
        DB_TRY(db_cuda_half_copy(context, plan, half, to + done, now * sizeof *to, 1));
        done += now;
        plan->half = !half;
    }
    return DB_OK;
}

/* One piece is on its way while the one before is unpacked. */
static db_status take_back(db_context *context, db_device_plan *plan,
                           const db_surroundings_work *work, float *from) {
    const size_t all = pixels_of(work->image);
    size_t asked = 0, waiting = 0;
    for (int half = 0; asked < all || waiting; half = !half) {
        const size_t next = left_of(all, asked, MOST);
        if (next)
            DB_TRY(db_cuda_half_copy(context, plan, half, from + asked, next * sizeof *from, 0));
        if (waiting) {
            DB_TRY(db_cuda_half_wait(context, plan, !half));
            unpack(context, work, asked - waiting, waiting, staging(plan, !half));
        }
        asked += next;
        waiting = next;
    }
    return DB_OK;
}

/* Strips of rows, each within a panel. Returns how many; strip NULL: they are only counted. */
static size_t list_strips(const db_measured_image *image, db_cuda_strip *strip) {
    size_t count = 0;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const int32_t begin = db_measured_first_row(image, p),
                      end = begin + db_measured_rows(image, p);
        for (int32_t first = begin; first < end; first += DB_CUDA_STRIP, count++)
            if (strip)
                strip[count] =
                    (db_cuda_strip){ begin, end, first,
                                     first + DB_CUDA_STRIP < end ? first + DB_CUDA_STRIP : end };
    }
    return count;
}

static db_status send_strips(db_context *context, db_device_plan *plan,
                             const db_measured_image *image, size_t count) {
    static const char what[] = "the rows of an image";
    const size_t bytes = count * sizeof(db_cuda_strip);
    db_cuda_strip *const strip = malloc(bytes);
    if (!strip) return db_fail_memory(context, what);
    list_strips(image, strip);
    db_status status = db_cuda_need_more(context, plan, &plan->regions, bytes, what);
    if (status == DB_OK)
        status = db_cuda_status(context, plan->number,
                                cudaMemcpyAsync(plan->regions.memory, strip, bytes,
                                                cudaMemcpyHostToDevice, plan->stream),
                                what);
    free(strip); /* pageable memory has been read when the call returns */
    return status;
}

static db_status start_passes(db_context *context, db_device_plan *plan,
                              const db_surroundings_work *work, float *array[ARRAYS]) {
    const uint32_t threads = db_cuda_window_threads(work->half_width),
                   pixels = DB_CUDA_WINDOW_COLUMNS * threads - 2 * (uint32_t)work->half_width,
                   strips = (uint32_t)list_strips(work->image, NULL);
    db_cuda_arguments a = { .surroundings = { .value = array[0],
                                              .strip = plan->regions.memory,
                                              .fast_pixels = work->image->fast_pixels,
                                              .half_width = work->half_width,
                                              .gain_float = (float)work->gain,
                                              .readout_variance = (float)(work->readout_noise *
                                                                          work->readout_noise),
                                              .gain = work->gain,
                                              .readout_noise = work->readout_noise,
                                              .limit = work->limit } };
    db_cuda_surroundings *const s = &a.surroundings;
    s->chunks = db_cuda_blocks((uint32_t)work->image->fast_pixels, pixels);
    for (int pass = 0; pass < DB_SURROUNDINGS_PASSES; pass++) {
        s->mean = array[1 + pass % 2];
        s->is_last = pass + 1 == DB_SURROUNDINGS_PASSES;
        DB_TRY(db_cuda_start(context, plan->number, plan->stream, db_cuda_surroundings_pass,
                             strips * s->chunks, threads, db_cuda_window_bytes(threads), &a));
        s->last = s->mean;
    }
    return DB_OK;
}

static db_status find(db_context *context, db_device_plan *plan, const db_surroundings_work *work,
                      int *done) {
    const size_t pixels = pixels_of(work->image), strips = list_strips(work->image, NULL);
    DB_TRY(db_cuda_need_locked(context, plan->number, &plan->staging, 2 * DB_CUDA_HALF));
    DB_TRY(db_cuda_need_more(context, plan, &plan->results, ARRAYS * pixels * sizeof(float),
                             "the background of an image"));
    float *array[ARRAYS];
    for (size_t i = 0; i < ARRAYS; i++) array[i] = (float *)plan->results.memory + i * pixels;
    DB_TRY(bring(context, plan, work, array[0], done));
    if (!*done) return DB_OK;
    DB_TRY(send_strips(context, plan, work->image, strips));
    DB_TRY(start_passes(context, plan, work, array));
    return take_back(context, plan, work, array[1 + (DB_SURROUNDINGS_PASSES - 1) % 2]);
}

db_status db_cuda_surroundings_find(db_context *context, int number,
                                    const db_surroundings_work *work, int *done) {
    db_cuda_scope scope;
    db_device_plan *plan;
    *done = 0;
    DB_TRY(db_cuda_enter(context, number, &scope));
    db_status status = db_cuda_workspace(context, number, &plan);
    if (status == DB_OK)
        status = db_cuda_finish(plan, find(context, plan, work, done), &scope);
    else
        db_cuda_leave(&scope);
    if (status == DB_OK)
        db_cuda_plan_destroy(context, plan);
    else if (plan)
        db_cuda_plan_release(plan);
    return status;
}
