/* Copies pixels between the device and the host: page-locked (pinned) memory directly, pageable memory through a
 * pinned staging buffer of two halves; one half is filled while the other is emptied. */
#include "cuda/plan.h"

#include <string.h>

enum {
    HALF = 4 << 20,   /* bytes of each half of the staging memory */
    PIECE = 1 << 17,  /* bytes that a thread copies at a time */
    MOST_COPIES = 256 /* spans that are worth copies of their own */
};

/* A position in the spans, image after image. */
typedef struct {
    size_t image, span, begin;
} walk;

static void next_in_walk(const db_device_plan *plan, walk *w, size_t pixels) {
    w->begin += pixels;
    if (w->begin < plan->span[w->span].count) return;
    w->begin = 0;
    if (++w->span < plan->span_count) return;
    w->span = 0;
    w->image++;
}

static size_t place_in(db_cuda_layout layout, const db_cuda_span *span) {
    return layout == DB_CUDA_PACKED ? span->packed : span->element;
}

/* Copies by all threads. */
static void copy_by_threads(char *to, const char *from, size_t bytes) {
    const long pieces = (long)((bytes + PIECE - 1) / PIECE);
#pragma omp parallel for if (pieces > 4)
    for (long i = 0; i < pieces; i++) {
        const size_t first = (size_t)i * PIECE, left = bytes - first;
        memcpy(to + first, from + first, left < PIECE ? left : PIECE);
    }
}

/* Copies up to `room` bytes of pixels at the walk's position between `images` images of the caller and packed
 * memory. Returns the bytes copied. */
static size_t copy_spans(const db_device_plan *plan, walk *w, void *const *given, size_t images,
                         char *packed, size_t room, size_t size, int gather) {
    size_t done = 0;
    while (w->image < images && done < room) {
        const db_cuda_span *span = &plan->span[w->span];
        const size_t left = (span->count - w->begin) * size,
                     now = left < room - done ? left : room - done;
        char *const there = (char *)given[w->image] + (span->element + w->begin) * size;
        if (gather)
            copy_by_threads(packed + done, there, now);
        else
            copy_by_threads(there, packed + done, now);
        done += now;
        next_in_walk(plan, w, now / size);
    }
    return done;
}

/* One copy for each span; of images that are one behind the other on both sides one for all. */
static db_status copy_directly(db_context *context, db_device_plan *plan, db_cuda_layout layout,
                               char *device, char *host, size_t images, size_t size,
                               int to_device) {
    for (size_t i = 0; i < plan->span_count; i++) {
        const db_cuda_span *span = &plan->span[i];
        const size_t bytes = images * span->count * size;
        char *const there = device + place_in(layout, span) * size;
        char *const here = host + span->element * size;
        DB_CUDA_TRY(context, plan->number,
                    cudaMemcpyAsync(to_device ? there : here, to_device ? here : there, bytes,
                                    to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                    plan->stream),
                    to_device ? "copying data" : "copying results");
    }
    return DB_OK;
}

static int is_direct(const db_device_plan *plan, const void *host) {
    return plan->span_count <= MOST_COPIES &&
           db_cuda_place_of(plan->number, host) == DB_CUDA_LOCKED;
}

/* The piece of an image on the device that holds the pixels which are packed from `first` on; as
 * the caller has them, one span at most. */
typedef struct {
    size_t from, bytes;
} piece;
static piece next_piece(const db_device_plan *plan, db_cuda_layout layout, const walk *w,
                        size_t packed, size_t all, size_t size) {
    const size_t most = HALF / size * size;
    if (layout == DB_CUDA_PACKED) {
        const size_t left = all - packed;
        return (piece){ packed, left < most ? left : most };
    }
    const db_cuda_span *span = &plan->span[w->span];
    const size_t left = (span->count - w->begin) * size;
    return (piece){ (span->element + w->begin) * size, left < most ? left : most };
}

static db_status half_wait(db_context *context, db_device_plan *plan, int half) {
    return db_cuda_status(context, plan->number, cudaEventSynchronize(plan->copied[half]),
                          "copying pixels");
}

