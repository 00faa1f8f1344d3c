#include "bench/single_call.h"

#include "bench/library_calls.h"
#include "bench/rows.h"
#include "base/context_internal.h"

#include <dualbragg/device.h>

static db_status call(db_context *context, const db_bench_options *options,
                      const db_bench_workload *workload) {
    const size_t pixels = (size_t)workload->size * (size_t)workload->size;
    db_bench_caller caller;
    db_bench_images images;
    db_status status = db_bench_images_create(context, pixels, DB_BENCH_PARAMETERS,
                                              DB_BENCH_TOUCHED_PAGES, &images);
    if (status != DB_OK) return status;
    status = db_bench_caller_open(context, workload, options->once_precision, DB_BENCH_PARAMETERS,
                                  &caller);
    if (status == DB_OK)
        status = db_bench_execute(
            &caller, options->once_derivatives ? DB_BENCH_DERIVATIVES : DB_BENCH_IMAGE, &images);
    db_bench_caller_close(&caller);
    db_bench_images_destroy(&images);
    return status;
}

db_status db_bench_single_call(db_context *context, const db_bench_options *options) {
    db_bench_row row = { .workload = { .size = options->sizes[0], .load = options->once } };
    db_bench_results results = { .rows = &row, .row_count = 1 };
    char folder[DB_BENCH_PATH_SIZE] = "", list[DB_BENCH_PATH_SIZE];
    DB_TRY(db_context_set_threads(context, options->threads));
    if (options->isa) DB_TRY(db_context_set_isa(context, options->isa));
    if (options->device) DB_TRY(db_context_set_device(context, options->device));
    DB_TRY(db_bench_scratch_create(context, folder));
    db_status status = db_bench_rows_write_list(context, &results, folder, list);
    if (status == DB_OK) status = call(context, options, &row.workload);
    db_bench_scratch_remove(folder);
    return status;
}
