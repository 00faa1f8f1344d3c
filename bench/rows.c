#include "bench/rows.h"

#include "bench/structure_factor_list.h"
#include "base/context_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* What sizes of loads are divided by in a trial. Regions keep their detector. */
enum { QUICK_SHRINK = 4 };

int db_bench_row_is_plain(const db_bench_row *row) { return row->workload.load->size == 0; }

static void add(db_bench_results *results, const db_bench_load *load, int size) {
    for (int p = 0; p < DB_BENCH_PRECISIONS; p++) {
        db_bench_row *row = &results->rows[results->row_count++];
        row->precision = p == 0 ? DB_PRECISION_DOUBLE : DB_PRECISION_MIXED;
        row->workload.load = load;
        row->workload.size = size;
    }
}

static void add_plain(db_bench_results *results, int size) {
    for (int i = 0; i < DB_BENCH_PLAIN_LOADS; i++) {
        const db_bench_workload workload = { .size = size, .load = &db_bench_loads[i] };
        if (db_bench_workload_samples(&workload) <= results->options.sample_limit)
            add(results, workload.load, size);
    }
}

db_status db_bench_rows_create(db_context *context, db_bench_results *results) {
    const db_bench_options *o = &results->options;
    const size_t most = (size_t)(o->size_count * DB_BENCH_PLAIN_LOADS + DB_BENCH_LOADS);
    results->rows = calloc(most * DB_BENCH_PRECISIONS, sizeof *results->rows);
    if (!results->rows) return db_fail_memory(context, "the results");
    for (int i = 0; i < o->size_count; i++) add_plain(results, o->sizes[i]);
    for (int i = DB_BENCH_PLAIN_LOADS; i < DB_BENCH_LOADS; i++) {
        const db_bench_load *load = &db_bench_loads[i];
        if (o->load[i])
            add(results, load, o->quick && !load->boxes ? load->size / QUICK_SHRINK : load->size);
    }
    return DB_OK;
}

db_status db_bench_rows_write_list(db_context *context, db_bench_results *results,
                                   const char *folder, char path[DB_BENCH_PATH_SIZE]) {
    int largest = 0;
    if (snprintf(path, DB_BENCH_PATH_SIZE, "%s/list.hkl", folder) >= DB_BENCH_PATH_SIZE)
        return db_fail(context, DB_ERROR_FILE, "%s: the name is too long", folder);
    for (int i = 0; i < results->row_count; i++) {
        db_bench_workload *workload = &results->rows[i].workload;
        if (!workload->load->table) continue;
        workload->list = path;
        largest = workload->load->table;
    }
    return largest ? db_bench_write_list(context, path, largest) : DB_OK;
}
