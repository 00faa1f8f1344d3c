/* Images and derivative images of a plan on a GPU. */
#include "cuda/plan.h"

#include "cuda/operations.h"

#include <stdlib.h>

static int along_rows(const db_device_plan *plan, const db_device_work *work) {
    const db_kernel_job *job = &work->job;
    return work->kind == DB_KERNEL_FORWARD && plan->wide &&
           job->oversample <= DB_CUDA_MOST_SUB_ROWS &&
           db_cuda_row_samples(job, db_cuda_is_mixed(work)) > 0 &&
           (!db_cuda_is_mixed(work) || db_offsets_suffice(job));
}

/* Image number i of a work: the image itself, then the derivatives. */
static void *image_of(const db_device_work *work, size_t i) {
    return i == 0 ? work->job.image : work->job.derivative[i - 1];
}

/* The images of a work that are in the memory of the plan's GPU. */
typedef struct {
    int there[DB_CUDA_MOST_IMAGES], any;
} image_places;

/* Starts the kernel of tiles. If there are few tiles, several blocks share one: a tile with many spots takes long. */
static db_status start_tiles(db_context *context, db_device_plan *plan, const db_device_work *work,
                             const void *kernel, db_cuda_arguments *a) {
    enum { ENOUGH_WARPS = 1 << 15 };
    const uint32_t threads = db_cuda_block(db_cuda_is_mixed(work)), warps = threads / DB_CUDA_WARP,
                   tiles = (uint32_t)plan->region_count;
    a->tile_blocks = 1;
    while (a->tile_blocks * warps < DB_CUDA_TILE_CELLS &&
           (size_t)tiles * a->tile_blocks * warps < ENOUGH_WARPS)
        a->tile_blocks *= 2;
    DB_TRY(db_cuda_make_slopes(context, plan, work, a));
    return db_cuda_launch(context, plan, kernel, tiles * a->tile_blocks, threads,
                          db_cuda_list_bytes(warps), a);
}

static db_status start_rows(db_context *context, db_device_plan *plan, const db_device_work *work,
                            const db_cuda_kernels *kernels, db_cuda_arguments *a) {
    const int mixed = db_cuda_is_mixed(work), shape = db_cuda_shape(work);
    const size_t real = mixed ? sizeof(float) : sizeof(double),
                 samples = db_cuda_row_samples(&work->job, mixed),
                 bytes = db_cuda_term_bytes(&work->job, samples, mixed),
                 kept = samples < work->job.sample_count ? plan->row_chunk * real : 0;
    a->row_samples = (uint32_t)samples;
    a->kept_pixels = (uint32_t)((bytes + real - 1) / real);
    return db_cuda_launch(context, plan,
                          (db_cuda_is_still(work) ? kernels->still : kernels->rows)[shape],
                          plan->row_blocks, DB_CUDA_BLOCK, a->kept_pixels * real + kept, a);
}

db_status db_cuda_start_images(db_context *context, db_device_plan *plan,
                               const db_device_work *work, db_cuda_arguments *a) {
    const int mixed = db_cuda_is_mixed(work), shape = db_cuda_shape(work);
    const db_cuda_kernels *kernels = db_cuda_kernels_of((int)work->kind, mixed);
    if (db_device_has_spots(work->kind))
        return start_tiles(context, plan, work, kernels->image[shape], a);
    if (along_rows(plan, work)) return start_rows(context, plan, work, kernels, a);
    const uint32_t block = db_cuda_block(mixed);
    const int still = work->kind == DB_KERNEL_GRADIENT && db_cuda_is_still(work),
              general = work->kind == DB_KERNEL_GENERAL_GRADIENT;
    a->along_rows = db_device_has_slopes(work->kind) && !general && plan->wide;
    return db_cuda_launch(
        context, plan, (still ? kernels->still : kernels->image)[shape],
        a->along_rows ? plan->row_blocks : db_cuda_blocks(plan->pixels, block), block,
        db_device_has_slopes(work->kind) ? db_cuda_staged_bytes(general, mixed) : 0, a);
}

/* Neighbours in the caller's memory are neighbours on the device, too, and come back together. */
typedef struct {
    void *image;
    size_t number;
} wanted_image;

