#include "bench/library_calls.h"
#include "bench/measure.h"
#include "bench/programs.h"
#include "bench/workloads.h"
#include "base/context_internal.h"
#include "base/path.h"

#include <dualbragg/device.h>
#include <dualbragg/expert/instruction_set.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* In a trial (--quick) sizes of loads are divided by this. Loads with regions keep their
 * detector. */
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

/* The rounds. Each visits everything once, every other one backwards, so that a disturbance of the
 * machine falls on all alike, and cancels in ratios of neighbours. */
const db_bench_timing_info db_bench_timings[DB_BENCH_TIMINGS] = {
    [DB_BENCH_FORWARD_WARM] = { "forward_warm", DB_BENCH_IMAGE, 0 },
    [DB_BENCH_GRADIENT_WARM] = { "gradient_warm", DB_BENCH_DERIVATIVES, 0 },
    [DB_BENCH_FORWARD_COLD] = { "forward_cold", DB_BENCH_IMAGE, 1 },
    [DB_BENCH_GRADIENT_COLD] = { "gradient_cold", DB_BENCH_DERIVATIVES, 1 },
};

typedef struct {
    db_context *context;
    db_bench_results *results;
    db_bench_caller *callers; /* one per row */
    db_bench_images images;   /* as large as the largest workload needs */
    float *other_image;       /* what a program wrote; NULL without programs */
    db_bench_programs programs;
    db_bench_prober prober;
    db_bench_device_memory device;
    db_bench_spots spots;
    char folder[DB_BENCH_PATH_SIZE], list[DB_BENCH_PATH_SIZE]; /* files that workloads read */
} bench;

static db_status visit_warm(const bench *b, int row, db_bench_timing timing) {
    return db_bench_visit(&b->callers[row], db_bench_timings[timing].output, &b->images,
                          &b->results->rows[row].timing[timing]);
}

static db_status visit_cold(const bench *b, int row, db_bench_timing timing) {
    db_bench_series *series = &b->results->rows[row].timing[timing];
    DB_TRY(db_bench_call_cold(&b->callers[row], db_bench_timings[timing].output,
                              &series->seconds[series->count]));
    series->count++;
    return DB_OK;
}

/* Cold calls are of the main tables only. */
static int is_timed(const bench *b, int row, db_bench_timing timing) {
    return !db_bench_timings[timing].cold || db_bench_row_is_plain(&b->results->rows[row]);
}

static db_status choose_calls(const bench *b, int row, db_bench_timing timing) {
    if (db_bench_timings[timing].cold) return DB_OK;
    return db_bench_choose_calls(&b->callers[row], db_bench_timings[timing].output, &b->images,
                                 &b->results->rows[row].timing[timing]);
}

static int reference_takes(const bench *b, const db_bench_workload *workload) {
    return *b->programs.reference && !workload->load->boxes &&
           db_bench_workload_samples(workload) <= b->results->options.reference_limit;
}

/* Images are compared in the first round: they do not change. */
static db_status compare(const bench *b, int row, db_bench_comparison *comparison) {
    DB_TRY(db_bench_render(&b->callers[row], b->images.image));
    *comparison =
        db_bench_compare(b->images.image, b->other_image, db_plan_pixels(b->callers[row].plan));
    return DB_OK;
}

static db_status visit_programs(const bench *b, int first_row) {
    db_bench_row *rows = &b->results->rows[first_row];
    const int first_round = rows->reference.count == 0;
    float *image = first_round ? b->other_image : NULL;
    double seconds;
    DB_TRY(db_bench_run_reference(b->context, &b->programs, &rows->workload, &seconds, image));
    for (int p = 0; p < DB_BENCH_PRECISIONS; p++) {
        rows[p].reference.seconds[rows[p].reference.count++] = seconds;
        if (first_round) DB_TRY(compare(b, first_row + p, &rows[p].to_reference));
    }
    for (int p = 0; *b->programs.ours && p < DB_BENCH_PRECISIONS; p++) {
        db_bench_series *series = &rows[p].program;
        DB_TRY(db_bench_run_ours(b->context, &b->programs, &rows->workload, rows[p].precision,
                                 &series->seconds[series->count++], image));
        if (first_round) DB_TRY(compare(b, first_row + p, &rows[p].to_program));
    }
    return DB_OK;
}

