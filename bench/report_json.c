/* The JSON report: all results, with the times of every round. Times are in seconds. What was not
 * measured is null or left out. */
#include "bench/report.h"
#include "bench/report_values.h"
#include "bench/targets.h"
#include "base/context_internal.h"

#include <dualbragg/version.h>
#include <jansson.h>
#include <math.h>

json_t *db_bench_number_json(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* A name, or null where there is none. */
static json_t *name_or_null(const char *name) { return *name ? json_string(name) : json_null(); }

json_t *db_bench_series_json(const db_bench_series *series) {
    const db_bench_summary s = db_bench_summarize(series);
    json_t *seconds = json_array();
    for (int i = 0; i < series->count; i++)
        json_array_append_new(seconds, json_real(series->seconds[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:o}", "min", db_bench_number_json(s.minimum),
                     "lower_quartile", db_bench_number_json(s.lower_quartile), "median",
                     db_bench_number_json(s.median), "upper_quartile",
                     db_bench_number_json(s.upper_quartile), "calls_per_round",
                     series->calls ? series->calls : 1, "seconds", seconds);
}

static json_t *comparison_json(const db_bench_comparison *c) {
    return json_pack("{s:o, s:o, s:I}", "correlation", db_bench_number_json(c->correlation),
                     "largest_difference", db_bench_number_json(c->largest_difference),
                     "pixels_left_out", (json_int_t)c->left_out);
}

static json_t *reference_json(const db_bench_row *row) {
    const db_bench_series *warm = &row->timing[DB_BENCH_FORWARD_WARM];
    json_t *object = json_pack("{s:o, s:o, s:o}", "whole_program",
                               db_bench_series_json(&row->reference), "over_warm_image",
                               db_bench_number_json(db_bench_median_ratio(&row->reference, warm)),
                               "image", comparison_json(&row->to_reference));
    if (row->program.count) {
        json_object_set_new(object, "dualbragg_sim", db_bench_series_json(&row->program));
        json_object_set_new(
            object, "over_dualbragg_sim",
            db_bench_number_json(db_bench_median_ratio(&row->reference, &row->program)));
        json_object_set_new(object, "dualbragg_sim_image", comparison_json(&row->to_program));
    }
    return object;
}

static json_t *row_json(const db_bench_row *row) {
    const db_bench_series *timing = row->timing;
    const double pixels = db_bench_workload_pixels(&row->workload),
                 samples = db_bench_load_samples(row->workload.load);
    const double forward = db_bench_summarize(&timing[DB_BENCH_FORWARD_WARM]).median;
    const double gradient = db_bench_summarize(&timing[DB_BENCH_GRADIENT_WARM]).median;
    json_t *object =
        json_pack("{s:s, s:i, s:I, s:I, s:s}", "load", row->workload.load->key, "size",
                  row->workload.size, "pixels", (json_int_t)pixels, "samples_per_pixel",
                  (json_int_t)samples, "precision", db_bench_precision_name(row->precision));
    for (db_bench_timing t = 0; t < DB_BENCH_TIMINGS; t++)
        if (timing[t].count)
            json_object_set_new(object, db_bench_timings[t].name, db_bench_series_json(&timing[t]));
    json_object_set_new(object, "forward_pixels_per_second",
                        db_bench_number_json(pixels / forward));
    json_object_set_new(object, "forward_samples_per_second",
                        db_bench_number_json(pixels * samples / forward));
    json_object_set_new(object, "gradient_pixels_per_second",
                        db_bench_number_json(pixels / gradient));
    json_object_set_new(object, "gradient_samples_per_second",
                        db_bench_number_json(pixels * samples / gradient));
    json_object_set_new(object, "gradient_over_forward",
                        db_bench_number_json(db_bench_median_ratio(
                            &timing[DB_BENCH_GRADIENT_WARM], &timing[DB_BENCH_FORWARD_WARM])));
    json_object_set_new(object, "warm_allocations", json_integer((json_int_t)row->warm_heap.calls));
    json_object_set_new(object, "warm_heap_growth_bytes",
                        json_integer((json_int_t)row->warm_heap.bytes));
    for (db_bench_device_timing t = 0; t < DB_BENCH_DEVICE_TIMINGS; t++)
        if (row->device[t].count)
            json_object_set_new(object, db_bench_device_timing_names[t],
                                db_bench_series_json(&row->device[t]));
    if (row->reference.count) json_object_set_new(object, "reference", reference_json(row));
    return object;
}

static json_t *machine_json(const db_bench_results *results) {
    const db_bench_machine *m = &results->machine;
    return json_pack("{s:s, s:i, s:f, s:[f,f,f], s:s, s:s, s:s, s:s, s:o, s:o}", "processor",
                     m->processor, "processors", m->processors, "memory_bytes", m->memory,
                     "cache_bytes", m->cache[0], m->cache[1], m->cache[2], "system", m->system,
                     "transparent_huge_pages", m->huge_pages, "compiler", m->compiler,
                     "compiler_flags", m->compiler_flags, "load_before",
                     db_bench_number_json(results->load_before), "load_after",
                     db_bench_number_json(results->load_after));
}

static json_t *run_json(const db_bench_results *results) {
    json_t *parameters = json_array();
    for (int k = 0; k < DB_BENCH_PARAMETERS; k++)
        json_array_append_new(parameters,
                              json_string(db_parameter_describe(db_bench_parameters[k])->name));
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:o, s:o}", "version", db_version(),
                     "date", results->date, "isa", results->isa, "device",
                     *results->device ? results->device : "cpu", "threads", results->threads,
                     "rounds", results->options.repeats, "parameters", parameters, "reference",
                     name_or_null(results->reference_name), "program",
                     name_or_null(results->program_name));
}