static int by_address(const void *a, const void *b) {
    const wanted_image *const x = a;
    const wanted_image *const y = b;
    if (x->image != y->image) return (uintptr_t)x->image < (uintptr_t)y->image ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void set_image(db_cuda_arguments *a, size_t number, void *there) {
    if (number == 0)
        a->job.image = there;
    else
        a->derivative[number - 1] = there;
}

/* Memory of the plan for the images that do not stay on the device, or for all. */
static db_status room_for_images(db_context *context, db_device_plan *plan, size_t images,
                                 size_t bytes) {
    return db_cuda_need_more(context, plan, &plan->results, images * bytes,
                             images > 1 ? "image and derivative images" : "an image");
}

db_status db_cuda_check_count(db_context *context, const db_device_plan *plan, size_t images) {
    if (images <= DB_CUDA_MOST_IMAGES) return DB_OK;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "cuda:%d: %zu derivative images; expected at most %d", plan->number, images - 1,
                   DB_CUDA_MOST_IMAGES - 1);
}

static db_status find_images(db_context *context, const db_device_plan *plan,
                             const db_device_work *work, size_t images, image_places *places) {
    places->any = 0;
    DB_TRY(db_cuda_check_count(context, plan, images));
    for (size_t i = 0; i < images; i++) {
        DB_TRY(db_cuda_check_place(context, plan->number, image_of(work, i),
                                   i ? "a derivative image" : "the image", &places->there[i]));
        places->any |= places->there[i];
        DB_TRY(db_cuda_capture_stays(context, plan, places->there[i]));
    }
    return DB_OK;
}

static size_t pixel_size(const db_device_work *work) {
    return work->job.pixel_type == DB_FLOAT32 ? sizeof(float) : sizeof(double);
}

/* Renders each image to its place on the device, or packed into the plan's memory and from there to the host. */
static db_status render_images(db_context *context, db_device_plan *plan,
                               const db_device_work *work, const image_places *places) {
    const size_t images = 1 + db_device_derivatives(work), size = pixel_size(work);
    const db_cuda_layout layout = places->any ? DB_CUDA_AS_GIVEN : DB_CUDA_PACKED;
    const size_t image_bytes =
        (layout == DB_CUDA_PACKED ? (size_t)plan->pixels : work->pixels) * size;
    wanted_image own[DB_CUDA_MOST_IMAGES]; /* images for the host */
    void *to[DB_CUDA_MOST_IMAGES];
    size_t own_count = 0;
    db_cuda_arguments a = db_cuda_arguments_of(plan, work, layout);
    for (size_t i = 0; i < images; i++) {
        if (!places->there[i])
            own[own_count++] = (wanted_image){ image_of(work, i), i };
        else
            set_image(&a, i, image_of(work, i));
    }
    qsort(own, own_count, sizeof *own, by_address);
    DB_TRY(room_for_images(context, plan, own_count, image_bytes));
    DB_TRY(db_cuda_values_bring(context, plan, work,
                                work->job.tangent ? DB_CUDA_TANGENT : DB_CUDA_IMAGES, &a));
    for (size_t n = 0; n < own_count; n++) {
        to[n] = own[n].image;
        set_image(&a, own[n].number, (char *)plan->results.memory + n * image_bytes);
    }
    DB_TRY(db_cuda_start_images(context, plan, work, &a));
    DB_TRY(db_cuda_images_to_host(context, plan, layout, plan->results.memory, image_bytes, to,
                                  own_count, size));
    return db_cuda_results_there(context, plan, own_count > 0);
}

/* Adds packed images into the caller's memory on the device, or into the first of them and from there to the host. */
static db_status deliver_tangent(db_context *context, db_device_plan *plan,
                                 const db_device_work *work, char *packed, size_t count,
                                 void *image, int there) {
    const size_t size = pixel_size(work);
    db_cuda_arguments a = db_cuda_arguments_of(plan, work, DB_CUDA_AS_GIVEN);
    a.job.data = a.job.background = NULL;
    a.job.parameter_count = count;
    a.job.image = there ? image : packed;
    a.to_packed = !there;
    for (size_t k = 0; k < count; k++) a.derivative[k] = packed + k * plan->pixels * size;
    if (there || count > 1)
        DB_TRY(db_cuda_launch(context, plan, db_cuda_add_images,
                              db_cuda_blocks(plan->pixels, DB_CUDA_BLOCK), DB_CUDA_BLOCK, 0, &a));
    return there ? DB_OK : db_cuda_to_host(context, plan, DB_CUDA_PACKED, packed, image, size);
}