static db_status visit_device(const bench *b, int row) {
    if (!b->device.plan || !db_bench_row_is_plain(&b->results->rows[row])) return DB_OK;
    for (db_bench_device_timing t = 0; t < DB_BENCH_DEVICE_TIMINGS; t++)
        DB_TRY(db_bench_device_visit(&b->callers[row], t, &b->device,
                                     &b->results->rows[row].device[t]));
    return DB_OK;
}

static db_status visit_workload(const bench *b, int first_row) {
    for (int row = first_row; row < first_row + DB_BENCH_PRECISIONS; row++)
        for (db_bench_timing t = 0; t < DB_BENCH_TIMINGS; t++)
            if (is_timed(b, row, t))
                DB_TRY(db_bench_timings[t].cold ? visit_cold(b, row, t) : visit_warm(b, row, t));
    for (int row = first_row; row < first_row + DB_BENCH_PRECISIONS; row++)
        DB_TRY(visit_device(b, row));
    if (reference_takes(b, &b->results->rows[first_row].workload))
        DB_TRY(visit_programs(b, first_row));
    return DB_OK;
}

/* Samples of the images of which the rounding is measured. */
static const double ROUNDING_SAMPLES = 1e6, QUICK_ROUNDING_SAMPLES = 1e5;

static db_status measure_rounding(const bench *b) {
    db_bench_results *r = b->results;
    const double samples = r->options.quick ? QUICK_ROUNDING_SAMPLES : ROUNDING_SAMPLES;
    for (int i = 0; i < DB_BENCH_LOADS; i++) {
        const db_bench_load *load = &db_bench_loads[i];
        if ((!r->options.load[i] && i >= DB_BENCH_PLAIN_LOADS) || load->boxes) continue;
        DB_TRY(db_bench_measure_rounding(b->context, load, b->list, samples,
                                         &r->rounding[r->rounding_count++]));
    }
    return DB_OK;
}

/* Before this process has grown. */
static db_status measure_memory(const bench *b) {
    db_bench_results *r = b->results;
    r->peak_memory = NAN;
    if (!*b->programs.ours) return DB_OK;
    return db_bench_peak_memory(b->context, &b->programs, r->options.quick, &r->peak_memory);
}

static db_status prepare_spots(bench *b) {
    db_bench_results *r = b->results;
    b->spots.context = b->context;
    b->spots.options = &r->options;
    b->spots.programs = &b->programs;
    b->spots.images = &b->images;
    b->spots.device = &b->device;
    b->spots.results = &r->spots;
    if (r->options.spots) DB_TRY(db_bench_converge(b->context, &r->options, &r->convergence));
    return db_bench_spots_open(&b->spots);
}

static db_status prepare(bench *b) {
    db_bench_results *r = b->results;
    int largest = db_bench_spots_size(&r->options);
    DB_TRY(db_bench_rows_create(b->context, r));
    DB_TRY(db_bench_programs_open(b->context, &r->options, &b->programs));
    DB_TRY(measure_memory(b));
    DB_TRY(db_bench_scratch_create(b->context, b->folder));
    DB_TRY(db_bench_rows_write_list(b->context, r, b->folder, b->list));
    snprintf(r->reference_name, sizeof r->reference_name, "%.255s",
             db_file_name(b->programs.reference));
    snprintf(r->program_name, sizeof r->program_name, "%.255s", db_file_name(b->programs.ours));
    for (int row = 0; row < r->row_count; row++)
        if (r->rows[row].workload.size > largest) largest = r->rows[row].workload.size;
    DB_TRY(measure_rounding(b));
    DB_TRY(
        db_bench_prober_open(b->context, &r->options, r->machine.processors, &b->prober, r->probe));
    const size_t pixels = largest ? (size_t)largest * (size_t)largest : 1;
    DB_TRY(db_bench_images_create(b->context, pixels, DB_BENCH_PARAMETERS, DB_BENCH_TOUCHED_PAGES,
                                  &b->images));
    if (*b->programs.reference && !(b->other_image = malloc(pixels * sizeof(float))))
        return db_fail_memory(b->context, "the image of a program");
    if (!(b->callers = calloc((size_t)r->row_count + 1, sizeof *b->callers)))
        return db_fail_memory(b->context, "the plans");
    for (int row = 0; row < r->row_count; row++) {
        DB_TRY(db_bench_caller_open(b->context, &r->rows[row].workload, r->rows[row].precision,
                                    DB_BENCH_PARAMETERS, &b->callers[row]));
        for (db_bench_timing t = 0; t < DB_BENCH_TIMINGS; t++) DB_TRY(choose_calls(b, row, t));
        DB_TRY(db_bench_call_heap(&b->callers[row], &b->images, &r->rows[row].warm_heap));
    }
    if (r->row_count) DB_TRY(db_bench_device_memory_create(b->callers[0].plan, pixels, &b->device));
    return prepare_spots(b);
}

