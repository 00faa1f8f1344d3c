#include "bench/image_buffers.h"

#include "base/context_internal.h"

#include <string.h>
#include <sys/mman.h>

db_status db_bench_images_create(db_context *context, size_t pixels, int derivative_count,
                                 db_bench_pages pages, db_bench_images *images) {
    const size_t bytes = (size_t)(1 + derivative_count) * pixels * sizeof(float);
    /* Not malloc, which hands out again what was freed: cold calls are to meet fresh pages every
     * time. */
    float *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *images = (db_bench_images){ 0 };
    if (memory == MAP_FAILED) return db_fail_memory(context, "images and derivative images");
    if (pages == DB_BENCH_TOUCHED_PAGES) memset(memory, 0, bytes);
    images->image = memory;
    images->bytes = bytes;
    images->derivative_count = derivative_count;
    for (int k = 0; k < derivative_count; k++)
        images->derivative[k] = memory + (size_t)(k + 1) * pixels;
    return DB_OK;
}

void db_bench_images_destroy(db_bench_images *images) {
    if (images->image) munmap(images->image, images->bytes);
    *images = (db_bench_images){ 0 };
}