/* A derivative along a direction that takes several images: all packed, then added up. */
static db_status render_apart(db_context *context, db_device_plan *plan, const db_device_work *work,
                              const image_places *places) {
    const size_t tangents = db_cuda_tangent_images(work), bytes = plan->pixels * pixel_size(work);
    db_cuda_arguments a = db_cuda_arguments_of(plan, work, DB_CUDA_PACKED);
    DB_TRY(room_for_images(context, plan, 1 + tangents, bytes));
    char *const packed = plan->results.memory;
    DB_TRY(db_cuda_values_bring(context, plan, work, DB_CUDA_TANGENT, &a));
    for (size_t i = 0; i <= tangents; i++) set_image(&a, i, packed + i * bytes);
    DB_TRY(db_cuda_start_images(context, plan, work, &a));
    DB_TRY(deliver_tangent(context, plan, work, packed, 1, work->job.image, places->there[0]));
    DB_TRY(deliver_tangent(context, plan, work, packed + bytes, tangents, work->job.derivative[0],
                           places->there[1]));
    return db_cuda_results_there(context, plan, !places->there[0] || !places->there[1]);
}

static db_status render_any(db_context *context, db_device_plan *plan, const db_device_work *work) {
    image_places places;
    DB_TRY(find_images(context, plan, work, 1 + db_device_derivatives(work), &places));
    if (work->job.tangent && db_cuda_tangent_images(work) > 1)
        return render_apart(context, plan, work, &places);
    return render_images(context, plan, work, &places);
}

db_status db_cuda_plan_render(db_context *context, db_device_plan *plan,
                              const db_device_work *work) {
    db_cuda_scope scope;
    db_cuda_capture c;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    db_status status = db_cuda_capture_begin(context, plan, &c);
    if (status == DB_OK) status = render_any(context, c.plan, work);
    status = db_cuda_finish(c.plan, status, &scope);
    db_cuda_capture_end(&c);
    return status;
}

/* Adds the background in packed memory, so that a pixel of several regions gets it once. */
static db_status add_background(db_context *context, db_device_plan *plan,
                                const db_device_work *work, int copy) {
    const size_t bytes = plan->pixels * pixel_size(work);
    db_cuda_arguments a = db_cuda_arguments_of(plan, work, DB_CUDA_AS_GIVEN);
    const uint32_t blocks = db_cuda_blocks(plan->pixels, DB_CUDA_BLOCK);
    int there, background_there;
    DB_TRY(db_cuda_check_place(context, plan->number, work->job.image, "the image", &there));
    DB_TRY(db_cuda_check_place(context, plan->number, work->job.background, "the background",
                               &background_there));
    DB_TRY(db_cuda_capture_stays(context, plan, there));
    DB_TRY(room_for_images(context, plan, 1, bytes));
    DB_TRY(db_cuda_values_bring(context, plan, work, DB_CUDA_IMAGES, &a));
    if (!a.job.background) a.job.background = work->job.background;
    a.job.parameter_count = 0;
    a.job.data = copy ? NULL : work->job.image;
    a.job.image = plan->results.memory;
    a.to_packed = 1;
    DB_TRY(db_cuda_launch(context, plan, db_cuda_add_images, blocks, DB_CUDA_BLOCK, 0, &a));
    DB_TRY(deliver_tangent(context, plan, work, plan->results.memory, 1, work->job.image, there));
    return db_cuda_results_there(context, plan, 0);
}

db_status db_cuda_plan_add(db_context *context, db_device_plan *plan, const db_device_work *work,
                           int copy) {
    db_cuda_scope scope;
    db_cuda_capture c;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    db_status status = db_cuda_capture_begin(context, plan, &c);
    if (status == DB_OK) status = add_background(context, c.plan, work, copy);
    status = db_cuda_finish(c.plan, status, &scope);
    db_cuda_capture_end(&c);
    return status;
}