static db_status run_rounds(bench *b) {
    const int workloads = b->results->row_count / DB_BENCH_PRECISIONS;
    for (int round = 0; round < b->results->options.repeats; round++) {
        fprintf(stderr, "round %d of %d\n", round + 1, b->results->options.repeats);
        DB_TRY(db_bench_prober_visit(&b->prober, b->results->probe));
        if (*b->programs.ours)
            DB_TRY(db_bench_visit_cold_start(b->context, &b->programs, &b->results->cold_start));
        for (int i = 0; i < workloads; i++) {
            const int w = round % 2 == 0 ? i : workloads - 1 - i;
            DB_TRY(visit_workload(b, w * DB_BENCH_PRECISIONS));
        }
        DB_TRY(db_bench_spots_visit(&b->spots));
    }
    return DB_OK;
}

static void clear(bench *b) {
    db_bench_device_memory_destroy(&b->device);
    for (int row = 0; b->callers && row < b->results->row_count; row++)
        db_bench_caller_close(&b->callers[row]);
    db_bench_spots_close(&b->spots);
    free(b->callers);
    free(b->other_image);
    db_bench_images_destroy(&b->images);
    db_bench_prober_close(&b->prober);
    db_bench_programs_close(&b->programs);
    db_bench_scratch_remove(b->folder);
}

db_status db_bench_measure(db_context *context, const db_bench_options *options,
                           db_bench_results *results) {
    bench b = { .context = context, .results = results };
    const time_t now = time(NULL);
    struct tm utc;
    memset(results, 0, sizeof *results);
    results->options = *options;
    db_bench_describe_machine(&results->machine);
    results->threads = options->threads ? options->threads : results->machine.processors;
    DB_TRY(db_context_set_threads(context, results->threads));
    if (options->isa) DB_TRY(db_context_set_isa(context, options->isa));
    if (options->device) DB_TRY(db_context_set_device(context, options->device));
    snprintf(results->isa, sizeof results->isa, "%s", db_context_isa(context));
    if (strcmp(db_context_device(context), "cpu") != 0)
        snprintf(results->device, sizeof results->device, "%s, %.120s", db_context_device(context),
                 db_context_device_model(context));
    if (gmtime_r(&now, &utc))
        strftime(results->date, sizeof results->date, "%Y-%m-%d %H:%M UTC", &utc);
    results->load_before = db_bench_system_load();
    db_status status = prepare(&b);
    if (status == DB_OK) status = run_rounds(&b);
    results->load_after = db_bench_system_load();
    clear(&b);
    return status;
}

void db_bench_results_clear(db_bench_results *results) {
    free(results->rows);
    results->rows = NULL;
    results->row_count = 0;
}

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
    if (status == DB_OK) status = db_bench_execute(&caller, options->once_output, &images);
    db_bench_caller_close(&caller);
    db_bench_images_destroy(&images);
    return status;
}

db_status db_bench_single_call(db_context *context, const db_bench_options *options) {
    db_bench_row row = { .workload = { .size = options->sizes[0], .load = options->once } };
    static db_bench_results results; /* too large for the stack */
    results.rows = &row;
    results.row_count = 1;
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
