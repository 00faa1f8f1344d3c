/* Memory for an image and its derivative images. */
#ifndef DB_BENCH_IMAGE_BUFFERS_H
#define DB_BENCH_IMAGE_BUFFERS_H

#include "bench/workloads.h"

typedef struct db_bench_images {
    float *image;
    void *derivative[DB_BENCH_PARAMETERS]; /* the first derivative_count are there */
    int derivative_count;
    size_t bytes;
} db_bench_images;

typedef enum db_bench_pages {
    DB_BENCH_FRESH_PAGES,  /* as malloc gives large blocks: never written before */
    DB_BENCH_TOUCHED_PAGES /* the same, written once */
} db_bench_pages;

db_status db_bench_images_create(db_context *context, size_t pixels, int derivative_count,
                                 db_bench_pages pages, db_bench_images *images);
void db_bench_images_destroy(db_bench_images *images);

#endif