static db_status half_copy(db_context *context, db_device_plan *plan, int half, void *device,
                           size_t bytes, int to_device) {
    char *const staging = (char *)plan->staging.memory + (size_t)half * HALF;
    DB_CUDA_TRY(context, plan->number,
                cudaMemcpyAsync(to_device ? device : staging, to_device ? staging : device, bytes,
                                to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                plan->stream),
                "copying pixels");
    return db_cuda_status(context, plan->number, cudaEventRecord(plan->copied[half], plan->stream),
                          "copying pixels");
}

static void advance_walk(const db_device_plan *plan, walk *w, size_t pixels) {
    while (pixels) {
        const size_t left = plan->span[w->span].count - w->begin,
                     now = pixels < left ? pixels : left;
        next_in_walk(plan, w, now);
        pixels -= now;
    }
}

/* Copies images to the host through the staging memory. Several images must be packed. */
static db_status bring_staged(db_context *context, db_device_plan *plan, db_cuda_layout layout,
                              char *device, void *const *to, size_t images, size_t size) {
    const size_t all = images * plan->pixels * size;
    walk ahead = { 0, 0, 0 }, behind = { 0, 0, 0 };
    size_t asked = 0, waiting = 0; /* bytes */
    int half = 0;
    DB_TRY(db_cuda_need_locked(context, plan->number, &plan->staging, 2 * HALF));
    /* one piece is on its way while the one before is unpacked */
    while (asked < all || waiting) {
        piece next = { 0, 0 };
        if (asked < all) {
            next = next_piece(plan, layout, &ahead, asked, all, size);
            DB_TRY(half_copy(context, plan, half, device + next.from, next.bytes, 0));
            advance_walk(plan, &ahead, next.bytes / size);
            asked += next.bytes;
        }
        if (waiting) {
            DB_TRY(half_wait(context, plan, !half));
            copy_spans(plan, &behind, to, images,
                       (char *)plan->staging.memory + (size_t)!half * HALF, waiting, size, 0);
        }
        waiting = next.bytes;
        half = !half;
    }
    return DB_OK;
}

/* The number of images that can be copied together: packed images, to pageable memory, or (whole detector) to
 * adjacent page-locked memory. */
static size_t at_once(const db_device_plan *plan, db_cuda_layout layout, void *const *to,
                      size_t images, size_t size) {
    const size_t bytes = (size_t)plan->pixels * size;
    const int direct = is_direct(plan, to[0]);
    size_t n = 1;
    if (layout != DB_CUDA_PACKED || (direct && !plan->dense)) return 1;
    while (n < images && is_direct(plan, to[n]) == direct &&
           (!direct || (char *)to[n] == (char *)to[n - 1] + bytes))
        n++;
    return n;
}

db_status db_cuda_images_to_host(db_context *context, db_device_plan *plan, db_cuda_layout layout,
                                 const void *from, size_t image_bytes, void *const *to,
                                 size_t images, size_t size) {
    size_t n;
    for (size_t i = 0; i < images; i += n) {
        char *const device = (char *)(uintptr_t)from + i * image_bytes;
        n = at_once(plan, layout, to + i, images - i, size);
        DB_TRY(is_direct(plan, to[i])
                   ? copy_directly(context, plan, layout, device, to[i], n, size, 0)
                   : bring_staged(context, plan, layout, device, to + i, n, size));
    }
    return DB_OK;
}

db_status db_cuda_to_device(db_context *context, db_device_plan *plan, db_cuda_layout layout,
                            void *to, const void *from, size_t size) {
    void *const host = (void *)(uintptr_t)from;
    const size_t all = plan->pixels * size;
    walk w = { 0, 0, 0 };
    size_t done = 0;
    if (is_direct(plan, from)) {
        DB_TRY(copy_directly(context, plan, layout, to, host, 1, size, 1));
        return db_cuda_status(context, plan->number, cudaStreamSynchronize(plan->stream),
                              "copying pixels");
    }
    DB_TRY(db_cuda_need_locked(context, plan->number, &plan->staging, 2 * HALF));
    while (done < all) {
        const int half = plan->half;
        const piece next = next_piece(plan, layout, &w, done, all, size);
        DB_TRY(half_wait(context, plan, half));
        copy_spans(plan, &w, &host, 1, (char *)plan->staging.memory + (size_t)half * HALF,
                   next.bytes, size, 1);
        DB_TRY(half_copy(context, plan, half, (char *)to + next.from, next.bytes, 1));
        done += next.bytes;
        plan->half = !half;
    }
    return DB_OK;
}