static json_t *targets_json(const db_bench_results *results) {
    db_bench_target targets[DB_BENCH_TARGETS];
    json_t *list = json_array();
    db_bench_judge(results, targets);
    for (int i = 0; i < DB_BENCH_TARGETS; i++) {
        if (isnan(targets[i].measured)) continue;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:b, s:f, s:b}", "target", targets[i].text, "unit",
                            *targets[i].unit ? targets[i].unit + 1 : "", "limit", targets[i].limit,
                            "at_least", targets[i].at_least, "measured", targets[i].measured,
                            "reached", targets[i].reached));
    }
    return list;
}

static json_t *probes_json(const db_bench_results *results) {
    json_t *probes = json_object();
    for (db_bench_probe p = 0; p < DB_BENCH_PROBES; p++)
        if (results->probe[p].count)
            json_object_set_new(probes, db_bench_probes[p].name,
                                db_bench_series_json(&results->probe[p]));
    return probes;
}

static json_t *program_json(const db_bench_results *results) {
    json_t *program = json_object();
    if (!results->cold_start.count) return program;
    json_object_set_new(program, "start_to_image", db_bench_series_json(&results->cold_start));
    json_object_set_new(program, "memory_beyond_image_bytes",
                        db_bench_number_json(results->peak_memory));
    return program;
}

static json_t *rounding_json(const db_bench_results *results) {
    json_t *list = json_array();
    for (int i = 0; i < results->rounding_count; i++) {
        const db_bench_rounding *r = &results->rounding[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:o, s:o}", "load", r->load->key,
                                              "rendered", (json_int_t)r->pixels, "bright",
                                              (json_int_t)r->bright, "double",
                                              db_bench_number_json(r->in_double), "mixed",
                                              db_bench_number_json(r->mixed)));
    }
    return list;
}

db_status db_bench_report_json(db_context *context, const db_bench_results *results, char **text) {
    json_t *rows = json_array();
    for (int i = 0; i < results->row_count; i++)
        json_array_append_new(rows, row_json(&results->rows[i]));
    json_t *report = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "run", run_json(results), "machine",
        machine_json(results), "targets", targets_json(results), "probes", probes_json(results),
        "program_alone", program_json(results), "rounding", rounding_json(results), "rows", rows);
    if (report && results->spots.measured)
        json_object_set_new(report, "spots", db_bench_spots_json(results));
    *text = report ? json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(report);
    return *text ? DB_OK : db_fail_memory(context, "the JSON report");
}
