#include "bench/whole_program.h"

#include "base/context_internal.h"

enum { MEMORY_SIZE = 4096, QUICK_MEMORY_SIZE = 1024, COLD_START_SIZE = 512 };

db_status db_bench_peak_memory(db_context *context, const db_bench_programs *programs, int quick,
                               double *bytes) {
    const db_bench_workload workload = { .size = quick ? QUICK_MEMORY_SIZE : MEMORY_SIZE,
                                         .load = &db_bench_loads[0] };
    double seconds, peak;
    DB_TRY(db_bench_run_ours_alone(context, programs, &workload, &seconds, &peak));
    *bytes = peak - db_bench_workload_pixels(&workload) * sizeof(float);
    return DB_OK;
}

db_status db_bench_visit_cold_start(db_context *context, const db_bench_programs *programs,
                                    db_bench_series *series) {
    const db_bench_workload workload = { .size = COLD_START_SIZE, .load = &db_bench_loads[0] };
    return db_bench_run_ours_alone(context, programs, &workload, &series->seconds[series->count++],
                                   NULL);
}
